"""Opening an SQLite database beside which somebody may have put anything: a pipe in its place holds nobody up."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from countersign.settings.regular_file import NotRegular

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite appends to a database's name for the files that belong to it."""


def refuse_irregular(database: Path) -> None:
    """Refuse a database if it, or a file that belongs to it, is not a regular file: SQLite would wait for ever for a
    named pipe, and names no file in its errors.

    Raises:
        NotRegular: it is one. OSError: it cannot be looked at.
    """
    for path in (database, *(database.with_name(f"{database.name}{ending}") for ending in BESIDE)):
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise NotRegular(errno.EINVAL, "not a regular file", os.fspath(path))


def uri_to_read(database: Path) -> str:
    """Return the address by which SQLite opens a database without changing it, whatever its folder is called."""
    return f"{database.absolute().as_uri()}?mode=ro"
