"""History, undo and the ends of requests as a client asks for them: from the ledger to the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from countersign.gate import (
    BadArguments,
    Stale,
    Turn,
    blocking_active_hours,
    blocking_call_figures,
    blocking_call_times,
    blocking_export,
    now,
)
from countersign.wire.approvals import ApprovalState, EndedApproval
from countersign.wire.errors import Conflict, InvalidAnswer, LedgerUnavailable, UnknownReceipt
from countersign.wire.history import (
    HistoryExportResult,
    HistoryFilter,
    HistoryQueryParams,
    HistoryQueryResult,
    HistoryStatsParams,
    HistoryStatsResult,
    HistoryUndoResult,
)
from countersign.wire.verdicts import DecidedBy

if TYPE_CHECKING:
    from countersign.lsp.workspace import WorkspaceServer

PAGE, MOST_ON_A_PAGE = 100, 1000
LONGEST_CURSOR = 18
"""Digits; every such number is one that SQLite has."""


async def query_history(house: WorkspaceServer, params: HistoryQueryParams) -> HistoryQueryResult:
    """The newest entries of this workspace first; ``cursor`` leads to the next page.

    Raises:
        InvalidAnswer: the cursor did not come from this method, or the filter names an invalid time.
    """
    limit = min(max(params.limit or PAGE, 1), MOST_ON_A_PAGE)
    if params.cursor is not None and not (params.cursor.isdecimal() and len(params.cursor) <= LONGEST_CURSOR):
        raise InvalidAnswer("the cursor is not one that history gave; begin again without it")
    try:
        entries = await asyncio.to_thread(
            house.ledger.query,
            params.filter or HistoryFilter(),
            workspace=house.settings.policy.workspace,
            before=int(params.cursor) if params.cursor else None,
            limit=limit,
        )
    except ValueError as error:
        raise InvalidAnswer(f"the filter does not fit: {error}") from None
    return HistoryQueryResult(entries=entries, cursor=str(entries[-1].seq) if len(entries) == limit else None)


async def export_history(house: WorkspaceServer, params: HistoryQueryParams) -> HistoryExportResult:
    """Write what the filter names of this workspace as JSON lines into the storage folder; they prove themselves.

    Raises:
        InvalidAnswer: the filter names an invalid time.
        LedgerUnavailable: the ledger cannot be read, or the export cannot be written.
    """
    path = house.storage / f"history-{now().replace(':', '')}.jsonl"
    workspace = house.settings.policy.workspace
    try:
        exported = await asyncio.to_thread(blocking_export, house.ledger, path, params.filter, workspace=workspace)
    except ValueError as error:
        raise InvalidAnswer(f"the filter does not fit: {error}") from None
    except OSError as error:
        raise LedgerUnavailable(f"the export cannot be written ({error.strerror}); free the disk") from None
    return HistoryExportResult(path=str(path), entries=exported.rows, head=exported.head.hash)


async def stats_history(house: WorkspaceServer, params: HistoryStatsParams) -> HistoryStatsResult:
    """Sum up what calls and models of this workspace took.

    Raises:
        InvalidAnswer: the filter names an invalid time.
        LedgerUnavailable: the ledger cannot be read.
    """
    wanted, workspace = params.filter or HistoryFilter(), house.settings.policy.workspace
    try:
        rows = house.ledger.rows
        return HistoryStatsResult(
            calls=await asyncio.to_thread(blocking_call_figures, rows, wanted, workspace),
            times=await asyncio.to_thread(blocking_call_times, rows, wanted, workspace),
            active_hours=await asyncio.to_thread(blocking_active_hours, rows, wanted, workspace),
            models=await asyncio.to_thread(house.transcripts.usage, wanted, workspace),
        )
    except ValueError as error:
        raise InvalidAnswer(f"the filter does not fit: {error}") from None


async def ended_requests(house: WorkspaceServer, known: Sequence[str]) -> list[EndedApproval]:
    """How those of the requests ended that are over; a request that the ledger does not know ended with its server.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    open_here = {pending.approval_id for pending in house.gate.asking.table}
    gone = [approval_id for approval_id in dict.fromkeys(known) if approval_id not in open_here]
    return await asyncio.to_thread(_blocking_ends, house, gone) if gone else []


def _blocking_ends(house: WorkspaceServer, approval_ids: Sequence[str]) -> list[EndedApproval]:
    workspace = house.settings.policy.workspace
    ended: list[EndedApproval] = []
    for approval_id in approval_ids:
        stored = house.ledger.request(approval_id)
        if stored is None or stored.workspace != workspace:
            ended.append(EndedApproval(approval_id=approval_id, state="interrupted", by="restart"))
        elif stored.state != "open":
            rows = house.ledger.receipt(stored.receipt_id, workspace)
            answers: list[DecidedBy] = [
                row.by for row in rows if row.approval_id == approval_id and row.verdict != "ask" and row.by
            ]
            by: DecidedBy = answers[0] if answers else "restart"
            ended.append(EndedApproval(approval_id=approval_id, state=cast("ApprovalState", stored.state), by=by))
    return ended


async def undo(house: WorkspaceServer, receipt_id: str) -> HistoryUndoResult:
    """Take back the change that a receipt is about.

    Raises:
        UnknownReceipt: this workspace has no such receipt.
        InvalidAnswer: it is not of a file change, what was there before is no longer kept, or the disk refuses.
        Conflict: the file is not as the change left it, or the change was taken back already.
    """
    from countersign.tools.files.undo import plan_undo, undo_call_id  # noqa: PLC0415 no start needs it

    policy = house.settings.policy
    rows = await asyncio.to_thread(house.ledger.receipt, receipt_id, policy.workspace)
    if not rows:
        raise UnknownReceipt("history has no such receipt in this workspace")
    before = HistoryFilter(tool_call_id=undo_call_id(receipt_id), phase="finished")
    undone = await asyncio.to_thread(house.ledger.query, before, workspace=policy.workspace)
    if any((row.outcome or {}).get("ended") == "done" for row in undone):
        raise Conflict("this change has been taken back already")
    image = await asyncio.to_thread(house.images.blocking_read, receipt_id)
    turn = Turn(rows[-1].thread_id, f"undo-{receipt_id}", rows[-1].agent_name, [], emit=lambda _event: None)
    try:
        plan = plan_undo(rows[-1], image, policy, turn_id=turn.turn_id)
        ran = await house.gate.by_hand(plan, turn)
    except BadArguments as error:
        raise InvalidAnswer(str(error)) from None
    except Stale as stale:
        raise Conflict(f"the file is no longer as that change left it: {stale}") from None
    if not ran.outcome.success:
        raise InvalidAnswer(f"it could not be taken back: {ran.outcome.output}")
    return HistoryUndoResult(path=str(plan.call.arguments["path"]))
