"""Run one bash for one text inside the sandbox, and read its two pipes.

The pipes end when the last process of a text has ended, so nothing that it left in the background is missed.
"""

import contextlib
import os
import resource
import select
import signal
import time

STARTED = 9
"""The descriptor through which stub programs report that they were started."""


def limit_resources() -> None:
    """Bound the size of files and the number of processes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NPROC, (500, 500))


def run_bash(
    command: list,
    environment: dict,
    *,
    descriptors: tuple,
    seconds: float,
    enough: int,
    folder: str = "/tmp/ws",
) -> tuple[bytes, bytes, int, bool]:
    """Run a command in a folder; return what came through ``STARTED``, what came through the other descriptors,
    its status, and whether it was killed because it took too long or told too much."""
    started, other = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(folder)
        # Out of the way first: the pipes may have the very numbers that they are to get.
        log, out = (os.dup2(end, number, inheritable=False) for end, number in ((started[1], 60), (other[1], 61)))
        os.dup2(log, STARTED)
        silent = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        for number in descriptors:
            os.dup2(out, number)
        for number in range(3, 64):
            if number not in (STARTED, *descriptors):
                with contextlib.suppress(OSError):
                    os.close(number)
        os.execve(command[0], command, environment)
    os.close(started[1])
    os.close(other[1])
    heard, cut = _listen((started[0], other[0]), child, seconds, enough)
    os.close(started[0])
    os.close(other[0])
    _, status = os.waitpid(child, 0)
    return heard[0], heard[1], status, cut


def records_in(heard: bytes) -> list:
    """Return what the stubs reported: each a list of texts."""
    return [record.split("\0") for record in heard.decode(errors="replace").split("\0\1\0")[:-1]]


def _listen(pipes: tuple, child: int, seconds: float, enough: int) -> tuple:
    """All that comes out of the pipes until both have ended, or the time is up and everybody is killed."""
    heard, open_pipes, end = dict.fromkeys(pipes, b""), list(pipes), time.monotonic() + seconds
    while open_pipes and (left := end - time.monotonic()) > 0 and max(map(len, heard.values())) < enough:
        for pipe in select.select(open_pipes, [], [], left)[0]:
            piece = os.read(pipe, 65536)
            heard[pipe] += piece
            if not piece:
                open_pipes.remove(pipe)
    if open_pipes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    return [heard[pipe] for pipe in pipes], bool(open_pipes)
