"""The states of files that an approval is bound to, read through a descriptor.

INVARIANT (same bytes): a call is bound to these states when its card is drawn, and they are looked at again when the
answer comes and at the moment of use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

from countersign.gate.call import FileState, RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.workers import check_cancelled

CHUNK = 1 << 20
MOST_HASHED = 256 << 20
"""Bytes that are hashed for one call; further files are known by their identity."""
IDENTITY = "identity:"
"""Begins the state of a file that was not hashed."""
OPENS_LATER = "files may change before this runs"
"""What is left of a shell command: only the scripts that it names are bound to its card; another file that it names can
be another one by the time it opens it."""


def blocking_state(path: str) -> FileState:
    """Return the state of the regular file that ``path`` leads to now; a file that cannot be read counts as absent.

    The state covers the targets of links: putting a link in the file's place, or pointing it at another file, changes
    the state.
    """
    return _Hashing().state(path)


def blocking_states(paths: Iterable[str]) -> tuple[FileState, ...]:
    """Return the states of several files, each path once, in order."""
    hashing = _Hashing()
    return tuple(hashing.state(path) for path in dict.fromkeys(paths))


def blocking_still_true(call: ToolCall) -> bool:
    """Return true if every file that the call is bound to is as it was."""
    return all(_same(state) for state in call.bound)


def risks_left(call: ToolCall, decision: Decision) -> tuple[str, ...]:
    """What binding cannot keep from changing, for the card: where a command runs a script or writes to a file."""
    if not any(isinstance(effect, RunCommand) for effect in call.effects):
        return ()
    writes = any(each.finding.kind == "write" for each in decision.weighed)
    return (OPENS_LATER,) if decision.scripts or writes else ()


class _Hashing:
    """Hashes the files of one call. A class because they share the bound in bytes."""

    def __init__(self) -> None:
        self._left = MOST_HASHED

    def state(self, path: str, *, by_identity: bool = False) -> FileState:
        """Return the state of the file, by its content while bytes are left."""
        try:
            target = os.path.realpath(path, strict=True)
        except OSError:
            return FileState(path, None)
        found = self._state(target, 0 if by_identity else self._left)
        if target == path:
            return FileState(path, found)
        linked = hashlib.sha256(f"link\0{target}\0{found}".encode(errors="surrogateescape")).hexdigest()
        return FileState(path, f"{IDENTITY}{linked}" if found is not None and found.startswith(IDENTITY) else linked)

    def _state(self, target: str, most: int) -> str | None:
        try:
            descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            digest, size = hashlib.sha256(), 0
            if status.st_size <= most:
                while size <= most and (piece := os.read(descriptor, CHUNK)):
                    check_cancelled()
                    digest.update(piece)
                    size += len(piece)
            self._left = max(0, self._left - size)
            return digest.hexdigest() if max(size, status.st_size) <= most else _identity(os.fstat(descriptor))
        except OSError:
            return None
        finally:
            os.close(descriptor)


def _identity(status: os.stat_result) -> str:
    """Return what changes whenever a file is replaced or written to."""
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return IDENTITY + hashlib.sha256(repr(identity).encode()).hexdigest()


def _same(state: FileState) -> bool:
    by_identity = state.sha256 is not None and state.sha256.startswith(IDENTITY)
    return _Hashing().state(state.path, by_identity=by_identity) == state
