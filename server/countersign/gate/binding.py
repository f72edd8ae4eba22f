"""The states of files that an approval is bound to, read through a descriptor.

INVARIANT (same bytes): a call is bound to these states when its card is drawn, and they are looked at again when the
answer comes and at the moment of use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

from .call import FileState, RunCommand, ToolCall
from .verdict import Decision

CHUNK = 1 << 20
MOST_HASHED = 256 << 20
"""Bytes of a file that is read to its end."""
OPENS_LATER = "opens its files when it runs; only the scripts that it names are bound to this card"
"""The risk that is left of a shell command: what it names can be another file by the time it opens it."""


def blocking_state(path: str) -> FileState:
    """The state of the regular file that ``path`` leads to now; anything that cannot be read as one counts as absent.

    Where links lead to it, the state is of where they lead as well, so a link that is put in a file's place, or turned
    round to another file, is a change like any other.
    """
    try:
        target = os.path.realpath(path, strict=True)
    except OSError:
        return FileState(path, None)
    content = _blocking_content(target)
    if target == path:
        return FileState(path, content)
    return FileState(path, hashlib.sha256(f"link\0{target}\0{content}".encode(errors="surrogateescape")).hexdigest())


def blocking_states(paths: Iterable[str]) -> tuple[FileState, ...]:
    """The states of several files, each path once, in order."""
    return tuple(blocking_state(path) for path in dict.fromkeys(paths))


def blocking_still_true(call: ToolCall) -> bool:
    """Whether every file that the call is bound to is as it was."""
    return all(blocking_state(state.path) == state for state in call.bound)


def risks_left(call: ToolCall, decision: Decision) -> tuple[str, ...]:
    """What binding cannot keep from changing, for the card: where a command runs a script or writes to a file."""
    if not any(isinstance(effect, RunCommand) for effect in call.effects):
        return ()
    writes = any(each.finding.kind == "write" for each in decision.weighed)
    return (OPENS_LATER,) if decision.scripts or writes else ()


def _blocking_content(target: str) -> str | None:
    """Return the SHA-256 in hex of the regular file of this name; None for all that is no such file.

    A file over ``MOST_HASHED`` bytes is known by what changes whenever it is written to: nobody waits for its bytes.
    """
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        digest, size = hashlib.sha256(), 0
        if status.st_size <= MOST_HASHED:
            while size <= MOST_HASHED and (piece := os.read(descriptor, CHUNK)):
                digest.update(piece)
                size += len(piece)
        if max(size, status.st_size) > MOST_HASHED:
            now = os.fstat(descriptor)
            identity = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
            return hashlib.sha256(f"long {identity}".encode()).hexdigest()
        return digest.hexdigest()
    except OSError:
        return None
    finally:
        os.close(descriptor)
