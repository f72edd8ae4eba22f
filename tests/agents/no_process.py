"""Stands for the process of an agent that is played by a test: nothing runs, and it ends when it is told to."""

from __future__ import annotations

import asyncio
from typing import Any

from countersign.agents.acp.process import AgentProcess


class NoProcess(AgentProcess):
    """Each method of a real process has its stand-in here, which `test_doubles.py` checks."""

    pid: Any = None

    def __init__(self, ended: asyncio.Event) -> None:
        self.ended = ended
        self.stdin: Any = None
        self.stdout: Any = None

    def newly_refused(self) -> tuple[()]:
        return ()

    async def wait(self) -> int:
        await self.ended.wait()
        return 0

    def kill(self) -> None:
        self.ended.set()

    async def end(self) -> None:
        self.kill()

    async def drain(self) -> None:
        pass
