"""Control groups, where the system lets us make them: one (cgroup v2) for each program that is started, and those that
bound the processes and the memory of one sandbox (also version 1).

The kernel keeps every descendant of a program in its group, whatever session, environment or parent it gives itself,
and ``cgroup.kill`` ends them all in one step, also if a command killed both its supervisor and the server: the next
server ends what stands in groups whose server is gone. Where systemd runs, only a group that it delegated is ours to
divide. Elsewhere ``supervised.py`` relies on the sub-reaper and on marks alone. A program of the same user can still
move itself into another group by writing to the control files; it is then a descendant like any other.

On most desktops only the service manager may make groups that bound, so often there are none: ``bounds_of`` says which
bounds there are. A command joins them in the supervisor's child (``sandbox/namespaces.py``).
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

_OURS = re.compile(r"countersign-(\d{1,9})-([0-9a-f]+)")
_DELEGATED = ("user.delegate", "trusted.delegate")
"""Extended attributes that systemd sets on a group whose inside is its owner's own."""
PATIENCE = 1.0
"""Seconds in which the kernel ends whoever was told to end, and lets go of the last process of a group."""
MOST_PROCESSES = 4096
MEMORY_SHARE = 0.75
"""Of the machine's memory, what one command and all that it starts may use."""
_CGROUP = Path("/sys/fs/cgroup")
_PROBE_NAME = "countersign-probe"


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


def blocking_make_group(mark: str) -> tuple[Path, int] | None:
    """Make the group of one program; its folder, and a descriptor of that."""
    folder = blocking_groups().folder
    if folder is None:
        return None
    group = folder / f"countersign-{os.getpid()}-{mark}"
    try:
        group.mkdir()
        return group, os.open(group, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        with suppress(OSError):
            group.rmdir()
        return None


def blocking_end(group: Path, patience: float = PATIENCE) -> None:
    """KILL whoever is in the group, and remove it once they are gone, within so many seconds."""
    with suppress(OSError):
        (group / "cgroup.kill").write_text("1")
    _blocking_remove(group, patience)


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
    path = _own_groups().get("", "")
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


# --- bounds of a sandbox ---


@dataclass(frozen=True, slots=True)
class Parents:
    """The folders in which groups can be made: the same folder twice under version 2, None for a missing one."""

    processes: Path | None = None
    memory: Path | None = None


@cache
def blocking_parents() -> Parents:
    """Find where this process may make groups, by making one of each kind. Looked up once for each server."""
    own = _own_groups()
    unified = _CGROUP if (_CGROUP / "cgroup.controllers").exists() else None
    if unified is not None and "" in own:
        folder = _below(unified, own[""])
        enabled = _words(folder / "cgroup.subtree_control")
        return Parents(
            folder if "pids" in enabled and _usable(folder, "pids.max") else None,
            folder if "memory" in enabled and _usable(folder, "memory.max") else None,
        )
    found: list[Path | None] = []
    for controller, limit in (("pids", "pids.max"), ("memory", "memory.limit_in_bytes")):
        folder = _below(_CGROUP / controller, own[controller]) if controller in own else None
        found.append(folder if folder is not None and _usable(folder, limit) else None)
    return Parents(*found)


def blocking_make_bounded(name: str) -> tuple[Path, ...]:
    """Make the groups of one sandbox under this name.

    Raises:
        OSError: one cannot be made, although the machine had room for it before.
    """
    parents, memory = blocking_parents(), memory_limit()
    made: dict[Path, None] = {}
    for parent, limits in (
        (parents.processes, {"pids.max": MOST_PROCESSES}),
        (
            parents.memory,
            {"memory.max": memory, "memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        ),
    ):
        if parent is None:
            continue
        group = parent / name
        group.mkdir(exist_ok=True)
        made[group] = None
        for file, value in limits.items():
            if (group / file).exists():
                (group / file).write_text(str(value))
    return tuple(made)


def blocking_remove(groups: tuple[Path, ...]) -> None:
    """Remove the groups of a sandbox whose processes have ended."""
    for group in groups:
        _blocking_remove(group, PATIENCE)


def blocking_left(prefix: str) -> list[Path]:
    """The groups whose names begin so, of this server or another."""
    parents = blocking_parents()
    folders = {parent for parent in (parents.processes, parents.memory) if parent is not None}
    return [group for folder in folders for group in folder.glob(f"{prefix}*")]


def memory_limit() -> int:
    """Bytes that one sandbox may use."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE)


def bounds_of(parents: Parents, *, root: bool) -> tuple[str, ...]:
    """Say in one clause each which resources this machine bounds, and which it does not."""
    if parents.processes is not None:
        processes = f"at most {MOST_PROCESSES} processes (control group)"
    elif root:
        processes = "the number of processes is not bounded: no control group can be made, and root has no other limit"
    else:
        processes = f"at most {MOST_PROCESSES} processes of this user (RLIMIT_NPROC)"
    if parents.memory is not None:
        memory = f"at most {memory_limit() >> 20} MiB of memory (control group)"
    else:
        memory = "memory is not bounded: no control group can be made here"
    return processes, memory, "disk space is not bounded, but /tmp and the private home hold 1 GiB each"


def _below(folder: Path, path: str) -> Path:
    return folder / path.lstrip("/")


def _usable(folder: Path, limit: str) -> bool:
    probe = folder / f"{_PROBE_NAME}-{os.getpid()}"
    try:
        probe.mkdir(exist_ok=True)
    except OSError:
        return False
    try:
        return os.access(probe / limit, os.W_OK) and os.access(probe / "cgroup.procs", os.W_OK)
    finally:
        with suppress(OSError):
            probe.rmdir()


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _own_groups() -> dict[str, str]:
    """The group of this process for each controller; under the empty name, that of version 2."""
    own: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _number, controllers, path = line.split(":", 2)
            own |= dict.fromkeys(controllers.split(","), path)
    return own


def _blocking_remove(group: Path, patience: float) -> None:
    """Remove a group once the kernel has let go of its last process, within so many seconds."""
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
