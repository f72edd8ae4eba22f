"""When open requests expire: one timer of the loop for all of them.

A timer for each costs a burst more than the checks of its answers, because the loop orders its timers in Python.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable

from countersign.gate.approvals.pending import Pending


class Deadlines:
    """Calls ``expire`` with each request whose time is up, unless it was dropped before. Event loop only."""

    def __init__(self, expire: Callable[[Pending], None]) -> None:
        self._expire = expire
        self._set: dict[str, tuple[float, Pending]] = {}
        self._order: list[tuple[float, str]] = []
        """A heap, in which what was dropped may still stand: by its id only, so that nothing else of it is kept."""
        self._held: dict[str, tuple[float, Pending]] = {}
        """Requests whose clock stands still, with the seconds that they have left."""
        self._timer: asyncio.TimerHandle | None = None

    def set(self, pending: Pending, seconds: float) -> None:
        """Let it expire in so many seconds."""
        loop = asyncio.get_running_loop()
        when = loop.time() + max(seconds, 0.0)
        self._set[pending.approval_id] = when, pending
        heapq.heappush(self._order, (when, pending.approval_id))
        if self._timer is None or when < self._timer.when():
            self._wait(loop, when)

    def hold(self, pending: Pending) -> None:
        """Stop its clock. Nothing happens if it has no deadline, or its clock stands still already."""
        known = self._set.get(pending.approval_id)
        if known is None:
            return
        left = known[0] - asyncio.get_running_loop().time()
        self.drop(pending)
        self._held[pending.approval_id] = left, pending

    def resume(self, pending: Pending) -> float | None:
        """Let its clock go on; return the seconds that it has left, None if it did not stand still."""
        held = self._held.pop(pending.approval_id, None)
        if held is None:
            return None
        self.set(pending, held[0])
        return held[0]

    def drop(self, pending: Pending) -> None:
        """It has ended, or is no longer ours. Nothing happens if it never had a deadline."""
        self._held.pop(pending.approval_id, None)
        if self._set.pop(pending.approval_id, None) is None:
            return
        if not self._set:
            self._order.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        elif len(self._order) > 2 * len(self._set) + 100:
            self._order = sorted((when, approval_id) for approval_id, (when, _) in self._set.items())

    def _wait(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(when, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        # The loop calls timers that are due within the resolution of its clock, thus a little early.
        now = loop.time() + time.get_clock_info("monotonic").resolution
        try:
            while self._order and self._order[0][0] <= now:
                when, approval_id = heapq.heappop(self._order)
                known = self._set.get(approval_id)
                if known is not None and known[0] == when:
                    del self._set[approval_id]
                    self._expire(known[1])
        finally:  # one that cannot be ended must not keep the others open
            if self._order and self._timer is None:
                self._wait(loop, self._order[0][0])
