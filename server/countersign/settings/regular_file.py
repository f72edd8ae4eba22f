"""Opening a file that somebody else chose the name of: a pipe or device of that name holds nobody up."""

from __future__ import annotations

import errno
import io
import os
import stat

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))


class NotRegular(OSError):
    """There is something at this path, but no regular file."""


def open_regular(path: str | os.PathLike[str], *, follows_link: bool = True) -> io.FileIO:
    """Open a regular file for reading, unbuffered. ``follows_link`` False refuses a symbolic link as its last segment.

    Never waits for a writer, as opening a named pipe does.

    Raises:
        NotRegular: it is a folder, pipe, socket or device.
        OSError: it cannot be opened. ValueError: the path cannot be one.
    """
    descriptor = os.open(path, os.O_RDONLY | _FLAGS | (0 if follows_link else getattr(os, "O_NOFOLLOW", 0)))
    try:
        # Before Python makes a file of it: it refuses a folder and leaves the descriptor open.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(errno.EINVAL, os.strerror(errno.EINVAL), os.fspath(path))
        return io.FileIO(descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], most: int, *, follows_link: bool = True) -> bytes:
    """Return at most ``most`` bytes of a regular file; raises as ``open_regular``."""
    with open_regular(path, follows_link=follows_link) as file, io.BufferedReader(file) as buffered:
        return buffered.read(most)
