"""What an earlier server left behind, looked at once this one is ready.

Requests that were parked by an orderly end are offered again, and their turns taken up. After a crash nothing runs by
itself: what was started and never finished is closed as interrupted, what was open ends as interrupted, and the chat
says so. Only what belonged to a server that is gone is touched. A crash in the midst of this leaves the rest to the
next server: each step can be done again.

INVARIANT (once): servers that start at the same time do this one after the other, and what one takes up is its own
before the next one looks. What the ledger did not take before a server was killed may stand in the chat: then the end
that was told there is recorded, and nobody is told another one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass, field

from countersign.agents.loop import unanswered
from countersign.agents.models.base import ToolMessage
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import (
    Adopted,
    Gate,
    Ledger,
    Owner,
    Parked,
    Refused,
    Resolution,
    StoredRequest,
    Tampered,
    blocking_question,
)
from countersign.lsp.event_feed import Feed
from countersign.lsp.sessions import Sessions
from countersign.wire.approvals import ApprovalState
from countersign.wire.base import Json
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import DoneEvent, NoticeEvent, ToolCallEvent, ToolResultEvent

log = logging.getLogger(__name__)
PAUSE, ATTEMPTS = 0.05, 200
"""Seconds between two tries to be the one that takes up, and how many; it takes milliseconds, whoever does it."""
WAITED = Refused("interrupted", "restart", "the server ended before it was decided; it did not run", None)
RAN = "the server ended while this ran; it was stopped, and how far it got is not known: look before doing it again"
ROWS_OF_A_CALL = 20
"""How many are looked at; a call has four, and more only where it was asked again."""
NOTICE = "The server ended while this turn was under way. What was still open did not run; what ran was stopped."


@dataclass(frozen=True, slots=True)
class _Rooms:
    """What recovery works on; see ``recover``."""

    ledger: Ledger
    owner: Owner
    gate: Gate
    sessions: Sessions
    transcripts: Transcripts
    feed: Feed
    workspace: str
    results: dict[str, dict[str, ToolResultEvent]] = field(default_factory=dict)
    """By chat and receipt: what was told of the end of each call. Filled as it is asked for."""


async def recover(
    *, ledger: Ledger, owner: Owner, gate: Gate, sessions: Sessions, transcripts: Transcripts, feed: Feed,
    workspace: str,
) -> None:  # fmt: skip
    """Close or take up what servers that are gone have left in this workspace.

    Servers that start at once do so one after the other. Cancelled: the rest is left to the next server.

    Raises:
        LedgerUnavailable: the ledger cannot be written; then nothing can run here anyway.
    """
    rooms = _Rooms(ledger, owner, gate, sessions, transcripts, feed, workspace)
    for _ in range(ATTEMPTS):
        with owner.taking_up() as alone:
            if alone:
                await _recover(rooms)
                return
        await asyncio.sleep(PAUSE)
    log.error("another server is still busy with what was left behind; the rest of it waits for the next start")


async def _recover(rooms: _Rooms) -> None:
    ledger, owner, transcripts = rooms.ledger, rooms.owner, rooms.transcripts
    await _close_started(rooms)
    parked: dict[str, dict[str, StoredRequest]] = defaultdict(dict)
    for stored in await asyncio.to_thread(ledger.requests, rooms.workspace):
        if not owner.is_gone(stored.owner):
            continue
        if stored.parked:
            try:
                await asyncio.to_thread(blocking_question, ledger, stored)
            except Tampered as found:
                await rooms.gate.asking.end_tampered(stored, found)
                continue
            parked[stored.thread_id][stored.tool_call_id] = stored
        else:
            await _end(rooms, stored)
    for row in transcripts.threads(rooms.workspace):
        if row.open_turn is None or not owner.is_gone(row.open_turn.partition(":")[0]):
            continue
        waiting = parked.pop(row.thread_id, {})
        await _answer_the_rest(rooms, row, set(waiting))
        if waiting:
            transcripts.update_thread(row.thread_id, open_turn=f"{owner.name}:{row.open_turn.partition(':')[2]}")
            # Ours from here on, and still parked: nobody was shown it yet.
            stored = waiting.values()
            await ledger.append(
                *(Adopted(one.approval_id, owner.name) for one in stored),
                *(Parked(one.approval_id, one.parked) for one in stored),
            )
            if rooms.sessions.resume(row.thread_id, waiting):
                continue
        for stored in waiting.values():
            await _end(rooms, stored)
        await _say_so(rooms, row)
    for orphans in parked.values():
        for stored in orphans.values():
            await _end(rooms, stored)


async def _close_started(rooms: _Rooms) -> None:
    from countersign.tools.files.crash_leftovers import blocking_left  # noqa: PLC0415 no start needs it

    for started in await asyncio.to_thread(rooms.ledger.unfinished, rooms.workspace):
        if rooms.owner.is_gone(started.owner):
            ended = _ended_as(_told_result(rooms, started.thread_id, started.receipt_id))
            does = await asyncio.to_thread(_blocking_does, rooms, started.tool, started.input)
            left = await asyncio.to_thread(blocking_left, started.input, rooms.workspace, does)
            outcome = {"ended": ended, **({"left": left} if left is not None else {})}
            await rooms.ledger.append(started.next("finished", by="restart", outcome=outcome))


def _blocking_does(rooms: _Rooms, tool: str, given: Json) -> str:
    """The tool of a call; for an undo, the one that does to the file what this undo does."""
    if tool != "undo" or not isinstance(given, dict):
        return tool
    undone = rooms.ledger.receipt(str(given.get("receiptId")), rooms.workspace)
    created = bool(undone) and (undone[-1].outcome or {}).get("operation") == "create"
    # An undo of an edit exchanges two texts: if the file is gone by now, somebody removed it.
    return "delete_file" if created else "write_file"


async def _end(rooms: _Rooms, stored: StoredRequest) -> None:
    """End a request that nobody can answer any more: as the chat was told, else as interrupted."""
    told = _told_resolution(_told_result(rooms, stored.thread_id, stored.receipt_id))
    if told is not None:
        await rooms.gate.asking.end_untold(stored, told)
    else:
        await rooms.gate.asking.end_stored(stored, Resolution("interrupted", WAITED.by, WAITED.reason))


def _told_result(rooms: _Rooms, thread_id: str, receipt_id: str) -> ToolResultEvent | None:
    """What a chat was told of how this call of the gate ended; None if nothing is known."""
    if thread_id not in rooms.results:
        events = rooms.transcripts.events(thread_id)
        results = [event for event in events if isinstance(event, ToolResultEvent)]
        rooms.results[thread_id] = {event.receipt_id: event for event in results if event.receipt_id}
    return rooms.results[thread_id].get(receipt_id)


def _told_resolution(result: ToolResultEvent | None) -> Resolution | None:
    if result is None or result.refusal is None:
        return None
    refusal = result.refusal
    return Resolution(_STATES.get(refusal.kind, "denied"), result.decided_by, refusal.reason)


_STATES: dict[str, ApprovalState] = {"expired": "expired", "cancelled": "cancelled", "interrupted": "interrupted"}


def _ended_as(result: ToolResultEvent | None) -> str:
    if result is None:
        return "interrupted"
    if result.success:
        return "done"
    if result.decided_by == "cancel":
        return "cancelled"
    return "failed" if result.refusal is None else "interrupted"


async def _what_ran(rooms: _Rooms, row: ThreadRow, tool_call_id: str) -> str | None:
    """What is to be said of a call that was started; None if it was not."""
    wanted = HistoryFilter(thread_id=row.thread_id, tool_call_id=tool_call_id)
    found = await asyncio.to_thread(rooms.ledger.query, wanted, workspace=rooms.workspace, limit=ROWS_OF_A_CALL)
    if not any(entry.phase == "started" for entry in found):
        return None
    left = [str(entry.outcome["left"]) for entry in found if entry.outcome and "left" in entry.outcome]
    return "; ".join([RAN, *left])


async def _answer_the_rest(rooms: _Rooms, row: ThreadRow, waiting: set[str]) -> None:
    """Tell the model of every call that is neither answered nor waiting: it was interrupted. Nothing is run again."""
    replies: list[ToolMessage] = []
    for call in unanswered(rooms.transcripts.messages(row.thread_id)):
        if call.call_id in waiting:
            continue
        # A model that is told "it did not run" does it once more.
        ran = await _what_ran(rooms, row, call.call_id)
        replies.append(ToolMessage(call.call_id, call.tool, ran or WAITED.output, success=False, refused=ran is None))
    rooms.transcripts.add_messages(row.thread_id, replies)


async def _say_so(rooms: _Rooms, row: ThreadRow) -> None:
    """End a turn that cannot be taken up: a result for every call that has none, a notice, and done."""
    events = rooms.transcripts.events(row.thread_id)
    # Just before the prompt was noted, or just after the turn was over, there is nothing to be said.
    if events and not isinstance(events[-1], DoneEvent):
        done = {event.tool_call_id for event in events if isinstance(event, ToolResultEvent)}
        calls = {event.tool_call_id: event for event in events if isinstance(event, ToolCallEvent)}
        for call in calls.values():
            if call.tool_call_id not in done:
                ran = await _what_ran(rooms, row, call.tool_call_id)
                rooms.feed.emit(row.thread_id, _result(call, ran))
        rooms.feed.emit(row.thread_id, NoticeEvent(level="warning", message=NOTICE))
        rooms.feed.emit(row.thread_id, DoneEvent(stop_reason="cancelled"))
        # On disk before the turn counts as over: a crash in between says it once more, and never leaves it unsaid.
        rooms.feed.flush(row.thread_id)
    rooms.transcripts.update_thread(row.thread_id, open_turn=None)
    await asyncio.to_thread(rooms.transcripts.blocking_redact, row.thread_id)


def _result(call: ToolCallEvent, ran: str | None) -> ToolResultEvent:
    """The end of a call that has none: ``ran`` says what is known of one that was started."""
    return ToolResultEvent(
        tool_call_id=call.tool_call_id,
        tool=call.tool,
        success=False,
        output=WAITED.output if ran is None else ran,
        refusal=WAITED.view if ran is None else None,
        decided_by="restart",
        duration_ms=0,
    )
