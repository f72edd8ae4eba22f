"""Report the state of the ledger to the client: whether its chain holds, where it ends, and what a new chain needs.

The check of the whole chain runs here, in a thread of its own; recovery waits for it. The end of the chain is sent at
most once a second, and once more after the last commit of a burst; the client stores it outside the storage folder and
returns it at the next start (``Ledger.compare``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from countersign.gate import Anchor, Ledger
from countersign.lsp.editor import Line
from countersign.wire.errors import InvalidAnswer, LedgerUnavailable
from countersign.wire.history import LedgerHead, LedgerNewChainParams, LedgerStatus

log = logging.getLogger(__name__)
BETWEEN_HEADS = 1.0
"""Seconds between two notifications of the chain's end, at least."""


class LedgerWatch:
    """The ledger of one workspace as its client sees it. Event loop only; a class because it remembers what it told."""

    def __init__(self, ledger: Ledger, line: Line, anchor: LedgerHead | None, *, whole: Callable[[], Awaitable[None]]):
        """``whole`` is called each time the whole chain was checked and holds."""
        self._ledger = ledger
        self._line = line
        self._whole = whole
        self._told = ""
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        if anchor is not None:
            ledger.compare(Anchor(anchor.chain_id, anchor.seq, anchor.hash))

    def start(self) -> None:
        """Begin to tell, and check the whole chain; called once the client is ready."""
        loop = self._loop = asyncio.get_running_loop()
        self._ledger.chain.subscribe(lambda: _soon(loop, self._changed))
        self._ledger.on_commit = lambda: _soon(loop, self._committed)
        self._changed()

    def close(self) -> None:
        """Tell where the chain ends for the last time, and stop."""
        self._ledger.on_commit = None
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._tell_head()
        for task in self._tasks:
            task.cancel()

    def status(self) -> LedgerStatus:
        """The state of the chain now."""
        state, reason, broken_at = self._ledger.chain.status
        end = self._ledger.end
        return LedgerStatus(state=state, rows=end.rows, head=end.hash, broken_at=broken_at, reason=reason)

    async def new_chain(self, params: LedgerNewChainParams) -> LedgerStatus:
        """Leave a broken chain behind, as a person wishes.

        Raises:
            InvalidAnswer: the chain is not broken.
            LedgerUnavailable: it could not be done; nothing was changed.
        """
        if not self._ledger.chain.is_broken:
            raise InvalidAnswer("the chain of the ledger is not broken; archive it with `countersign history --rotate`")
        await asyncio.wrap_future(self._ledger.begin_new_chain(params.reason))
        return self.status()

    def _changed(self) -> None:
        status = self.status()
        self._line.notify("ledger/changed", status)
        if status.state == "checking":
            self._own(self._check())

    async def _check(self) -> None:
        await asyncio.to_thread(self._ledger.blocking_check)
        if self._ledger.chain.status.state == "whole":
            self._tell_head()
            await self._whole()

    def _own(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the check of the ledger failed", exc_info=error)

    def _committed(self) -> None:
        if self._timer is None and self._loop is not None:
            self._timer = self._loop.call_later(BETWEEN_HEADS, self._tell_head)

    def _tell_head(self) -> None:
        """A broken chain's end is not told: the client must not exchange a good anchor for it."""
        self._timer = None
        end = self._ledger.end
        if self._ledger.chain.refusal is not None or end.hash == self._told or not end.rows:
            return
        try:
            chain_id = self._ledger.chain_id()
        except LedgerUnavailable:
            return
        self._told = end.hash
        self._line.notify("ledger/head", LedgerHead(chain_id=chain_id, seq=end.rows, hash=end.hash))


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
