"""What a sandbox that is configured does to a decision.

Where `sandbox.mode` is on and there is no sandbox on this machine, whoever turned it on counts on a wall that is not
there: so a command that would be allowed asks, and its card says that it runs outside a sandbox. So does a command that
the model asks to run outside a sandbox that there is. What runs in one is decided as ever, but for ``auto_allowed``.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.decisions.ask_instead import ask_instead
from countersign.settings.policy import Policy
from countersign.wire.verdicts import Evidence, Mode

UNCONFINED = "`sandbox.mode` is on, and there is no sandbox here: the command would run outside it"
AUTO_ALLOWED = Evidence(source="mode", reason="`sandbox.autoAllow` allows commands that run in the sandbox")
_LIFTED: frozenset[Mode] = frozenset({"default", "acceptEdits", "auto"})
"""Modes whose question `sandbox.autoAllow` answers."""


def ask_outside_sandbox(decision: Decision, call: ToolCall, policy: Policy, modes: tuple[Mode, ...]) -> Decision:
    """Return the decision on a command that would run outside the sandbox: allow becomes ask, or deny in `dontAsk`."""
    # Without the mode, what only reads runs in a sandbox all the same, and the model cannot lead it out.
    if (policy.sandbox_mode == "off" and not decision.only_reads) or decision.verdict == "deny":
        return decision
    commands = [effect for effect in call.effects if isinstance(effect, RunCommand)]
    reason = _reason(commands, policy)
    if not commands or reason is None:
        return decision
    # Without a sandbox the reason is this machine's, and the same on every card.
    return ask_instead(decision, reason, modes, on_card=policy.sandbox_available)


def auto_allowed(call: ToolCall, policy: Policy, modes: Sequence[Mode]) -> Evidence | None:
    """The evidence that being confined allows this call, where a person said that it may; or None.

    It only stands in for "no rule matches". A rule that mounts cannot express in full leaves the question open.
    """
    confined = policy.sandbox_mode != "off" and policy.sandbox_available and not policy.sandbox_gaps
    if not (confined and policy.sandbox_chosen and policy.sandbox_auto_allow and set(modes) <= _LIFTED):
        return None
    ours = call.tool == "shell" and all(
        isinstance(effect, RunCommand) and not effect.own_text and effect.outside is None for effect in call.effects
    )
    return AUTO_ALLOWED if ours else None


def _reason(commands: Sequence[RunCommand], policy: Policy) -> str | None:
    """Why these commands would run outside, or None where they are confined."""
    if policy.sandbox_mode != "off" and not policy.sandbox_available:
        return UNCONFINED if policy.sandbox_reason is None else f"{UNCONFINED} ({policy.sandbox_reason})"
    wanted = next((command.outside for command in commands if command.outside is not None), None)
    return None if wanted is None else f"it asks to run outside the sandbox: {wanted}"
