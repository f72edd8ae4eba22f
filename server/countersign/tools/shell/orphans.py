"""Processes that lost their supervisor: found as children of this server, and ended.

A program can kill its own supervisor. Whoever it started then passes to the next sub-reaper above, and that is this
process, whatever session, environment or parent they gave themselves. Only Linux has sub-reapers; elsewhere a process
that leaves its session after its supervisor was killed cannot be found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from functools import cache

_SUBREAPER = 36  # from <sys/prctl.h>


@cache
def become_subreaper() -> bool:
    """Have orphans of our descendants become our children; whether the system can. Asked once."""
    if sys.platform != "linux":
        return False
    try:
        return ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def blocking_foreign_children() -> set[int]:
    """Return our children outside our own session: supervisors and orphans. What we start otherwise stays in it."""
    ourselves, session = os.getpid(), os.getsid(0)
    return {pid for pid, (parent, theirs) in _processes().items() if parent == ourselves and theirs != session}


def blocking_end(orphans: set[int]) -> None:
    """KILL these children of ours and all below them, and take in their status."""
    stopped: set[int] = set()
    # Stopped first, so that none forks while the others are killed.
    while family := _family(orphans) - stopped:
        _signal_all(family, signal.SIGSTOP)
        stopped |= family
    _signal_all(stopped, signal.SIGKILL)
    for orphan in orphans:
        with suppress(OSError):
            os.waitpid(orphan, 0)


def _family(roots: set[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    known = _processes()
    for pid, (parent, _session) in known.items():
        children.setdefault(parent, []).append(pid)
    found, ahead = set[int](), [root for root in roots if root in known]
    while ahead:
        pid = ahead.pop()
        found.add(pid)
        ahead += children.get(pid, ())
    return found


def _signal_all(processes: set[int], number: int) -> None:
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def _processes() -> dict[int, tuple[int, int]]:
    """Return parent and session of every process; zombies too, for they wait to be taken in."""
    found: dict[int, tuple[int, int]] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                text = file.read(1024)
                # The program's name stands in brackets and may itself hold brackets and blanks.
                _state, parent, _group, session = text[text.rfind(b")") + 2 :].split(None, 4)[:4]
                found[int(name)] = (int(parent), int(session))
    return found
