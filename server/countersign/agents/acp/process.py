"""One agent's process: supervised, its stderr drained into the log, ended with everything that it started."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

from countersign.agents.acp.ndjson import CHUNK
from countersign.agents.pace import Rests
from countersign.tools.sandbox.confiner import Confined
from countersign.tools.sandbox.proxy import RefusedHost
from countersign.tools.shell.supervised import Supervised, spawn_supervised
from countersign.tools.visible import visible

log = logging.getLogger(__name__)

NICENESS = 5
"""An agent that keeps every processor busy, with all that it starts, leaves the server its share."""
DRAIN_SECONDS = 5.0
"""What a pipe holds is read in milliseconds."""
LONGEST_STDERR = 4096
"""Bytes of stderr that reach the log at a time."""
MOST_STDERR = 1 << 20
"""Bytes of stderr of one process that reach the log; the rest is read and dropped."""


class AgentProcess:
    """A running agent. A class because it owns the task that drains its stderr: a full pipe would stop the agent."""

    def __init__(self, name: str, child: Supervised, confined: Confined | None = None) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._name = name
        self._child = child
        self._confined = confined
        self._told_hosts: set[RefusedHost] = set()
        self.stdin = child.stdin
        self.stdout = child.stdout
        self._drain = asyncio.create_task(self._log_stderr(), name=f"stderr of {name}")

    @property
    def pid(self) -> int:
        """The process below which everything lies that the agent starts."""
        return self._child.pid

    def newly_refused(self) -> tuple[RefusedHost, ...]:
        """The hosts that the sandbox refused to it since this was last asked."""
        refused = () if self._confined is None else self._confined.refused_hosts
        new = tuple(each for each in refused if each not in self._told_hosts)
        self._told_hosts.update(new)
        return new

    async def wait(self) -> int:
        """Wait until it and everything it started has ended; the exit code, negative for a signal."""
        return await self._child.wait()

    def kill(self) -> None:
        """KILL it and every descendant now. Does not wait."""
        self._child.kill()

    async def end(self) -> None:
        """End it and every descendant: TERM, two seconds later KILL. Returns when all are gone, a bounded time."""
        await self._child.stop()
        self._drain.cancel()
        await asyncio.gather(self._drain, return_exceptions=True)
        confined, self._confined = self._confined, None
        if confined is not None:
            # What it made may be what a person allowed: nothing is moved away.
            await asyncio.to_thread(confined.blocking_finish, set_aside=None)
            for note in confined.notes:
                log.warning("%s: %s", self._name, note)

    async def drain(self) -> None:
        """Read what is left of its output once it has ended and nobody reads any more, so that the pipe closes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while await self.stdout.read(LONGEST_STDERR):
                    pass

    async def _log_stderr(self) -> None:
        assert self._child.stderr is not None
        left, rests = MOST_STDERR, Rests()
        while data := await self._child.stderr.read(LONGEST_STDERR):
            rests.work()
            left -= len(data)
            if left + len(data) > 0:
                for line in data.decode("utf-8", "replace").splitlines():
                    log.info("%s: %s", self._name, visible(line))
                if left <= 0:
                    log.warning("%s wrote %d bytes to stderr; the rest is not logged", self._name, MOST_STDERR)
            await rests.rest()


async def start_agent_process(
    name: str, command: Sequence[str], environment: Mapping[str, str], cwd: str, confined: Confined | None = None
) -> AgentProcess:
    """Start the agent with exactly this environment, in ``confined`` where one is given, which is cleared up when it
    has ended, or at once where it cannot be started.

    Raises:
        OSError: the program is not there or may not be run.
    """
    started = False
    try:
        child = await spawn_supervised(
            command,
            env=environment,
            cwd=cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=CHUNK,
            niceness=NICENESS,
            pass_fds=() if confined is None else confined.pass_fds,
            sandbox=-1 if confined is None else confined.description,
        )
        started = True
    finally:
        if confined is not None:
            confined.close_ours()
            if not started:
                await asyncio.to_thread(confined.blocking_finish, set_aside=None)
    return AgentProcess(name, child, confined)
