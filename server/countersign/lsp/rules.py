"""Rules as a client asks for them: listed with what each has done, proposed from history, added and taken out."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from countersign.gate import (
    BadRule,
    RuleUse,
    blocking_calls_by_day,
    blocking_uses,
    decide,
    now,
    parse_rule,
    use_of_each,
)
from countersign.lsp.first_seen import blocking_first_seen
from countersign.settings.policy import Policy, RuleText
from countersign.wire.base import Empty
from countersign.wire.errors import InvalidAnswer, UnknownRule
from countersign.wire.history import HistoryFilter
from countersign.wire.rules import (
    ImportedRule,
    NotImported,
    RuleAddParams,
    RuleAddResult,
    RuleIdle,
    RuleImportResult,
    RuleListResult,
    RuleProposal,
    RuleProposalsResult,
    RuleView,
)
from countersign.wire.verdicts import Scope

if TYPE_CHECKING:
    from countersign.lsp.workspace import WorkspaceServer

IDLE_DAYS = 14
"""A rule that has decided nothing for so long is pointed out."""
MOST_ANSWERS = 500
"""Answers of a person that proposals are drawn from, the newest."""


async def list_rules(house: WorkspaceServer) -> RuleListResult:
    """Every rule that counts, with its place, how many calls it decided, when it last did, and what is wrong with it.

    Raises:
        LedgerUnavailable: history cannot be read.
    """
    policy = house.settings.policy
    seen = await note_rules(house)
    return await asyncio.to_thread(_blocking_list, house, policy, seen)


def _blocking_list(house: WorkspaceServer, policy: Policy, seen: Mapping[str, str]) -> RuleListResult:
    from countersign.advice.lint import lint_each  # noqa: PLC0415 no start needs it
    from countersign.tools.registry import BY_NAME  # noqa: PLC0415 likewise

    uses = blocking_uses(house.ledger.rows, policy.workspace)
    days = blocking_calls_by_day(house.ledger.rows, policy.workspace)
    told = zip(policy.rules, use_of_each(policy.rules, uses), lint_each(policy.rules, frozenset(BY_NAME)), strict=True)
    return RuleListResult(
        rules=[
            RuleView(
                rule_id=rule_id(rule),
                list=rule.list,
                rule=rule.text,
                scope=rule.scope,
                file=rule.file,
                line=rule.line,
                hits=use.hits,
                last_used=use.last,
                problem="; ".join(problem.message for problem in problems) or None,
                idle=_idle(use, seen.get(rule_id(rule)), days),
            )
            for rule, use, problems in told
        ],
        calls=sum(days.values()),
        since=next(iter(days), None),
    )


def _idle(use: RuleUse, seen: str | None, days: Mapping[str, int]) -> RuleIdle | None:
    """Whether it has decided nothing for long; calls are counted from the day after the one it was first seen on."""
    if use.hits or seen is None:
        return None
    age = (datetime.fromisoformat(now()) - datetime.fromisoformat(seen)).days
    if age < IDLE_DAYS:
        return None
    return RuleIdle(days=age, calls=sum(calls for day, calls in days.items() if day > seen[:10]))


async def note_rules(house: WorkspaceServer) -> Mapping[str, str]:
    """Remember which rules there are, and say when each was first seen."""
    ids = {rule_id(rule) for rule in house.settings.policy.rules}
    warnings: list[str] = []
    seen = await asyncio.to_thread(blocking_first_seen, house.storage, ids, now(), warnings.append)
    for warning in warnings:
        house.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=warning))
    return seen


async def propose_rules(house: WorkspaceServer) -> RuleProposalsResult:
    """Rules that would have spared the person cards. Nothing is applied; ``rule/add`` is how a person takes one.

    Raises:
        LedgerUnavailable: history cannot be read.
    """
    return await asyncio.to_thread(_blocking_propose, house, house.settings.policy)


def _blocking_propose(house: WorkspaceServer, policy: Policy) -> RuleProposalsResult:
    answers = house.ledger.query(
        HistoryFilter(phase="decided", by="user"), workspace=policy.workspace, limit=MOST_ANSWERS
    )
    from countersign.advice.rule_suggestions import propose  # noqa: PLC0415 no start needs it
    from countersign.tools.registry import BY_NAME  # noqa: PLC0415 likewise

    found = propose(answers, policy, partial(decide, check_syntax=house.check_syntax), tools=frozenset(BY_NAME))
    scopes: list[Scope] = ["workspace", "user"] if policy.trusted else ["user"]
    return RuleProposalsResult(
        proposals=[
            RuleProposal(
                rule=one.rule,
                scopes=scopes,
                spared=one.spared,
                since=one.since,
                last=one.last,
                examples=list(one.examples),
                agents=list(one.agents),
            )
            for one in found.proposals
        ],
        looked=found.looked,
        most=MOST_ANSWERS,
        unjudged=found.unjudged,
        since=found.since,
    )


async def import_rules(house: WorkspaceServer, file: str) -> RuleImportResult:
    """What a file of another program's permissions would mean as rules. Nothing is applied.

    Raises:
        InvalidAnswer: it cannot be read, or is in no format that is known.
    """
    from countersign.advice.rule_import.entries import BadImport  # noqa: PLC0415 no start needs it
    from countersign.advice.rule_import.read import blocking_import  # noqa: PLC0415 no start needs it

    policy = house.settings.policy
    try:
        found = await asyncio.to_thread(blocking_import, file, policy.workspace)
    except BadImport as error:
        raise InvalidAnswer(f"the file was not imported: {error}") from None
    # Its paths are relative to one workspace, so that an allow rule for all of them would cover more than it did.
    allow: list[Scope] = ["workspace"] if policy.trusted else []
    stricter: list[Scope] = ["workspace", "user"] if policy.trusted else ["user"]
    return RuleImportResult(
        format=found.format,
        rules=[
            ImportedRule(
                list=one.list,
                rule=one.rule,
                scopes=allow if one.list == "allow" else stricter,
                original=one.original,
                line=one.line,
                problem=one.problem,
            )
            for one in found.rules
        ],
        left_out=[NotImported(original=one.original, reason=one.reason, line=one.line) for one in found.left_out],
    )


async def add_rule(house: WorkspaceServer, params: RuleAddParams) -> RuleAddResult:
    """Save a rule in the user's or the workspace's settings.

    Raises:
        InvalidAnswer: the rule does not parse, its scope is not one that is saved, or it cannot be written.
        NotTrusted: the workspace is not trusted.
    """
    parse_for_saving(params)
    agent = params.agent_name
    if agent is None:
        await house.keeper.save_rule(params.list, params.rule, params.scope, "")
    else:
        await house.keeper.save_rule_for(agent, params.list, params.rule, params.scope)
    saved = [rule for rule in house.settings.policy.rules if (rule.list, rule.text) == (params.list, params.rule)]
    return RuleAddResult(rule_id=rule_id(saved[-1]) if saved else "")


async def remove_rule(house: WorkspaceServer, wanted: str) -> Empty:
    """Take a rule out of the settings.

    Raises:
        UnknownRule: no rule that counts has this id.
        InvalidAnswer: it stands where we may not write.
    """
    for rule in house.settings.policy.rules:
        if rule_id(rule) == wanted:
            await house.keeper.remove_rule(rule)
            return Empty()
    raise UnknownRule("there is no such rule; it may have been removed by hand")


def parse_for_saving(params: RuleAddParams) -> None:
    """Raises InvalidAnswer for a rule that could not be read again."""
    if params.scope not in ("workspace", "user"):
        raise InvalidAnswer("a rule is saved for the `workspace` or the `user`; other scopes are given on a card")
    try:
        parse_rule(RuleText(params.list, params.rule))
    except BadRule as error:
        raise InvalidAnswer(f"the rule cannot be read: {error}") from None


def rule_id(rule: RuleText) -> str:
    """A name for a rule that stays as long as the rule does, wherever it moves in its file."""
    parts = json.dumps([rule.list, rule.text, rule.scope, rule.file, rule.agent])
    return hashlib.sha256(parts.encode()).hexdigest()[:16]
