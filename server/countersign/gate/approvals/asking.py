"""Asking a person: from the request on disk to its one end.

Owns the open requests: makes each durable before it is shown, arms its clock, and ends it once, whoever ends it. What
an answer may say is checked in ``answering.py``; what to ask and what to do afterwards is the gate's.

INVARIANT (once): every end goes through ``end`` with a claim; the ledger has it before anybody is told. An end that the
ledger does not take is told as a denial and owed: what was told is what is written, before anything else is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from countersign.gate.approvals.deadlines import Deadlines
from countersign.gate.approvals.pending import Pending, PendingTable, Resolution
from countersign.gate.approvals.records import expiry_in
from countersign.gate.approvals.stored_requests import Tampered, blocking_open_row
from countersign.gate.ledger.entry import POSTPONED, Change, Closed, Entry, Opened, Parked, StoredRequest
from countersign.gate.ledger.writer import Ledger
from countersign.gate.receipt import Refused
from countersign.wire.approvals import ApprovalRequest, ApprovalResolved
from countersign.wire.base import Json, to_json
from countersign.wire.errors import LedgerUnavailable, PersonError
from countersign.wire.verdicts import DecidedBy, Evidence, Source, Verdict

log = logging.getLogger(__name__)
T = TypeVar("T")
FAREWELL = 5.0
"""Seconds that a closing write may take once its turn is cancelled; a commit takes milliseconds."""
UNRECORDED = "the end of a call could not be recorded; nothing new runs until it is, so free the disk of the ledger"
UNSHOWN = Resolution("interrupted", "floor", "the card could not be shown")


class Asker(Protocol):
    """Whoever can put a request before a person. Calls return at once; they queue, they never wait."""

    def present(self) -> bool:
        """Whether there is anybody to ask."""
        ...

    def show(self, request: ApprovalRequest, said: str | None = None) -> None:
        """``said`` is the request as `to_json` gives it, where that was made already."""
        ...

    def resolved(self, notice: ApprovalResolved) -> None: ...

    def warn(self, message: str) -> None:
        """Tell the person of a fault of ours: part of a sentence."""
        ...


class Asking:
    """The open requests of this server, their clocks, and the tasks that end them."""

    def __init__(self, ledger: Ledger, asker: Asker) -> None:
        self.table = PendingTable()
        self.present = asker.present
        self._ledger = ledger
        self._asker = asker
        self._entries: dict[str, Entry] = {}
        self._deadlines = Deadlines(lambda pending: self._expire(pending))  # noqa: PLW0108 looked up when it is due
        self._tasks: set[asyncio.Task[Any]] = set()
        self._endings: set[str] = set()
        self._last_ended: asyncio.Future[None] | None = None
        self._warned = False

    def own(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Run ``work`` as a task of this table: it goes on when whoever asked for it is cancelled."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        # An answer that is refused is the person's business; whoever gave it is told.
        if error is not None and not isinstance(error, PersonError):
            log.error("%s failed", task.get_name(), exc_info=error)

    async def ask(
        self, pending: Pending, entry: Entry, *, adopted: bool, seconds: float | None, shown: Callable[[], None]
    ) -> Resolution:
        """Register, record, show, and wait for the end.

        ``entry`` is the row that says "asked"; ``seconds`` until it expires, None for never. ``adopted``: the request
        is on disk already (it waited there for this server). ``shown`` is called once it can be answered. One that
        cannot be shown ends as interrupted. Cancelled: the request ends as cancelled, durably, unless it was parked or
        somebody else ended it first; the cancellation is raised on.

        Raises:
            LedgerUnavailable: the request could not be recorded; nobody was asked.
        """
        self.table.register(pending)
        self._entries[pending.approval_id] = entry
        said: str | None = None
        try:
            if not adopted:
                stored = _stored(pending, entry)
                said = stored.request
                await self._ledger.append(entry, Opened(stored))
                del stored
        except Exception:
            self._forget(pending)
            raise
        except asyncio.CancelledError:
            # The row counts as written; nobody was shown it, so only the ledger needs its end.
            await self._farewell(pending)
            raise
        if seconds is not None:
            self._deadlines.set(pending, seconds)
            if pending.request.postponed:
                self._deadlines.hold(pending)
        try:
            try:
                self._asker.show(pending.request, said)
                said = None  # a kilobyte that would stay as long as the request is open
                pending.shown = True
                shown()
            except Exception:  # whatever keeps a card from the person: nobody could answer it, so it does not wait
                log.exception("the request %s could not be shown", pending.approval_id)
                await self.end_now(pending, UNSHOWN)
            return await pending.ended()
        except asyncio.CancelledError:
            await self._farewell(pending)
            raise

    async def _farewell(self, pending: Pending) -> None:
        if pending.parked:
            return
        ending = self.own(
            self._insist(pending, Resolution("cancelled", "cancel", "the turn was stopped")),
            f"cancel {pending.approval_id}",
        )
        await asyncio.wait({ending}, timeout=FAREWELL)

    async def _insist(self, pending: Pending, resolution: Resolution) -> None:
        """End it as soon as nobody else is about to; if they succeed, theirs stands."""
        while pending.resolution is None:
            if pending.claim(resolution.by):
                await self.end(pending, resolution)
                return
            released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            pending.on_release.append(lambda: released.done() or released.set_result(None))  # noqa: B023 one future a round, resolved in it
            await asyncio.wait({released, pending.ended()}, return_when=asyncio.FIRST_COMPLETED)

    def _expire(self, pending: Pending) -> None:
        self.own(
            self._insist(pending, Resolution("expired", "timeout", "nobody answered in time")),
            f"expire {pending.approval_id}",
        )

    def end(self, pending: Pending, resolution: Resolution) -> asyncio.Future[Resolution]:
        """End a request that the caller has claimed: in the ledger, for those who wait, for the client; in that order.

        If the ledger cannot take it the end is a denial, whatever it was to be, and that is owed. It takes its course
        whatever becomes of the future that is given: cancelling that cancels the wait only. No task, because a burst
        of answers would pay for each.
        """
        entry = self._entries.pop(pending.approval_id)
        ended: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
        told = partial(self._written, pending, entry, resolution, ended)
        self._endings.add(pending.approval_id)
        self._ledger.write(_ending(entry, pending.approval_id, resolution), told)
        return ended

    def _written(
        self,
        pending: Pending,
        entry: Entry,
        resolution: Resolution,
        ended: asyncio.Future[Resolution],
        written: int | LedgerUnavailable,
    ) -> None:
        if isinstance(written, LedgerUnavailable):
            resolution = Resolution("denied", "floor", str(written))
            self._owe(*_ending(entry, pending.approval_id, resolution))
        else:
            self._warned = False
        self._deadlines.drop(pending)
        self.table.settle(pending, resolution)
        # Before anybody is told: what goes wrong in telling must not keep those who wait.
        if not ended.done():
            ended.set_result(resolution)
        self._endings.discard(pending.approval_id)
        if self._last_ended is not None and not self._endings and not self._last_ended.done():
            self._last_ended.set_result(None)
        self._tell(pending.approval_id, pending.request.thread_id, resolution)

    async def finish(self, row: Entry) -> None:
        """Write the last row of a call; what was done stands, so one that the ledger does not take is owed. Not to be
        cancelled: run by ``own``."""
        try:
            await self._ledger.append(row)
            self._warned = False
        except LedgerUnavailable:
            self._owe(row)

    def _owe(self, *ending: Change) -> None:
        """For an end that could not be written and is told all the same. The person hears of it once, until an end can
        be written again."""
        try:
            self._ledger.owe(*ending)
        except LedgerUnavailable:
            log.exception("the end of a call is not recorded; the next start closes it")
            return
        if not self._warned:
            self._warned = True
            # Not here: what goes wrong in telling must not keep those who wait for the end.
            asyncio.get_running_loop().call_soon(self._asker.warn, UNRECORDED)

    async def end_stored(self, stored: StoredRequest, resolution: Resolution) -> None:
        """End a request that is on disk only (its server is gone), in the ledger and for the client.

        Raises:
            LedgerUnavailable: it is still open.
        """
        await self.end_untold(stored, resolution)
        self._tell(stored.approval_id, stored.thread_id, resolution)

    async def end_untold(self, stored: StoredRequest, resolution: Resolution) -> None:
        """End a request that is on disk only, in the ledger alone: the client had been told of this end already.

        Raises:
            LedgerUnavailable: it is still open.
        """
        asked = await asyncio.to_thread(blocking_open_row, self._ledger, stored)
        if asked is None:
            # Somebody changed the table of requests; the chain has nothing to end.
            log.error("the stored request %s has no open row in the ledger; it is closed", stored.approval_id)
            await self._ledger.append(Closed(stored.approval_id, resolution.state))
            return
        decided, closed = _ending(asked, asked.approval_id or stored.approval_id, resolution)
        await self._ledger.append(decided, closed._replace(approval_id=stored.approval_id))

    async def end_tampered(self, stored: StoredRequest, found: Tampered) -> Refused:
        """End a stored request that does not agree with the chain, and warn the person; return the call's refusal.

        Raises:
            LedgerUnavailable: it is still open.
        """
        reason = f"a request that waited on disk was changed there ({found}); it did not run"
        await self.end_stored(stored, Resolution("interrupted", "change", reason))
        self._asker.warn(reason)
        return Refused("interrupted", "change", reason, stored.receipt_id)

    def _tell(self, approval_id: str, thread_id: str, resolution: Resolution) -> None:
        self._asker.resolved(
            ApprovalResolved(
                approval_id=approval_id,
                thread_id=thread_id,
                state=resolution.state,
                by=resolution.by,
                reason=resolution.reason,
            )
        )

    async def end_now(self, pending: Pending, resolution: Resolution) -> bool:
        """Claim and end; False when somebody else is or was first."""
        if not pending.claim(resolution.by):
            return False
        await self.end(pending, resolution)
        return True

    def park(self, pending: Pending) -> None:
        """Leave the request open on disk for the next server; whoever waits here is cancelled by its owner."""
        pending.parked = True
        self._forget(pending)
        self._ledger.put((Parked(pending.approval_id, POSTPONED if pending.request.postponed else 1),))

    def postpone(self, approval_id: str) -> None:
        """Stop the clock of an open request that a person put off; it stays open and undecided.

        Raises:
            UnknownApproval, AlreadyResolved: there is no such open request.
        """
        pending = self.table.find(approval_id)
        self._deadlines.hold(pending)
        pending.request = pending.request.model_copy(update={"postponed": True, "expires_at": None})

    def take_up(self, approval_id: str) -> str | None:
        """Let the clock of a request that was put off go on; return when it expires now, None for never.

        Raises:
            UnknownApproval, AlreadyResolved: there is no such open request.
        """
        pending = self.table.find(approval_id)
        left = self._deadlines.resume(pending)
        if pending.request.postponed:
            expires_at = None if left is None else expiry_in(max(left, 0.0))
            pending.request = pending.request.model_copy(update={"postponed": None, "expires_at": expires_at})
        return pending.request.expires_at

    def _forget(self, pending: Pending) -> None:
        self.table.forget(pending)
        self._deadlines.drop(pending)
        self._entries.pop(pending.approval_id, None)

    async def close(self) -> None:
        """Wait for the endings that are under way, a bounded time."""
        under_way: set[asyncio.Future[Any]] = {*self._tasks}
        if self._endings:
            self._last_ended = asyncio.get_running_loop().create_future()
            under_way.add(self._last_ended)
        if under_way:
            await asyncio.wait(under_way, timeout=FAREWELL)


def _ending(entry: Entry, approval_id: str, resolution: Resolution) -> tuple[Entry, Closed]:
    verdict: Verdict = "allow" if resolution.state == "allowed" else "deny"
    outcome: dict[str, Json] = {"state": resolution.state}
    if resolution.note:
        outcome["note"] = resolution.note
    decided = entry.next(
        "decided",
        approval_id=approval_id,
        verdict=verdict,
        by=resolution.by,
        evidence=_evidence(resolution),
        outcome=outcome,
    )
    return decided, Closed(approval_id, resolution.state)


def _evidence(resolution: Resolution) -> tuple[Evidence, ...]:
    return resolution.evidence or _evidence_of(resolution.by, resolution.reason or _BY_WORDS[resolution.by])


@lru_cache(maxsize=200)
def _evidence_of(by: DecidedBy, reason: str) -> tuple[Evidence, ...]:
    """The evidence of an end that has nothing but its words. A burst ends mostly in the same ones."""
    return (Evidence(source=_SOURCES.get(by, "default"), reason=reason),)


_SOURCES: dict[DecidedBy, Source] = {
    "grant": "grant", "rule": "rule", "mode": "mode", "bypass": "bypass", "floor": "floor", "hook": "hook",
}  # fmt: skip
_BY_WORDS: dict[DecidedBy, str] = {
    "user": "a person answered",
    "rule": "a rule decided",
    "grant": "a grant covers it",
    "mode": "the mode decided",
    "bypass": "bypass is on for this agent",
    "hook": "a hook decided",
    "floor": "a floor decided",
    "limit": "a limit was reached",
    "timeout": "nobody answered in time",
    "cancel": "the turn was stopped",
    "change": "the files it depends on have changed",
    "agentExit": "the agent has ended",
    "restart": "the server ended before it was decided",
    "nobody": "there was nobody to ask",
}


def _stored(pending: Pending, entry: Entry) -> StoredRequest:
    request = pending.request
    return StoredRequest(
        approval_id=request.approval_id,
        owner=entry.owner,
        workspace=entry.workspace,
        thread_id=request.thread_id,
        tool_call_id=request.tool_call.tool_call_id,
        receipt_id=pending.receipt_id,
        agent_name=request.agent_name,
        state="open",
        parked=0,
        created_at=request.created_at,
        request=to_json(request).decode(),
    )
