"""Asks a model again where that is safe: its server said "later", and nothing of an answer was used yet.

Once a piece of text, thinking or a call came, the person has read it or the call runs, so a failure is final. Every
wait is announced, and cancelling the turn ends it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence

from countersign.agents.models.base import (
    Bounded,
    CallPiece,
    Message,
    Model,
    Piece,
    Sighted,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolSchema,
    WaitPiece,
)
from countersign.wire.errors import ModelBusy

MOST_TRIES = 5
FIRST_WAIT = 1.0
"""Seconds; each further wait is twice as long, with up to a quarter more so that clients do not come back together."""
LONGEST_WAIT = 300.0
"""Seconds that one wait may take; a server that asks for more is an error, so that the person can switch models."""


class RetryingModel:
    """Another model, asked again after ModelBusy. A class because a model is one."""

    def __init__(self, model: Model, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._model = model
        self._sleep = sleep

    async def most_context(self) -> int | None:
        """As ``base.Bounded``."""
        return await self._model.most_context() if isinstance(self._model, Bounded) else None

    async def takes_images(self) -> bool | None:
        """As ``base.Sighted``."""
        return await self._model.takes_images() if isinstance(self._model, Sighted) else None

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``; a WaitPiece stands before each wait."""
        for number in range(1, MOST_TRIES + 1):
            used = False
            pieces = self._model.stream(system, messages, tools)
            try:
                async for piece in pieces:
                    used = used or isinstance(piece, TextPiece | ThinkingPiece | CallPiece | StopPiece)
                    yield piece
                return
            except ModelBusy as error:
                wait = _wait(number) if error.retry_after is None else error.retry_after
                if used or number == MOST_TRIES or wait > LONGEST_WAIT:
                    raise
                told = str(error).partition(";")[0]
            finally:
                if isinstance(pieces, AsyncGenerator):
                    await pieces.aclose()
            yield WaitPiece(wait, f"{told}; asking again in {wait:.0f} s (try {number + 1} of {MOST_TRIES})")
            await self._sleep(wait)


def _wait(number: int) -> float:
    return FIRST_WAIT * 2 ** (number - 1) * (1 + random.random() / 4)
