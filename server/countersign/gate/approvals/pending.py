"""Open requests: each is registered before the first await and ends exactly once.

This table is memory only and knows neither ledger nor editor; ``gate.py`` makes an end durable and tells the others
of it, between ``claim`` and ``settle``.

INVARIANT (once): ``claim`` is synchronous and succeeds for one contender only; every end goes through it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from countersign.gate.call import ToolCall
from countersign.gate.plan import Plan, Prepare
from countersign.gate.turn import Turn
from countersign.wire.approvals import ApprovalRequest, ApprovalState
from countersign.wire.errors import AlreadyResolved, UnknownApproval
from countersign.wire.verdicts import DecidedBy, Evidence

REMEMBERED = 100_000
"""How many ended ids are kept in memory; older ones are found in the ledger."""


class Resolution(NamedTuple):
    """How a request ended.

    ``plan`` stands only where a person edited the call; ``again`` asks the gate to judge the call afresh (its bytes
    changed, or its edit must be asked once more). ``note`` goes into the record.
    """

    state: ApprovalState
    by: DecidedBy
    reason: str | None = None
    background: bool = False
    plan: Plan | None = None
    again: bool = False
    note: str | None = None
    evidence: tuple[Evidence, ...] = ()
    approval_id: str | None = None


@dataclass(slots=True, eq=False)
class Pending:
    """One open request. ``resolution`` is its end, once it has one."""

    request: ApprovalRequest
    call: ToolCall
    receipt_id: str
    turn: Turn
    prepare: Prepare
    allow_offered: bool
    resolution: Resolution | None = None
    claimed_by: DecidedBy | None = None
    shown: bool = False
    parked: bool = False
    on_release: list[Callable[[], object]] = field(default_factory=list)
    waiting: list[asyncio.Future[Resolution]] = field(default_factory=list)

    @property
    def approval_id(self) -> str:
        return self.request.approval_id

    def claim(self, by: DecidedBy) -> bool:
        """Whether the caller is now the one who ends this request. Nobody else can until ``release``."""
        if self.claimed_by is not None or self.resolution is not None:
            return False
        self.claimed_by = by
        return True

    def ended(self) -> asyncio.Future[Resolution]:
        """The end, for one who waits for it: cancelling this future ends nothing."""
        future: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
        if self.resolution is not None:
            future.set_result(self.resolution)
        else:
            self.waiting.append(future)
        return future

    def release(self) -> None:
        """Give the claim back; the request stays open. Contenders that came meanwhile are heard now."""
        self.claimed_by = None
        waiting, self.on_release = self.on_release, []
        for wake in waiting:
            wake()


class PendingTable:
    """All open requests of this server, in the order they were made."""

    def __init__(self) -> None:
        self._open: dict[str, Pending] = {}
        self._ended: dict[str, ApprovalState] = {}

    def register(self, pending: Pending) -> None:
        """Enter a request. Synchronous, so that an answer can never come before it."""
        self._open[pending.approval_id] = pending

    def find(self, approval_id: str) -> Pending:
        """The open request of this id.

        Raises:
            AlreadyResolved: it has ended, or somebody is just ending it.
            UnknownApproval: no request of this id was made here.
        """
        if (pending := self.open(approval_id)) is not None:
            return pending
        if approval_id in self._open or approval_id in self._ended:
            raise AlreadyResolved("this request has already been resolved")
        raise UnknownApproval("no such request; it may belong to another window")

    def open(self, approval_id: str) -> Pending | None:
        """The request of this id, if it is open and nobody is just ending it."""
        pending = self._open.get(approval_id)
        return pending if pending is not None and pending.claimed_by is None else None

    def settle(self, pending: Pending, resolution: Resolution) -> None:
        """End a claimed request and wake whoever waits for it."""
        self._open.pop(pending.approval_id, None)
        self._ended[pending.approval_id] = resolution.state
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        pending.resolution = resolution
        waiting, pending.waiting = pending.waiting, []
        for future in waiting:
            if not future.done():  # cancelled: nobody waits there any more
                future.set_result(resolution)

    def forget(self, pending: Pending) -> None:
        """Take a request out without an end (it is parked on disk)."""
        self._open.pop(pending.approval_id, None)

    def __iter__(self) -> Iterator[Pending]:
        return iter(list(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def views(self, thread_id: str | None = None) -> list[ApprovalRequest]:
        """What a client draws from, oldest first. What is not on disk yet cannot be answered and is not listed."""
        requests = [
            pending.request
            for pending in self._open.values()
            if pending.shown and thread_id in (None, pending.request.thread_id)
        ]
        return sorted(requests, key=lambda request: request.created_at)
