"""What the calls of one turn started: ended with a stopped call, listed when it lives on after the turn.

The agent's own helpers and tool servers are told apart by when they were started: before the first call of the turn
was let through. What a call that is stopped started is ended, also where the agent says that it has stopped already.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from countersign.tools.shell.process_tree import Process, blocking_descendants, clock, end_all, topmost
from countersign.tools.shell.processes import ShellRegistry

log = logging.getLogger(__name__)


class Started:
    """The calls of one turn that may have started processes. A class because each begins once and ends once.

    ``root`` is the process below which all of the agent lies, None once it is gone.
    """

    def __init__(self, agent: str, root: Callable[[], int | None]) -> None:
        self._agent = agent
        self._root = root
        self._first: int | None = None
        self._first_call = ""
        self._runs = False
        self._open: dict[str, int] = {}

    def begin(self, call_id: str, tool_call_id: str, *, runs: bool) -> None:
        """A call was let through, or says that it runs. ``runs``: it was let through to run a command."""
        now = clock()
        self._runs = self._runs or runs
        if self._first is None:
            self._first, self._first_call = now, tool_call_id
        self._open.setdefault(call_id, now)

    def end(self, call_id: str) -> None:
        """The agent says that a call is over."""
        self._open.pop(call_id, None)

    async def stop(self) -> None:
        """End everybody whom a call that is still open started, and whoever they start meanwhile."""
        root, since = self._root(), min(self._open.values(), default=None)
        if root is None or since is None:
            return
        if not await end_all(lambda: blocking_descendants(root, since)):
            log.warning("processes that calls of %s started could not be ended", self._agent)

    async def list_left(self, shell_registry: ShellRegistry, thread_id: str) -> None:
        """Hand those that live on to the shells view. What they change counts as done with leave if a command was let
        through in this turn."""
        root, since = self._root(), self._first
        if root is None or since is None:
            return
        for process, command in await asyncio.to_thread(_blocking_named, root, since):
            shell_registry.adopt(process, command, thread_id, self._first_call, permitted=self._runs)


def _blocking_named(root: int, since: int) -> list[tuple[Process, str]]:
    # A process that is just becoming another program has no command line for a moment.
    found = topmost(blocking_descendants(root, since))
    return [(process, process.command or f"process {process.pid}") for process in found]
