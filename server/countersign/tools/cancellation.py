"""How far a run got that was cancelled, and blocking work that is not left half done.

``CancelledError`` is always raised on. What had happened until then travels on it as an ``Outcome``, so that the
receipt can say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from countersign.gate import Outcome, in_worker_to_the_end

P = ParamSpec("P")
T = TypeVar("T")

LAST_WAIT = 2.0
"""Seconds that a cancelled run waits for its own disk work: a rename takes milliseconds, a dead disk for ever."""


def note_how_far(cancelled: asyncio.CancelledError, outcome: Outcome) -> None:
    """Let the outcome travel on the cancellation."""
    cancelled.outcome = outcome  # type: ignore[attr-defined]


async def to_the_end(function: Callable[P, Outcome], *arguments: P.args, **keywords: P.kwargs) -> Outcome:
    """Run blocking work that must not be cut in the middle in a thread.

    Cancelled: waits up to ``LAST_WAIT`` for it to end, notes on the cancellation how far it got, and raises on.
    """
    work = asyncio.ensure_future(in_worker_to_the_end(function, *arguments, **keywords))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError as cancelled:
        note_how_far(cancelled, await _awaited_once_more(work))
        raise


async def _awaited_once_more(work: asyncio.Future[Outcome]) -> Outcome:
    done, _ = await asyncio.wait([work], timeout=LAST_WAIT)
    if not done:
        work.add_done_callback(_seen)
        return Outcome(False, "stopped while it was still at work", record={"state": "unknown"})
    error = work.exception()
    if error is not None:
        return Outcome(False, "stopped; nothing was done", record={"state": "nothing done"})
    return work.result()


def _seen(work: asyncio.Future[Any]) -> None:
    # Its end came after everybody had gone; an exception that nobody fetches would only be noise in the log.
    if not work.cancelled():
        work.exception()
