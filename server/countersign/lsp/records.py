"""History, rules and undo as a client asks for them: from the ledger and the settings to the wire."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from typing import TYPE_CHECKING

from countersign.gate.call import BadArguments
from countersign.gate.entry import now
from countersign.gate.grammar import BadRule, parse_rule
from countersign.gate.permit import Stale
from countersign.gate.turn import Turn
from countersign.settings.policy import RuleText
from countersign.tools.undo import plan_undo
from countersign.wire.base import Empty, as_json
from countersign.wire.desk import (
    HistoryExportResult,
    HistoryFilter,
    HistoryQueryParams,
    HistoryQueryResult,
    HistoryUndoResult,
    RuleAddParams,
    RuleAddResult,
    RuleListResult,
    RuleView,
)
from countersign.wire.errors import Conflict, InvalidAnswer, UnknownReceipt, UnknownRule

if TYPE_CHECKING:
    from .house import House

PAGE, MOST_ON_A_PAGE = 100, 1000


async def query_history(house: House, params: HistoryQueryParams) -> HistoryQueryResult:
    """The newest entries of this workspace first; ``cursor`` leads to the next page.

    Raises:
        InvalidAnswer: the cursor is none of ours.
    """
    limit = min(max(params.limit or PAGE, 1), MOST_ON_A_PAGE)
    if params.cursor is not None and not params.cursor.isdecimal():
        raise InvalidAnswer("the cursor is not one that history gave; begin again without it")
    entries = await asyncio.to_thread(
        house.ledger.query,
        params.filter or HistoryFilter(),
        workspace=house.settings.policy.workspace,
        before=int(params.cursor) if params.cursor else None,
        limit=limit,
    )
    return HistoryQueryResult(entries=entries, cursor=str(entries[-1].seq) if len(entries) == limit else None)


async def export_history(house: House, params: HistoryQueryParams) -> HistoryExportResult:
    """Write what the filter names as JSON lines into the storage folder; the head names the chain's last hash."""
    return await asyncio.to_thread(_blocking_export, house, params)


def _blocking_export(house: House, params: HistoryQueryParams) -> HistoryExportResult:
    path = house.storage / f"history-{now().replace(':', '')}.jsonl"
    workspace, before, number = house.settings.policy.workspace, None, 0
    head = house.ledger.verify().head
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        print(json.dumps({"head": head, "exportedAt": now()}), file=out)
        while entries := house.ledger.query(
            params.filter or HistoryFilter(), workspace=workspace, before=before, limit=MOST_ON_A_PAGE
        ):
            for entry in entries:
                print(json.dumps(as_json(entry)), file=out)
            before, number = entries[-1].seq, number + len(entries)
    return HistoryExportResult(path=str(path), entries=number, head=head)


async def undo(house: House, receipt_id: str) -> HistoryUndoResult:
    """Take back the change that a receipt is about.

    Raises:
        UnknownReceipt: this workspace has no such receipt.
        InvalidAnswer: it is not of a file change, or what was there before is no longer kept.
        Conflict: the file is not as the change left it.
    """
    policy = house.settings.policy
    rows = await asyncio.to_thread(house.ledger.receipt, receipt_id, policy.workspace)
    if not rows:
        raise UnknownReceipt("history has no such receipt in this workspace")
    image = await asyncio.to_thread(house.images.blocking_read, receipt_id)
    turn = Turn(rows[-1].thread_id, f"undo-{receipt_id}", rows[-1].agent_name, [], emit=lambda _event: None)
    try:
        plan = plan_undo(rows[-1], image, policy, turn_id=turn.turn_id)
        await house.gate.by_hand(plan, turn)
    except BadArguments as error:
        raise InvalidAnswer(str(error)) from None
    except Stale as stale:
        raise Conflict(f"the file is no longer as that change left it: {stale}") from None
    return HistoryUndoResult(path=str(plan.call.arguments["path"]))


async def list_rules(house: House) -> RuleListResult:
    """Every rule that counts, with its place, how often it decided and when it last did."""
    used = await asyncio.to_thread(house.ledger.rule_use, house.settings.policy.workspace)
    return RuleListResult(
        rules=[
            RuleView(
                rule_id=rule_id(rule),
                list=rule.list,
                rule=rule.text,
                scope=rule.scope,
                file=rule.file,
                line=rule.line,
                hits=used.get((rule.text, rule.file), (0, None))[0],
                last_used=used.get((rule.text, rule.file), (0, None))[1],
            )
            for rule in house.settings.policy.rules
        ]
    )


async def add_rule(house: House, params: RuleAddParams) -> RuleAddResult:
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


async def remove_rule(house: House, wanted: str) -> Empty:
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
