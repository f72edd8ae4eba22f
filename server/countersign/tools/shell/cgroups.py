"""A control group (cgroup v2) for each program that is started, where the system lets us make one.

The kernel keeps every descendant of a program in its group, whatever session, environment or parent it gives itself,
and ``cgroup.kill`` ends them all in one step, also if a command killed both its supervisor and the server: the next
server ends what stands in groups whose server is gone. Where systemd runs, only a group that it delegated is ours to
divide. Elsewhere ``supervised.py`` relies on the sub-reaper and on marks alone. A program of the same user can still
move itself into another group by writing to the control files; it is then a descendant like any other.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

_OURS = re.compile(r"countersign-(\d+)-([0-9a-f]+)")
_DELEGATED = ("user.delegate", "trusted.delegate")
"""Extended attributes that systemd sets on a group whose inside is its owner's own."""
PATIENCE = 1.0
"""Seconds in which the kernel ends whoever was told to end."""


class Groups(NamedTuple):
    """Where groups can be made, or why nowhere."""

    folder: Path | None
    reason: str = ""


@cache
def blocking_groups() -> Groups:
    """Try out once whether groups can be made here; end what servers that are gone left in theirs."""
    try:
        folder = _own_group()
        if folder is None:
            return Groups(None, "there is no cgroup v2")
        if Path("/run/systemd/system").exists() and not _is_delegated(folder):
            return Groups(None, "systemd did not delegate the server's cgroup")
        tried = folder / f"countersign-{os.getpid()}-0"
        tried.mkdir()
        try:
            if not (tried / "cgroup.kill").exists():
                return Groups(None, "the kernel has no cgroup.kill")
            with open(tried / "cgroup.procs", "rb+", buffering=0):
                pass
        finally:
            tried.rmdir()
    except OSError as error:
        return Groups(None, f"cgroups cannot be made here ({os.strerror(error.errno or 0).lower()})")
    _blocking_sweep(folder)
    return Groups(folder)


def blocking_make(mark: str) -> tuple[Path, int] | None:
    """Make the group of one program; its folder, and the descriptor through which a process joins it."""
    folder = blocking_groups().folder
    if folder is None:
        return None
    group = folder / f"countersign-{os.getpid()}-{mark}"
    try:
        group.mkdir()
        return group, os.open(group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        with suppress(OSError):
            group.rmdir()
        return None


def blocking_end(group: Path, patience: float = PATIENCE) -> None:
    """KILL whoever is in the group, and remove it once they are gone, within so many seconds."""
    with suppress(OSError):
        (group / "cgroup.kill").write_text("1")
    until = time.monotonic() + patience
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > until:
                return
            time.sleep(0.002)
        else:
            return


def _blocking_sweep(folder: Path) -> None:
    for name in os.listdir(folder):
        if (found := _OURS.fullmatch(name)) is not None and not _runs(int(found[1])):
            blocking_end(folder / name)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _own_group() -> Path | None:
    """The folder of the cgroup v2 that this process is in."""
    path = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), "")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 ") and path:
            root, place = before.split()[3:5]
            inside = path if root == "/" else path.removeprefix(root)
            return Path(place.replace("\\040", " ") + inside).resolve()
    return None


def _is_delegated(folder: Path) -> bool:
    for name in _DELEGATED:
        with suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False
