"""The order of the calls of one turn: each takes a place when it is submitted and is decided after those before it.

Calls are prepared and judged side by side, in threads; the cards of one message must still come in the order of the
message. A place is given up as soon as the call's card is being written or its verdict needs no card, so nobody waits
for an answer or for a tool.
"""

from __future__ import annotations

import asyncio


class Line:
    """Those who wait their turn, in order of arrival. A class because places are given up from anywhere in it."""

    def __init__(self) -> None:
        self._places: dict[Place, None] = {}

    def join(self) -> Place:
        """Take the last place. Synchronous: who comes first stands first."""
        place = Place(self)
        self._places[place] = None
        self._call_first()
        return place

    def _leave(self, place: Place) -> None:
        self._places.pop(place, None)
        self._call_first()

    def _call_first(self) -> None:
        if self._places:
            next(iter(self._places)).called.set()


class Place:
    """One place in a line."""

    __slots__ = ("_line", "called")

    def __init__(self, line: Line) -> None:
        self._line = line
        self.called = asyncio.Event()

    async def reached(self) -> None:
        """Wait until all who came before have left. Cancelled: the place is still taken, so leave it."""
        await self.called.wait()

    def leave(self) -> None:
        """Give the place up; the next one is called. Leaving twice does nothing."""
        self.called.set()
        self._line._leave(self)
