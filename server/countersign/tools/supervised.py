"""Starting a program that does not outlive the server: the near end of ``supervisor``.

INVARIANT (a clean child): commands and hosted agents are started here and nowhere else, with exactly the environment
that is given, in a session of their own, and leave nobody behind, even after ``kill -9`` of the server.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
STOP_PATIENCE = 4.0
"""Seconds that ``stop`` waits: the supervisor's two of grace, and as much again for a busy machine."""


class Supervised:
    """A running program. Holds the pipe whose end is the program's end.

    Streams, ``pid`` (the supervisor's), ``returncode`` and ``wait`` are those of ``asyncio.subprocess.Process``.
    """

    def __init__(self, process: asyncio.subprocess.Process, control: int) -> None:
        self._process = process
        self._control: int | None = control
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.pid = process.pid

    def __del__(self) -> None:
        # Once this is gone, nobody could stop it any more.
        self._close()

    @property
    def returncode(self) -> int | None:
        """The program's own: negative for a signal, None while it or anything it started runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it and everything it started has ended. Cancelled: it runs on."""
        returncode = await self._process.wait()
        self._close()
        return returncode

    def terminate(self) -> None:
        """Ask it to end: TERM to its process group, KILL to every descendant two seconds later. Does not wait."""
        if self._control is not None:
            with suppress(OSError):
                os.write(self._control, b"T")
            self._wake_supervisor()

    def kill(self) -> None:
        """KILL every descendant now. Does not wait."""
        if self._control is not None:
            self._close()
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
            # It hangs in the kernel, or somebody did something to the supervisor itself.
            self._process.kill()
            return await self.wait()

    def _close(self) -> None:
        if self._control is not None:
            control, self._control = self._control, None
            os.close(control)

    def _wake_supervisor(self) -> None:
        # A program can stop its own supervisor, but not keep it so.
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)


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
) -> Supervised:
    """Start a program under supervision. ``cwd`` is a path or a descriptor of a folder; the rest is as in asyncio.

    Cancelled: nothing is left running.

    Raises:
        FileNotFoundError: there is no such program on the PATH of ``env``.
        OSError: it cannot be started.
    """
    if shutil.which(argv[0], path=env.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    reading, writing = os.pipe()
    folder = cwd if isinstance(cwd, int) else -1
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-E", SUPERVISOR, str(reading), str(folder), *argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            limit=limit,
            env={f"E{name}": value for name, value in env.items()},
            cwd=cwd if isinstance(cwd, str) else None,
            pass_fds=(reading, *((folder,) if folder >= 0 else ()), *pass_fds),
            start_new_session=True,
        )  # fmt: skip
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return Supervised(process, writing)
