"""Worker threads of one agent: what it has read from disk never holds up another agent or the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

WORKERS = 2
"""Threads of one agent."""

Result = TypeVar("Result")


class Workers:
    """One agent's share of threads. A class because it owns them; they start with the first work."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run blocking work. Cancelled: work that has not begun never does."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix=f"agent {self._agent}")
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Drop what has not begun; what runs is bounded and ends by itself."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
