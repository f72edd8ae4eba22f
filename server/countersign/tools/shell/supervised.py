"""Starting a program that does not outlive the server: the near end of ``supervisor``, which the fork server forks
(``fork_client.py``) or, where there is none, which is run as a script.

INVARIANT (a clean child): commands and hosted agents are started here and nowhere else, with exactly the environment
that is given and one variable more, in a session of their own, and leave nobody behind, even after ``kill -9`` of the
server. Should a program kill its own supervisor, whoever carries its mark in the environment is ended from here, and
so is whoever became our child by that (``orphans.py``).
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import signal
import socket
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from countersign.tools import cgroups
from countersign.tools.shell.fork_client import NoForkServer, Start, fork_supervised
from countersign.tools.shell.orphans import become_subreaper, blocking_end, blocking_foreign_children

SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_FOLDER = getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_CLOEXEC
MARK = "COUNTERSIGN_RUN"
"""Variable that every process of one program inherits; its value is that program's alone."""
STOP_PATIENCE = 4.0
"""Seconds that ``stop`` waits: the supervisor's two of grace, and as much again for a busy machine."""
RESCUE_PATIENCE = 2.0
"""Seconds for which processes whose supervisor was killed are looked for."""

_running: weakref.WeakSet[Supervised] = weakref.WeakSet()
_starting: set[asyncio.Future[None]] = set()
_rescues: set[asyncio.Task[None]] = set()
_groups_tried = False


class Supervised:
    """A running program. Holds the line to its supervisor, whose end is the program's end.

    Streams, ``pid`` (the supervisor's), ``returncode`` and ``wait`` are those of ``asyncio.subprocess.Process``.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, line: socket.socket, mark: str, group: Path | None = None
    ) -> None:
        self._process = process
        self._line = line
        self._mark = mark
        self._group = group
        self._orderly = False
        self._rescue: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.pid = process.pid
        # Weakly, so that a program that everybody forgot is ended and does not keep itself going.
        itself = weakref.ref(self)
        _running.add(self)
        self._loop.add_reader(line.fileno(), lambda: (known := itself()) and known._heard())

    @property
    def has_group(self) -> bool:
        """Whether it runs in a control group of its own."""
        return self._group is not None

    def __del__(self) -> None:
        self._hang_up()

    @property
    def returncode(self) -> int | None:
        """The program's own: negative for a signal, None while it or anything it started runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it and everything it started has ended. Cancelled: it runs on."""
        returncode = await self._process.wait()
        if self._rescue is not None:
            await asyncio.shield(self._rescue)
        self._hang_up()
        return returncode

    def terminate(self) -> None:
        """Ask it to end: TERM to its process group, KILL to every descendant two seconds later. Does not wait."""
        with suppress(OSError):
            self._line.send(b"T")
        self._wake_supervisor()

    def kill(self) -> None:
        """KILL every descendant now. Does not wait."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._wake_supervisor()

    async def stop(self) -> int:
        """Terminate and wait; bounded, whatever the program does. Cancelled: killed."""
        self.terminate()
        try:
            async with asyncio.timeout(STOP_PATIENCE):
                return await self.wait()
        except TimeoutError:
            self.kill()
        except asyncio.CancelledError:
            self.kill()
            raise
        try:
            async with asyncio.timeout(STOP_PATIENCE):
                return await self.wait()
        except TimeoutError:
            # Somebody hangs in the kernel or got away with our pipes; nobody waits for them any longer.
            self._process._transport.close()  # type: ignore[attr-defined]
            return await self.wait()

    def _heard(self) -> None:
        """The supervisor says that all have ended, or is gone."""
        with suppress(OSError):
            if self._line.recv(16):
                self._orderly = True
                return
        self._hang_up()
        if not self._orderly:
            work = _end_left_behind(self._mark, self._group)
            self._rescue = self._loop.create_task(work, name="end what a supervisor left")
            _rescues.add(self._rescue)
            self._rescue.add_done_callback(_rescues.discard)

    def _hang_up(self) -> None:
        if self._line.fileno() >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._line.fileno())
            self._line.close()
            if self._group is not None and self._orderly:
                cgroups.blocking_end(self._group, 0.0)  # nobody is left in it

    def _wake_supervisor(self) -> None:
        # A program can stop its own supervisor, but not keep it so.
        with suppress(ProcessLookupError):
            # Not by the process object: it would look whether the child has ended, and take its status from asyncio.
            os.kill(self._process.pid, signal.SIGCONT)


async def spawn_supervised(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | int,
    stdin: int | None = asyncio.subprocess.DEVNULL,
    stdout: int | None = asyncio.subprocess.PIPE,
    stderr: int | None = asyncio.subprocess.PIPE,
    limit: int = 1 << 16,
    pass_fds: Sequence[int] = (),
    sandbox: int = -1,
    niceness: int = 0,
) -> Supervised:
    """Start a program under supervision. ``cwd`` is a path or a descriptor of a folder, ``sandbox`` a descriptor of the
    description that ``sandbox/namespaces.py`` reads, or -1 for none; ``niceness`` is added to ours; the rest
    is as in asyncio.

    Cancelled: nothing is left running.

    Raises:
        FileNotFoundError: there is no such program on the PATH of ``env``.
        OSError: it cannot be started.
    """
    if shutil.which(argv[0], path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    mark = secrets.token_hex(16)
    become_subreaper()
    started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    _starting.add(started)
    folder, group, joining = -1, None, -1
    try:
        global _groups_tried  # noqa: PLW0603  once for this process
        if not _groups_tried:
            await asyncio.to_thread(cgroups.blocking_groups)
            _groups_tried = True
        folder = os.dup(cwd) if isinstance(cwd, int) else os.open(cwd, _FOLDER)
        group, joining = cgroups.blocking_make_group(mark) or (None, -1)
        start = Start(argv, {**env, MARK: mark}, folder, sandbox, joining, niceness, pass_fds)
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "limit": limit}
        try:
            process, line = await fork_supervised(start, **streams)
        except NoForkServer:
            process, line = await _start_script(start, **streams)
    except BaseException:
        if group is not None:
            await asyncio.to_thread(cgroups.blocking_end, group)
        raise
    else:
        return Supervised(process, line, mark, group)
    finally:
        for descriptor in (folder, joining):
            if descriptor >= 0:
                os.close(descriptor)
        _starting.discard(started)
        started.set_result(None)


async def _start_script(start: Start, **streams: Any) -> tuple[asyncio.subprocess.Process, socket.socket]:
    """Start the supervisor as a script, where processes cannot be forked for us."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    own = (theirs.fileno(), start.folder, start.sandbox, start.group)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-E", SUPERVISOR, *map(str, own), str(start.niceness), *start.argv,
            **streams,
            env={f"E{name}": value for name, value in start.env.items()},
            pass_fds=(*(number for number in own if number >= 0), *start.pass_fds),
            start_new_session=True,
        )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    else:
        return process, ours
    finally:
        theirs.close()


async def _end_left_behind(mark: str, group: Path | None) -> None:
    """End whatever a program left whose supervisor was killed, bounded."""
    if group is not None:
        await asyncio.to_thread(cgroups.blocking_end, group)
    await asyncio.to_thread(_blocking_end_marked, mark)
    if not become_subreaper():
        return
    until = time.monotonic() + RESCUE_PATIENCE
    while time.monotonic() < until:
        found = await asyncio.to_thread(blocking_foreign_children)
        if _starting:
            # A supervisor that is just being started is a child of ours that nobody knows yet.
            await asyncio.wait(set(_starting))
        orphans = found - {program.pid for program in _running if program.returncode is None}
        if not orphans:
            return
        await asyncio.to_thread(blocking_end, orphans)


def _blocking_end_marked(mark: str) -> None:
    """KILL whoever has this mark, until nobody has. Only where /proc shows environments."""
    wanted = f"{MARK}={mark}".encode()
    until = time.monotonic() + RESCUE_PATIENCE
    while time.monotonic() < until:
        marked = [process for process in _processes() if wanted in _environment(process)]
        if not marked:
            return
        for process in marked:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.005)


def _processes() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _environment(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes()
    return b""
