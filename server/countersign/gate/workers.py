"""Worker threads for blocking work: each hosted agent has its own, so that it never holds up another one or the gate.

Whoever works for an agent says so with ``sharing``; ``in_worker`` then runs blocking work in that agent's threads, and
in the event loop's own pool otherwise. Cancelled work ends at its next ``check_cancelled``.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

WORKERS = 2
"""Threads of one agent."""

P = ParamSpec("P")
T = TypeVar("T")


class Abandoned(Exception):
    """Nobody waits for this work any more."""


class Workers:
    """One agent's threads. A class because it owns them; they start with the first work."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._pool: ThreadPoolExecutor | None = None

    def pool(self) -> ThreadPoolExecutor:
        """Return the running pool; start it if there is none."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix=f"agent {self._agent}")
        return self._pool

    def close(self) -> None:
        """Drop work that has not begun; the threads end with what they run."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


_workers: ContextVar[Workers | None] = ContextVar("workers", default=None)
_cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


@contextmanager
def sharing(workers: Workers | None) -> Iterator[None]:
    """Run the blocking work of this block, and of the tasks that it creates, in these threads."""
    token = _workers.set(workers)
    try:
        yield
    finally:
        _workers.reset(token)


async def in_worker(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run blocking work in a thread of the agent that it is for.

    Cancelled: work that has not begun never does, and work that runs ends at its next ``check_cancelled``.
    """
    cancelled, context = threading.Event(), copy_context()
    context.run(_cancelled.set, cancelled)
    try:
        return await _in_thread(lambda: context.run(function, *arguments, **keywords))
    except asyncio.CancelledError:
        cancelled.set()
        raise


async def in_worker_to_the_end(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Run blocking work that must not be cut in the middle, as ``in_worker`` otherwise."""
    context = copy_context()
    context.run(_cancelled.set, None)
    return await _in_thread(lambda: context.run(function, *arguments, **keywords))


def check_cancelled() -> None:
    """Stop blocking work between two pieces.

    Raises:
        Abandoned: the task that waited for the work was cancelled.
    """
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise Abandoned


async def _in_thread(work: Callable[[], T]) -> T:
    workers = _workers.get()
    return await asyncio.get_running_loop().run_in_executor(None if workers is None else workers.pool(), work)
