"""This process's stdin and stdout, and no other way in: no port, nothing to attach to.

Neither a client that stops reading nor one that sends slowly holds up the event loop: pipes and sockets are read and
written when they are ready, and what the system cannot tell that of (files, terminals, Windows' pipes) has a thread.
How the bytes are framed is left to `frames`, and what the messages mean to `bridge`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import socket
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from countersign.lsp.base_protocol import Decoder

if sys.platform != "win32":
    import fcntl

BACKLOG = 64 << 20
"""Bytes that may wait for a client to read them. Two of the largest messages: a client that is further behind hangs."""
BEHIND = 2 << 20
"""Bytes that wait for a client that does not keep up."""
WIDTH = 1 << 20
"""Bytes that may wait in the pipe or socket to the client."""
CHUNK = 64 << 10
"""Bytes read at once: what a pipe holds, and small enough that the allocator keeps it at hand."""

log = logging.getLogger(__name__)


def claim_stdio() -> tuple[int, int]:
    """Private descriptors of stdin and stdout.

    From here on descriptor 0 is empty and 1 is stderr, here and in every child: a stray `print`, or a tool that reads
    its stdin, cannot take part in the conversation.
    """
    sys.stdout.flush()
    private = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 (exists on Windows only)

        for descriptor in private:
            msvcrt.setmode(descriptor, os.O_BINARY)
    return private


def start_reader(
    descriptor: int,
    loop: asyncio.AbstractEventLoop,
    receive: Callable[[list[Any]], None],
    ended: Callable[[], None],
) -> None:
    """Calls ``receive`` on the loop with what came, batch after batch, and ``ended`` once at the end of input.

    Nothing is read ahead of the loop but one batch: the rest waits in the pipe, which slows the sender and nobody else.
    """
    decoder = Decoder()

    def read_ready() -> None:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            log.warning("reading from the client failed: %s", error)
            data = b""
        if not data:
            loop.remove_reader(descriptor)
            ended()
        elif batch := decoder.feed(data):
            receive(batch)

    if _tells_when_ready(descriptor):
        loop.add_reader(descriptor, read_ready)
    else:
        work = (descriptor, decoder, loop, receive, ended)
        threading.Thread(target=_blocking_read, args=work, name="wire reader", daemon=True).start()


class Writer:
    """Keeps what the client has not read yet, up to `BACKLOG` bytes. It belongs to the loop's thread.

    Past that bound the client is taken for dead and ``lost`` is called. Waiting would freeze every other chat;
    dropping single messages would break "exactly once" and the gaplessness of ``seq``; so the connection ends, nobody
    is there to ask any more, and the gate denies. One message alone may be larger than the bound.
    """

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop, lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._lost = lost
        self._waiting: deque[bytes | memoryview] = deque()
        self._bytes = 0
        self._open = True
        self._dead = False
        self._busy = False
        self._empty = asyncio.Event()
        self._empty.set()
        self._thread_work: queue.SimpleQueue[bytes | memoryview] | None = None
        if _tells_when_ready(descriptor):
            os.set_blocking(descriptor, False)
            _widen(descriptor)
        else:
            self._thread_work = queue.SimpleQueue()
            threading.Thread(target=self._blocking_write, args=(self._thread_work,), daemon=True).start()

    @property
    def is_behind(self) -> bool:
        """Whether so much waits for the client that whoever sends much should wait."""
        return self._bytes > BEHIND

    def send(self, frame: bytes) -> bool:
        """Takes the frame and returns at once; False when the connection is over.

        It goes out in the loop's next step, together with all that is sent until then.
        """
        if not self._open:
            return False
        if self._bytes and self._bytes + len(frame) > BACKLOG:
            log.error("the client has not read %d bytes; the connection ends here", self._bytes)
            self._end()
            return False
        self._waiting.append(frame)
        self._bytes += len(frame)
        if not self._busy:
            self._busy = True
            self._empty.clear()
            self._loop.call_soon(self._write)
        return True

    async def close(self, bound: float) -> None:
        """Takes nothing more and waits up to ``bound`` seconds until what there is has been written."""
        self._open = False
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), bound)
        self._dead = True

    # While busy, exactly one step is to come: `_write` from the loop, or `_written` from the thread. Once dead, none.

    def _write(self) -> None:
        if self._dead:
            return
        data = self._next_block()
        if self._thread_work is not None:
            self._thread_work.put(data)
            return
        try:
            size = os.write(self._descriptor, data)
        except BlockingIOError:
            size = 0
        except OSError as error:
            self._failed(error)
            return
        self._written(data, size)

    def _next_block(self) -> bytes | memoryview:
        """Take what is written next: short frames joined up to ``CHUNK``, a long one alone.

        What a write leaves over is never copied with all that waits behind it: the time would grow with the square.
        """
        first = self._waiting.popleft()
        length, joined = len(first), [first]
        while self._waiting and length + len(self._waiting[0]) <= CHUNK:
            joined.append(self._waiting.popleft())
            length += len(joined[-1])
        return first if len(joined) == 1 else b"".join(joined)

    def _written(self, data: bytes | memoryview, size: int) -> None:
        if self._dead:
            return
        self._bytes -= size
        if size < len(data):
            self._waiting.appendleft(memoryview(data)[size:])
            self._loop.add_writer(self._descriptor, self._write_on)
        elif self._waiting:
            self._loop.call_soon(self._write)
        else:
            self._busy = False
            self._empty.set()

    def _write_on(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._write()

    def _failed(self, error: OSError) -> None:
        log.warning("writing to the client failed: %s", error)
        self._end()

    def _end(self) -> None:
        self._open, self._dead = False, True
        self._waiting.clear()
        self._empty.set()
        self._lost()

    def _blocking_write(self, work: queue.SimpleQueue[bytes | memoryview]) -> None:
        while True:
            data = work.get()
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                _call(self._loop, self._failed, error)
                return
            _call(self._loop, self._written, data, len(data))


def _widen(descriptor: int) -> None:
    """Let as much wait in the pipe or socket as the system allows; where it allows no more, that is no fault.

    Each step of a busy event loop writes what fits into it once: with a pipe's usual 64 KiB, a short answer behind some
    megabytes of other chats would wait for a hundred steps.
    """
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            with socket.socket(fileno=os.dup(descriptor)) as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WIDTH)
        elif sys.platform == "linux":
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDTH)


def _tells_when_ready(descriptor: int) -> bool:
    """Whether the loop can wait for this descriptor, and not blocking on it concerns nobody else."""
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _blocking_read(
    descriptor: int,
    decoder: Decoder,
    loop: asyncio.AbstractEventLoop,
    receive: Callable[[list[Any]], None],
    ended: Callable[[], None],
) -> None:
    free = threading.Semaphore(1)

    def take(batch: list[Any]) -> None:
        free.release()
        receive(batch)

    try:
        while data := os.read(descriptor, CHUNK):
            if batch := decoder.feed(data):
                free.acquire()
                _call(loop, take, batch)
    except OSError as error:
        log.warning("reading from the client failed: %s", error)
    _call(loop, ended)


def _call(loop: asyncio.AbstractEventLoop, what: Callable[..., None], *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: the server ended first
        loop.call_soon_threadsafe(what, *arguments)
