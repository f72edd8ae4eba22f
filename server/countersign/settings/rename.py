"""Two ways to rename that POSIX has no word for: to where nothing is, and one thing for another.

Both happen in one step, so what is taken away can be looked at afterwards and put back if it was not what was meant.
Linux has them; elsewhere, and on file systems that cannot, ``CannotRename`` says so and the caller does what it can.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_NOREPLACE, _EXCHANGE = 1, 2
_UNKNOWN = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
"""EPERM is what some containers answer to system calls that they do not know; if it was meant, the plain way says so
again."""


class CannotRename(Exception):
    """This system or this file system cannot do it in one step; nothing was done."""


def move_to_free(source: int, name: str, folder: int, new: str) -> None:
    """Move ``name`` in one held folder to ``new`` in another.

    Raises:
        FileExistsError: something is there.
        CannotRename: not here.
        OSError: it could not be done.
    """
    _rename(source, name, folder, new, _NOREPLACE)


def exchange(folder: int, one: str, other: str) -> None:
    """Let two names in one held folder change places. Raises FileNotFoundError, CannotRename, OSError."""
    _rename(folder, one, folder, other, _EXCHANGE)


def _rename(source: int, name: str, folder: int, new: str, flags: int) -> None:
    function = _renameat2()
    if function is None:
        raise CannotRename
    if function(source, os.fsencode(name), folder, os.fsencode(new), flags) != 0:
        code = ctypes.get_errno()
        if code in _UNKNOWN:
            raise CannotRename
        raise OSError(code, os.strerror(code))


@cache
def _renameat2() -> Any:
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
