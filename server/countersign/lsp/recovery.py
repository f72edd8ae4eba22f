"""What an earlier server left behind, looked at once this one is ready.

Requests that were parked by an orderly end are offered again, and their turns taken up. After a crash nothing runs by
itself: what was started and never finished is closed as interrupted, what was open ends as interrupted, and the chat
says so. Only what belonged to a server that is gone is touched.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable

from countersign.agents.loop import unanswered
from countersign.agents.models.base import ToolMessage
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate.entry import StoredRequest
from countersign.gate.gate import Gate
from countersign.gate.ledger import Ledger
from countersign.gate.owner import Owner
from countersign.gate.pending import Resolution
from countersign.gate.receipt import Refused
from countersign.wire.threads import DoneEvent, NoticeEvent, ThreadEvent, ToolCallEvent, ToolResultEvent

from .sessions import Sessions

RESTARTED = "the server ended before it was decided; it did not run"


async def recover(
    *, ledger: Ledger, owner: Owner, gate: Gate, sessions: Sessions, transcripts: Transcripts, workspace: str,
    emit: Callable[[str, ThreadEvent], None],
) -> None:  # fmt: skip
    """Close or take up what servers that are gone have left in this workspace.

    Raises:
        LedgerUnavailable: the ledger cannot be written; then nothing can run here anyway.
    """
    await _close_started(ledger, owner, workspace)
    parked: dict[str, dict[str, StoredRequest]] = defaultdict(dict)
    for stored in await asyncio.to_thread(ledger.requests, workspace):
        if not owner.is_gone(stored.owner):
            continue
        if stored.parked:
            parked[stored.thread_id][stored.tool_call_id] = stored
        else:
            await _interrupt(gate, stored)
    for row in transcripts.threads(workspace):
        if row.open_turn is None or not owner.is_gone(row.open_turn.partition(":")[0]):
            continue
        waiting = parked.pop(row.thread_id, {})
        _answer_the_rest(transcripts, row, set(waiting))
        if waiting:
            transcripts.update_thread(row.thread_id, open_turn=f"{owner.name}:{row.open_turn.partition(':')[2]}")
            if sessions.resume(row.thread_id, waiting):
                continue
        for stored in waiting.values():
            await _interrupt(gate, stored)
        _say_so(transcripts, row, emit)
    for orphans in parked.values():
        for stored in orphans.values():
            await _interrupt(gate, stored)


async def _close_started(ledger: Ledger, owner: Owner, workspace: str) -> None:
    for started in await asyncio.to_thread(ledger.unfinished, workspace):
        if owner.is_gone(started.owner):
            await ledger.append(started.next("finished", by="restart", outcome={"ended": "interrupted"}))


async def _interrupt(gate: Gate, stored: StoredRequest) -> None:
    await gate.asking.end_stored(stored, Resolution("interrupted", "restart", RESTARTED))


def _answer_the_rest(transcripts: Transcripts, row: ThreadRow, waiting: set[str]) -> None:
    """Tell the model of every call that is neither answered nor waiting: it was interrupted. Nothing is run again."""
    refusal = Refused("interrupted", "restart", "the server ended while the call was under way", None)
    replies = [
        ToolMessage(call.call_id, call.tool, refusal.output, success=False, refused=True)
        for call in unanswered(transcripts.messages(row.thread_id))
        if call.call_id not in waiting
    ]
    transcripts.add_messages(row.thread_id, replies)


def _say_so(transcripts: Transcripts, row: ThreadRow, emit: Callable[[str, ThreadEvent], None]) -> None:
    """End a turn that cannot be taken up: a result for every call that has none, a notice, and done."""
    events = transcripts.events(row.thread_id)
    done = {event.tool_call_id for event in events if isinstance(event, ToolResultEvent)}
    refusal = Refused("interrupted", "restart", RESTARTED, None)
    calls = {event.tool_call_id: event for event in events if isinstance(event, ToolCallEvent)}
    for call in calls.values():
        if call.tool_call_id not in done:
            emit(
                row.thread_id,
                ToolResultEvent(
                    tool_call_id=call.tool_call_id,
                    tool=call.tool,
                    success=False,
                    output=refusal.output,
                    decided_by="restart",
                    duration_ms=0,
                ),
            )
    notice = "The server ended while this turn was under way. What was still open did not run."
    emit(row.thread_id, NoticeEvent(level="warning", message=notice))
    emit(row.thread_id, DoneEvent(stop_reason="cancelled"))
    transcripts.update_thread(row.thread_id, open_turn=None)
