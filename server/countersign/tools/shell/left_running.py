"""Processes that a hosted agent's commands left running when its turn ended, as the shells view lists them.

They are not ours: their output goes to the agent, and they end with it at the latest. A person can end each before.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from countersign.tools.shell.process_tree import Process, blocking_descendants, end_all
from countersign.wire.shells import ShellOutputResult, ShellState, ShellView

NO_OUTPUT = "[its output goes to the agent that started it]\n"


class LeftRunning:
    """One of them. A class because it watches for the end of a process that is not our child."""

    def __init__(
        self, shell_id: str, process: Process, command: str, thread_id: str, tool_call_id: str, *, permitted: bool
    ) -> None:
        self.permitted = permitted
        self.shell_id = shell_id
        self.process = process
        self.state: ShellState = "running"
        self.ended = asyncio.Event()
        self._command = command
        self._thread_id = thread_id
        self._tool_call_id = tool_call_id
        self._killed = False
        self._descriptor = -1

    def watch(self, changed: Callable[[ShellView], None]) -> None:
        """Tell of its end."""
        try:
            self._descriptor = os.pidfd_open(self.process.pid)
        except OSError:
            self._end(changed)
        else:
            asyncio.get_running_loop().add_reader(self._descriptor, self._end, changed)

    def view(self) -> ShellView:
        return ShellView(
            shell_id=self.shell_id,
            tool_call_id=self._tool_call_id,
            thread_id=self._thread_id,
            command=self._command,
            state=self.state,
            background=True,
        )

    def read(self) -> ShellOutputResult:
        """What can be said of its output."""
        return ShellOutputResult(text=NO_OUTPUT, next=len(NO_OUTPUT), state=self.state)

    async def kill(self) -> ShellState:
        """End it and everything below it."""
        self._killed = True
        started = self.process.started

        def find() -> list[Process]:
            below = blocking_descendants(self.process.pid)
            return [*([self.process] if self.state == "running" and not self.ended.is_set() else []), *below]

        await end_all(lambda: [each for each in find() if each.started >= started])
        return self.state

    def close(self) -> None:
        """Watch no longer."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _end(self, changed: Callable[[ShellView], None]) -> None:
        self.close()
        self.state = "killed" if self._killed else "exited"
        self.ended.set()
        changed(self.view())
