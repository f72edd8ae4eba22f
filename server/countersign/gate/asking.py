"""Asking a person: from the request on disk to its one end.

Owns the open requests: makes each durable before it is shown, arms its clock, and ends it once, whoever ends it. What
an answer may say is checked in ``answering.py``; what to ask and what to do afterwards is the gate's.

INVARIANT (once): every end goes through ``end`` with a claim; the ledger has it before anybody is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from countersign.wire.approvals import ApprovalRequest, ApprovalResolved
from countersign.wire.base import Json
from countersign.wire.errors import LedgerUnavailable, PersonError
from countersign.wire.verdicts import DecidedBy, Evidence, Source, Verdict

from .entry import Closed, Entry, Opened, Parked, StoredRequest
from .ledger import Ledger
from .pending import Pending, PendingTable, Resolution

log = logging.getLogger(__name__)
T = TypeVar("T")
FAREWELL = 5.0
"""Seconds that a closing write may take once its turn is cancelled; a commit takes milliseconds."""


class Asker(Protocol):
    """Whoever can put a request before a person. Calls return at once; they queue, they never wait."""

    def present(self) -> bool:
        """Whether there is anybody to ask."""
        ...

    def show(self, request: ApprovalRequest) -> None: ...

    def resolved(self, notice: ApprovalResolved) -> None: ...


class Asking:
    """The open requests of this server, their clocks, and the tasks that end them."""

    def __init__(self, ledger: Ledger, asker: Asker) -> None:
        self.table = PendingTable()
        self._ledger = ledger
        self._asker = asker
        self._entries: dict[str, Entry] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

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
        is on disk already (it waited there for this server). ``shown`` is called once it can be answered. Cancelled:
        the request ends as cancelled, durably, unless it was parked or somebody else ended it first; the
        cancellation is raised on.

        Raises:
            LedgerUnavailable: the request could not be recorded; nobody was asked.
        """
        self.table.register(pending)
        self._entries[pending.approval_id] = entry
        try:
            if not adopted:
                await self._ledger.append(entry, Opened(_stored(pending, entry)))
        except LedgerUnavailable:
            self._forget(pending)
            raise
        except asyncio.CancelledError:
            # The row counts as written; nobody was shown it, so nobody needs to be told of its end but the ledger.
            await self._farewell(pending)
            raise
        if seconds is not None:
            pending.timer = asyncio.get_running_loop().call_later(max(seconds, 0.0), self._expire, pending)
        self._asker.show(pending.request)
        pending.shown = True
        shown()
        try:
            return await asyncio.shield(pending.settled)
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
        while not pending.settled.done():
            if pending.claim(resolution.by):
                await self.end(pending, resolution)
                return
            released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            pending.on_release.append(lambda: released.done() or released.set_result(None))  # noqa: B023 one future a round, resolved in it
            await asyncio.wait({released, pending.settled}, return_when=asyncio.FIRST_COMPLETED)

    def _expire(self, pending: Pending) -> None:
        self.own(
            self._insist(pending, Resolution("expired", "timeout", "nobody answered in time")),
            f"expire {pending.approval_id}",
        )

    async def end(self, pending: Pending, resolution: Resolution) -> Resolution:
        """End a request that the caller has claimed: in the ledger, for those who wait, for the client; in that order.

        If the ledger cannot take it the end is a denial, whatever it was to be. Not to be cancelled: run by ``own``.
        """
        entry = self._entries.pop(pending.approval_id)
        try:
            await self._ledger.append(*_ending(entry, pending.approval_id, resolution))
        except LedgerUnavailable as error:
            resolution = Resolution("denied", "floor", str(error))
        self.table.settle(pending, resolution)
        self._tell(pending.approval_id, pending.request.thread_id, resolution)
        return resolution

    async def end_stored(self, stored: StoredRequest, resolution: Resolution) -> None:
        """End a request that is on disk only (its server is gone), in the ledger and for the client.

        Raises:
            LedgerUnavailable: it is still open.
        """
        asked = await asyncio.to_thread(self._ledger.last, stored.receipt_id)
        if asked is None:
            raise LedgerUnavailable("the ledger holds a request without its row; verify it with `countersign history`")
        await self._ledger.append(*_ending(asked, stored.approval_id, resolution))
        self._tell(stored.approval_id, stored.thread_id, resolution)

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
        await asyncio.shield(self.own(self.end(pending, resolution), f"end {pending.approval_id}"))
        return True

    def park(self, pending: Pending) -> None:
        """Leave the request open on disk for the next server; whoever waits here is cancelled by its owner."""
        pending.parked = True
        self._forget(pending)
        self._ledger.put((Parked(pending.approval_id),))

    def _forget(self, pending: Pending) -> None:
        self.table.forget(pending)
        self._entries.pop(pending.approval_id, None)

    async def close(self) -> None:
        """Wait for the endings that are under way, a bounded time."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=FAREWELL)


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
    if resolution.evidence:
        return resolution.evidence
    return (
        Evidence(source=_SOURCES.get(resolution.by, "default"), reason=resolution.reason or _BY_WORDS[resolution.by]),
    )


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
    "change": "what it was about has changed",
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
        parked=False,
        created_at=request.created_at,
        request=request.model_dump_json(by_alias=True, exclude_none=True),
    )
