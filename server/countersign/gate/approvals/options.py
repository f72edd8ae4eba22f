"""The options on a card: the gate's own words, each with its scope and the rule it would keep.

``always`` is offered only where it can be said narrowly; nothing wider than the call where a floor, an ask rule or a
hook made it ask.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.approvals.rule_examples import samples
from countersign.gate.call import ProposePlan, ReachHost, RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.settings.modes import CELLS
from countersign.wire.approvals import ApprovalOption
from countersign.wire.verdicts import Mode, Scope

ALLOW_ONCE = ApprovalOption(option_id="allow_once", name="Approve", kind="allow_once", scope="call")
ALLOW_BACKGROUND = ApprovalOption(
    option_id="allow_background", name="Run in background", kind="allow_once", scope="call", background=True
)
REJECT_ONCE = ApprovalOption(option_id="reject_once", name="Deny", kind="reject_once", scope="call")
ALLOW_HOST = ApprovalOption(
    option_id="allow_once", name="Allow for this chat", kind="allow_once", scope="chat"
)  # fmt: skip
"""Once would be over before the command can be run again."""
ALLOW_PLAN_ASKING = ApprovalOption(
    option_id="allow_plan_default",
    name="Approve and ask before each change",
    kind="allow_once",
    scope="call",
    mode="default",
)
ALLOW_PLAN_EDITING = ApprovalOption(
    option_id="allow_plan_accept_edits",
    name="Approve and accept edits",
    kind="allow_once",
    scope="call",
    mode="acceptEdits",
)
KEEP_PLANNING = REJECT_ONCE.model_copy(update={"name": "Keep planning"})
GRANT_OPTIONS: tuple[tuple[str, str, Scope], ...] = (
    ("allow_turn", "Allow for this turn", "turn"),
    ("allow_chat", "Allow for this chat", "chat"),
    ("allow_15min", "Allow for 15 minutes", "timed"),
)
MOST_PROPOSALS = 6
"""Widths on one card: more would not be read."""


def offer(
    call: ToolCall, decision: Decision, *, allow_offered: bool, trusted: bool, modes: Sequence[Mode]
) -> list[ApprovalOption]:
    """What a person may answer.

    ``allow_offered`` False: a hosted agent that offers no allow-once can only be denied. Rules for a workspace are
    offered only in a trusted one. ``modes`` are those of the turn: a plan is approved with another one if it differs.
    """
    if any(isinstance(effect, ProposePlan) for effect in call.effects):
        return [*(_approve_plan(modes) if allow_offered else ()), KEEP_PLANNING]
    options: list[ApprovalOption] = []
    if allow_offered and any(isinstance(effect, ReachHost) for effect in call.effects):
        if decision.grantable and decision.exact_rule is not None:
            options += [
                ALLOW_HOST.model_copy(update={"rule": decision.exact_rule}),
                *(
                    ApprovalOption(option_id=key, name=name, kind="allow_always", scope=scope, rule=decision.exact_rule)
                    for key, name, scope in GRANT_OPTIONS
                    if scope != "chat"
                ),
            ]
    elif allow_offered:
        options.append(ALLOW_ONCE)
        if decision.grantable and decision.exact_rule is not None:
            options += [
                ApprovalOption(option_id=key, name=name, kind="allow_always", scope=scope, rule=decision.exact_rule)
                for key, name, scope in GRANT_OPTIONS
            ]
        if decision.grantable:
            options += _always(call, decision, trusted)
        if _own_command(call):
            options.append(ALLOW_BACKGROUND)
    options.append(REJECT_ONCE)
    rule = decision.exact_rule
    if rule is not None:
        options.append(
            ApprovalOption(
                option_id="reject_always",
                name=f"Always deny {rule} everywhere",
                kind="reject_always",
                scope="user",
                rule=rule,
            )
        )
    return options


def _approve_plan(modes: Sequence[Mode]) -> list[ApprovalOption]:
    """A plain approval changes no mode. The modes are offered where edits are not allowed already."""
    if all(CELLS[mode]["write"] == "allow" for mode in modes):
        return [ALLOW_ONCE]
    asking = [ALLOW_PLAN_ASKING] if "plan" in modes else []
    return [ALLOW_ONCE, *asking, ALLOW_PLAN_EDITING]


def _always(call: ToolCall, decision: Decision, trusted: bool) -> list[ApprovalOption]:
    seen = [effect.command for effect in call.effects if isinstance(effect, RunCommand)]
    scopes: tuple[tuple[Scope, str], ...] = (("workspace", "in this workspace"), ("user", "everywhere"))
    return [
        ApprovalOption(
            option_id=f"allow_always_{scope}_{number}",
            name=f"Always allow {rule} {words}",
            kind="allow_always",
            scope=scope,
            rule=rule,
            examples=list(samples(rule, seen)) or None,
        )
        for number, rule in enumerate(decision.proposals[:MOST_PROPOSALS], start=1)
        for scope, words in scopes
        if scope != "workspace" or trusted
    ]


def _own_command(call: ToolCall) -> bool:
    return call.tool == "shell" and any(isinstance(effect, RunCommand) for effect in call.effects)
