"""The states of files that an approval is bound to, read through a descriptor.

INVARIANT (same bytes): a call is bound to these states when its card is drawn, and they are looked at again when the
answer comes and at the moment of use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

from .call import FileState, ToolCall

CHUNK = 1 << 20


def blocking_state(path: str) -> FileState:
    """The state of the regular file at ``path`` now; anything that cannot be read as one counts as absent."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return FileState(path, None)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return FileState(path, None)
        digest = hashlib.sha256()
        while piece := os.read(descriptor, CHUNK):
            digest.update(piece)
        return FileState(path, digest.hexdigest())
    except OSError:
        return FileState(path, None)
    finally:
        os.close(descriptor)


def blocking_states(paths: Iterable[str]) -> tuple[FileState, ...]:
    """The states of several files, each path once, in order."""
    return tuple(blocking_state(path) for path in dict.fromkeys(paths))


def blocking_still_true(call: ToolCall) -> bool:
    """Whether every file that the call is bound to is as it was."""
    return all(blocking_state(state.path) == state for state in call.bound)
