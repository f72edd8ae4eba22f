"""A pace for what agents and models say: no more at once than the event loop reads, stores and sends without others
waiting.

Whoever says more waits before the rest is read, so that a flood stays with the peer that sends it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

AT_ONCE = 256 << 10
"""Characters that go through without a pause: a frame of so much is stored and sent in a few milliseconds."""
PAUSE = 0.02
"""Seconds, somewhat more than a frame of ``lsp/event_feed.py``."""


WORK = 0.005
"""Seconds of reading after which a peer waits."""
SHARE = 2.0
"""Seconds of that wait for each second of reading. The more peers send at once, the longer each one's reading takes,
and the longer they all wait: together they never have more than a third of the event loop."""
LONGEST_REST = 1.0


class Rests:
    """The rests of one peer's reader. A class because it adds up how long the reader was busy."""

    def __init__(self) -> None:
        self._busy = 0.0
        self._since = time.monotonic()

    def work(self) -> None:
        """Begin to count: something was read."""
        self._since = time.monotonic()

    async def rest(self) -> None:
        """Count what has passed since ``work``, or since the last rest; wait once it is much."""
        self._busy += time.monotonic() - self._since
        await asyncio.sleep(self._due())
        self._since = time.monotonic()

    def _due(self) -> float:
        if self._busy < WORK:
            return 0
        due, self._busy = min(SHARE * self._busy, LONGEST_REST), 0.0
        return due


class Pace:
    """The pace of one peer. A class because it counts what has been said since the last pause."""

    def __init__(self) -> None:
        self._said = 0

    async def said(self, characters: int) -> None:
        """Count what was said; wait once it is much."""
        self._said += characters
        if self._said >= AT_ONCE:
            self._said = 0
            await asyncio.sleep(PAUSE)


def parts(text: str) -> Iterator[str]:
    """Yield the text in parts of ``AT_ONCE`` characters at most."""
    for start in range(0, len(text), AT_ONCE):
        yield text[start : start + AT_ONCE]
