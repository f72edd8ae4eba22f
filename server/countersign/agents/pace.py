"""A pace for what agents and models say: no more at once than the event loop stores and sends without others waiting.

Whoever says more waits before the rest is read, so that a flood stays with the peer that sends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

AT_ONCE = 256 << 10
"""Characters that go through without a pause: a frame of so much is stored and sent in a few milliseconds."""
PAUSE = 0.02
"""Seconds, somewhat more than a frame of ``lsp/event_feed.py``."""


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
