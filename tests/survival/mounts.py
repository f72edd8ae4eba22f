"""Folders that are small or read-only: mounts of their own in a namespace that nobody else sees, gone with its holder.

As root in a mount namespace, else in a user namespace in which we are root. Servers are started inside; the test looks
in through the holder's ``/proc`` entry.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.patience import PATIENCE
from tests.stdio.peer import BOUND, Peer

ROOT = os.geteuid() == 0
APART = ("unshare", "--mount") if ROOT else ("unshare", "--mount", "--map-root-user")
INTO = ("--mount",) if ROOT else ("--user", "--preserve-credentials", "--mount")


@cache
def why_not() -> str | None:
    """Why nothing can be mounted here, None where it can."""
    missing = [program for program in ("unshare", "nsenter", "mount") if shutil.which(program) is None]
    if missing:
        return f"`{missing[0]}` is missing (Debian: util-linux, mount)"
    tried = subprocess.run(
        [*APART, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return f"nothing can be mounted here: {tried.stderr.strip()}" if tried.returncode else None


def small(folder: Path, kilobytes: int) -> str:
    """The command that puts a file system of this size on the folder."""
    return f"mount -t tmpfs -o size={kilobytes}k tmpfs '{folder}'"


def read_only(folder: Path) -> str:
    """The command that makes the folder and what is below it read-only, for root too."""
    return f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'"


@dataclass(frozen=True)
class Inside:
    """The namespace, by the process that holds it."""

    holder: int

    def server(self, **environment: str) -> Peer:
        """A server that sees the mounts; not started yet."""
        plain = Peer.python("-m", "countersign", "serve", env={**os.environ, **environment})
        return Peer(["nsenter", "--target", str(self.holder), *INTO, "--", *plain.argv], env=plain.env)

    def seen(self, path: Path) -> Path:
        """The path as it is inside."""
        return Path(f"/proc/{self.holder}/root{path}")

    def blocking_copy(self, folder: Path, to: Path) -> Path:
        """The folder's files as they are now, out here: a path that SQLite resolved leads nowhere."""
        shutil.rmtree(to, ignore_errors=True)
        return shutil.copytree(self.seen(folder), to, ignore=shutil.ignore_patterns("*-shm", "filler"))


@asynccontextmanager
async def mounted(*commands: str) -> AsyncIterator[Inside]:
    """A namespace in which these commands have been carried out."""
    words: Sequence[str] = (*APART, "sh", "-c", " && ".join([*commands, "echo ready && exec cat"]))
    holder = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        said = await asyncio.wait_for(holder.stdout.readline(), BOUND)
        assert said == b"ready\n", "the mounts could not be made; see stderr"
        yield Inside(holder.pid)
    finally:
        holder.stdin.close()
        await asyncio.wait_for(holder.wait(), BOUND)


def fill(folder: Path) -> Path:
    """Leave not a byte free; removing the file that is given back frees all."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler
