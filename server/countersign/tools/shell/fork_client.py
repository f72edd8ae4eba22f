"""The server's end of the fork server: starting it, asking it for a supervised process, and following that to its end.

One fork server belongs to this process and is started when it is first needed. It can be killed or stopped like any
process of the user: programs that run do not depend on it, and the next start replaces it. A request during which it
ended is sent again, and only if its line ended before the supervisor reported itself: then the program was not
started.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import contextlib
import errno
import marshal
import os
import signal
import socket
import subprocess
import sys
import threading
from asyncio import base_subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

SCRIPT = str(Path(__file__).with_name("fork_server.py"))
START_PATIENCE = 20.0
"""Seconds in which the fork server answers a request; a healthy one takes milliseconds, on a busy machine a second."""
TRIES = 3
REPORT = 12
"""Bytes of what the supervisor says first; what follows is for others."""
MOST_DESCRIPTORS = 64
"""How many one request carries; a hosted agent in the sandbox needs a dozen."""


class NoForkServer(Exception):
    """Processes cannot be forked this way here."""


class _Lost(Exception):
    """The fork server ended before it started the program."""


@dataclass(frozen=True, slots=True)
class Start:
    """A program to start; ``folder`` is a descriptor of its working directory, ``sandbox`` and ``group`` as in
    ``supervisor.py``."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: int
    sandbox: int
    group: int
    niceness: int
    pass_fds: Sequence[int]

    def request(self) -> bytes:
        return marshal.dumps(
            {
                "command": [os.fsencode(word) for word in self.argv],
                "environment": {os.fsencode(name): os.fsencode(value) for name, value in self.env.items()},
                "niceness": self.niceness,
                "inherited": list(self.pass_fds),
                "sandbox": self.sandbox >= 0,
                "group": self.group >= 0,
            }
        )

    def descriptors(self) -> list[int]:
        return [*self.pass_fds, *(number for number in (self.sandbox, self.group) if number >= 0), self.folder]


class ForkServer:
    """The one fork server of this process. Keeps its process and the channel to it."""

    def __init__(self) -> None:
        self.usable = hasattr(os, "pidfd_open")
        """False once the kernel has refused what it does; it is then not asked again."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._without_waiting: socket.socket | None = None
        """The channel once more, for the event loop."""
        self._owner = self._number = 0

    def blocking_send(self, request: bytes, descriptors: Sequence[int]) -> int:
        """Ask for a process; a fork server that has ended is replaced first.

        Returns the number of the fork server that was asked. Raises:
            OSError: there is no fork server, and none can be started.
        """
        with _rights(request, descriptors) as rights, self._lock:
            try:
                self._blocking_running().sendmsg([b"f"], rights)
            except (ConnectionError, TimeoutError):
                # It ended, or it stands still and its queue is full.
                self._blocking_end()
                self._blocking_running().sendmsg([b"f"], rights)
            return self._number

    def send_at_once(self, request: bytes, descriptors: Sequence[int]) -> int | None:
        """The same where nothing has to be waited for; None if something has to be, and nothing was sent."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if not self._is_running():
                return None
            assert self._without_waiting is not None
            with _rights(request, descriptors) as rights:
                self._without_waiting.sendmsg([b"f"], rights)
            return self._number
        except (BlockingIOError, ConnectionError):
            return None
        finally:
            self._lock.release()

    def blocking_end(self, number: int | None = None) -> None:
        """End it, or only the one of this number; the next request starts another."""
        with self._lock:
            if number in (None, self._number):
                self._blocking_end()

    def _is_running(self) -> bool:
        if (
            self._channel is None
            or self._process is None
            or self._owner != os.getpid()
            or self._process.poll() is not None
        ):
            return False
        # A program can stop it, but not keep it so.
        self._process.send_signal(signal.SIGCONT)
        return True

    def _blocking_running(self) -> socket.socket:
        if self._is_running():
            assert self._channel is not None
            return self._channel
        self._blocking_end()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-E", SCRIPT, str(theirs.fileno()), str(MOST_DESCRIPTORS)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                pass_fds=(theirs.fileno(),),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.settimeout(START_PATIENCE)
        atexit.register(self.blocking_end)
        self._without_waiting = ours.dup()
        self._without_waiting.setblocking(False)
        self._channel, self._owner = ours, os.getpid()
        self._number += 1
        return ours

    def _blocking_end(self) -> None:
        atexit.unregister(self.blocking_end)
        for end in (self._channel, self._without_waiting):
            if end is not None:
                end.close()
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        self._channel = self._without_waiting = self._process = None


@contextlib.contextmanager
def _rights(request: bytes, descriptors: Sequence[int]) -> Iterator[list[tuple[int, int, array.array[int]]]]:
    """What a datagram carries: the request in a memory file, and these descriptors."""
    memory = os.memfd_create("request", os.MFD_CLOEXEC)
    try:
        with open(memory, "wb", closefd=False) as file:
            file.write(request)
        yield [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory, *descriptors]))]
    finally:
        os.close(memory)


fork_server = ForkServer()


async def fork_supervised(
    start: Start, *, stdin: int | None, stdout: int | None, stderr: int | None, limit: int
) -> tuple[asyncio.subprocess.Process, socket.socket]:
    """Have the fork server start a program; its process, and the line to its supervisor.

    Cancelled: nothing is left running. Raises:
        NoForkServer: the kernel does not let it.
        OSError: it cannot be started; nothing was.
    """
    if sys.platform != "linux" or not fork_server.usable:
        raise NoForkServer("not on this system")
    if len(start.descriptors()) > MOST_DESCRIPTORS - 5:
        raise NoForkServer(f"more than {MOST_DESCRIPTORS} descriptors")
    streams = _Streams(stdin, stdout, stderr, limit)
    # Copies: whoever waits for this may be cancelled and close its own before they are sent.
    descriptors = [*streams.theirs]
    try:
        descriptors += map(os.dup, start.descriptors())
    except BaseException:
        streams.close_all(descriptors)
        raise
    starting = asyncio.ensure_future(_start(start, streams, descriptors))
    try:
        process, line = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.ensure_future(_end_started(starting)))
        raise
    return process.process, line


async def _end_started(starting: asyncio.Future[tuple[_Forked, socket.socket]]) -> None:
    with contextlib.suppress(OSError, NoForkServer):
        process, line = await starting
        line.close()  # which kills the program and all that it started
        await process.ended.wait()
        process.transport.close()


async def _start(start: Start, streams: _Streams, descriptors: list[int]) -> tuple[_Forked, socket.socket]:
    try:
        pid, line = await _started(start.request(), descriptors)
        try:
            return await _attach(pid, start.argv, streams), line
        except BaseException:
            line.close()
            await asyncio.to_thread(_blocking_reap, pid)
            raise
    finally:
        streams.close_all(descriptors)


async def _started(request: bytes, descriptors: Sequence[int]) -> tuple[int, socket.socket]:
    """Number and line of the supervisor, once it has reported itself."""
    for _ in range(TRIES):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            try:
                carried = [theirs.fileno(), *descriptors]
                number = fork_server.send_at_once(request, carried)
                if number is None:
                    number = await asyncio.to_thread(fork_server.blocking_send, request, carried)
            finally:
                theirs.close()
            try:
                return await _reported(ours, number), ours
            except _Lost:
                # It ends, but may not have ended yet and still take a request.
                await asyncio.to_thread(fork_server.blocking_end, number)
                ours.close()
        except BaseException:
            ours.close()
            raise
    raise OSError(errno.EIO, "the process that starts programs ended again and again; nothing was started")


async def _reported(line: socket.socket, number: int) -> int:
    """What the supervisor says first: its process number. Ends the fork server of this number if it says nothing."""
    loop = asyncio.get_running_loop()
    said = b""
    while len(said) < REPORT:
        try:
            async with asyncio.timeout(START_PATIENCE):
                more = await loop.sock_recv(line, REPORT - len(said))
        except TimeoutError:
            # It was stopped. Its end closes its end of the line, if it has not started anything.
            await asyncio.to_thread(fork_server.blocking_end, number)
            continue
        except ConnectionError:
            more = b""
        if not more:
            raise _Lost
        said += more
    value = int(said[1:])
    if said.startswith(b"P"):
        return value
    if value in (errno.ENOSYS, errno.EPERM):
        fork_server.usable = False
        raise NoForkServer(os.strerror(value))
    raise OSError(value, os.strerror(value))


class _Streams:
    """The three streams of a program: the ends it gets, and ours, which are for a transport."""

    def __init__(self, stdin: int | None, stdout: int | None, stderr: int | None, limit: int) -> None:
        self.given = (stdin, stdout, stderr)
        self.limit = limit
        self.theirs: list[int] = []
        self.ours: list[IO[bytes] | None] = []
        self.taken = False
        try:
            for number, given in enumerate(self.given):
                self._open(number, given)
        except BaseException:
            self.close_all(self.theirs)
            raise

    def _open(self, number: int, given: int | None) -> None:
        ours: IO[bytes] | None = None
        if given == subprocess.PIPE:
            reading, writing = os.pipe2(os.O_CLOEXEC)
            theirs, other = (reading, writing) if number == 0 else (writing, reading)
            ours = open(other, "wb" if number == 0 else "rb", buffering=0)  # noqa: SIM115  closed with the transport
        elif given == subprocess.DEVNULL:
            theirs = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        elif given == subprocess.STDOUT:
            theirs = os.dup(self.theirs[1])
        else:
            theirs = os.dup(number if given is None else given)
        self.theirs.append(theirs)
        self.ours.append(ours)

    def close_all(self, descriptors: Sequence[int]) -> None:
        """Close these, and our ends unless a transport has them."""
        for descriptor in descriptors:
            os.close(descriptor)
        if not self.taken:
            for file in self.ours:
                if file is not None:
                    file.close()


class _Forked:
    """A child of this process that was forked for it, as `asyncio` takes one from `subprocess.Popen`."""

    process: asyncio.subprocess.Process
    transport: _Transport

    def __init__(self, pid: int, streams: Sequence[IO[bytes] | None]) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = streams
        self.returncode: int | None = None
        self.ended = asyncio.Event()

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Transport(base_subprocess.BaseSubprocessTransport):
    """The streams and the end of a process that is there already."""

    def _start(self, process: Any, **_options: Any) -> None:  # type: ignore[override]
        self._proc = process


async def _attach(pid: int, argv: Sequence[str], streams: _Streams) -> _Forked:
    """The process with its streams on this event loop."""
    loop = asyncio.get_running_loop()
    forked = _Forked(pid, streams.ours)
    pidfd = os.pidfd_open(pid)
    protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=streams.limit, loop=loop)
    ready: asyncio.Future[None] = loop.create_future()
    transport: Any = _Transport(loop, protocol, argv, False, *streams.given, 0, waiter=ready, process=forked)  # type: ignore[call-arg]
    streams.taken = True
    forked.transport = transport

    def ended() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        transport._process_exited(_blocking_reap(pid))
        forked.ended.set()

    loop.add_reader(pidfd, ended)
    await ready
    forked.process = asyncio.subprocess.Process(transport, protocol, loop)
    return forked


def _blocking_reap(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 255  # as in asyncio, if somebody else has taken its status
