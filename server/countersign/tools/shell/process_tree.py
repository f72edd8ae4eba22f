"""The processes below one process, with when each was started: who is whose, and ending some of them for good.

Linux only: elsewhere nothing is found here, and what a program left behind ends with it (``supervisor.py``). Whoever
loses its parent becomes a child of the supervisor, so a descendant stays one however it forks.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
LINUX = sys.platform == "linux"
GRACE = 1.0
"""Seconds between TERM and KILL: whoever is stopped has heard of it from its own agent already."""
PATIENCE = 4.0
"""Seconds after which processes that even KILL does not end are given up."""
STEP = 0.02
"""Seconds between two looks at processes that are not our children, so that nobody tells us of their end."""
LONGEST_COMMAND = 4096
"""Bytes of a command line that are read."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process. ``started`` counts ticks since the machine was started, which with the id names it for good."""

    pid: int
    parent: int
    started: int

    @property
    def command(self) -> str:
        """Its command line as words, or nothing if it is gone. Reads /proc."""
        with suppress(OSError), open(f"/proc/{self.pid}/cmdline", "rb") as file:
            return file.read(LONGEST_COMMAND).rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
        return ""


def clock() -> int:
    """This moment in the ticks of ``Process.started``."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS) if LINUX else 0


def blocking_descendants(root: int, since: int = 0) -> list[Process]:
    """Return everybody below a process who runs and was started at this moment or later. Reads /proc."""
    children: dict[int, list[Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    ahead = [root]
    while ahead:
        for process in children.get(ahead.pop(), ()):
            found.append(process)
            ahead.append(process.pid)
    # A tick is coarser than the clock.
    return [process for process in found if process.started >= since - 1]


def topmost(processes: Iterable[Process]) -> list[Process]:
    """Return those whose parent is not among them: whoever ends them ends the others."""
    every = list(processes)
    known = {process.pid for process in every}
    return [process for process in every if process.parent not in known]


async def end_all(find: Callable[[], list[Process]]) -> bool:
    """TERM whoever ``find`` finds, KILL whoever it still finds ``GRACE`` later; return whether nobody is left.

    Looked for anew each time, since the ones that are ended may start others.
    """
    began = time.monotonic()
    asked: set[tuple[int, int]] = set()
    while time.monotonic() - began < PATIENCE:
        found = await asyncio.to_thread(find)
        if not found:
            return True
        late = time.monotonic() - began > GRACE
        for process in found:
            key = process.pid, process.started
            if late or key not in asked:
                asked.add(key)
                _signal(process, signal.SIGKILL if late else signal.SIGTERM)
        await asyncio.sleep(STEP)
    return False


def _signal(process: Process, number: int) -> None:
    """Send a signal to this very process; another one that has its number by now gets none."""
    with suppress(OSError):
        descriptor = os.pidfd_open(process.pid)
        try:
            state = _read(process.pid)
            if state is not None and state.started == process.started:
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def _processes() -> list[Process]:
    if not LINUX:
        return []
    found = (_read(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in found if process is not None]


def _read(pid: int) -> Process | None:
    """A process that is no zombie, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The program's name stands in brackets and may itself hold brackets and blanks.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[19]))


def blocking_others_at_work(workspace: str, agents: Iterable[int]) -> bool:
    """Return true if somebody else than these agents may change files of the workspace now: a process with a terminal
    (a person's shell, and what was started in it), or one that works inside the workspace. True where nobody can tell.
    """
    if not LINUX:
        return True
    ours = {os.getpid()}
    for root in agents:
        ours |= {root, *(process.pid for process in blocking_descendants(root))}
    for process in _processes():
        if process.pid not in ours and (_has_terminal(process.pid) or _works_in(process.pid, workspace)):
            return True
    return False


def _has_terminal(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    fields = text[text.rfind(b")") + 2 :].split()
    return len(fields) > 4 and fields[4] != b"0"


def _works_in(pid: int, workspace: str) -> bool:
    try:
        folder = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return False
    return folder == workspace or folder.startswith(f"{workspace}/")
