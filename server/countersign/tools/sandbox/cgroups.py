"""Control groups that bound the processes and the memory of one sandbox, where this user may make them.

On most desktops only the service manager may make groups, so often there are none: ``bounds_of`` says which bounds
there are. A command joins its groups in the supervisor's child (``namespaces.py``); they are removed when it has ended.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOST_PROCESSES = 4096
MEMORY_SHARE = 0.75
"""Of the machine's memory, what one command and all that it starts may use."""
REMOVAL_PATIENCE = 1.0
"""Seconds to wait for the kernel to let go of the last process of a group."""
_CGROUP = Path("/sys/fs/cgroup")
_PROBE_NAME = "countersign-probe"


@dataclass(frozen=True, slots=True)
class Parents:
    """The folders in which groups can be made; the same one twice under version 2, None where there is none."""

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


def blocking_make(name: str) -> tuple[Path, ...]:
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
        until = time.monotonic() + REMOVAL_PATIENCE
        while True:
            try:
                group.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                if time.monotonic() < until:
                    time.sleep(0.005)
                    continue
            break


def blocking_left(prefix: str) -> list[Path]:
    """The groups whose names begin so, of this server or another."""
    parents = blocking_parents()
    folders = {parent for parent in (parents.processes, parents.memory) if parent is not None}
    return [group for folder in folders for group in folder.glob(f"{prefix}*")]


def memory_limit() -> int:
    """Bytes that one sandbox may use."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE)


def bounds_of(parents: Parents, *, root: bool) -> tuple[str, ...]:
    """What is bounded on this machine and what is not, each in one clause."""
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


def _own_groups() -> dict[str, str]:
    """The group of this process for each controller; under the empty name, that of version 2."""
    own: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _number, controllers, path = line.split(":", 2)
            own |= dict.fromkeys(controllers.split(","), path)
    return own


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
        with contextlib.suppress(OSError):
            probe.rmdir()


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
