"""Are the ledger's files still the ones that were opened?

INVARIANT (record first): a row counts as durable only in the files that stand under the ledger's names.

SQLite goes on writing into a database that was renamed, removed or replaced under it, and reports success; the rows are
gone at the next start. This module follows SQLite's own list of such hazards (https://www.sqlite.org/howtocorrupt.html):
it compares device, inode and link count of the database, its write-ahead log, its shared memory and the head file with
what was opened, before and after each commit. A file that became shorter is confirmed over a new connection, because
checkpoints and a rotation beside us shorten files rightly.

The log stays open for reading, so that a check opens no file: a process that has no descriptors left, or a full disk,
must not look like files that changed. What cannot be checked for another reason fails that one commit.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from countersign.gate.ledger.hash_chain import Head
from countersign.gate.ledger.head_file import HEAD_FILE

_LOG_HEADER = 32
"""Bytes."""

_PASSING = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL}
)
"""SQLite's errors that say nothing about the content of a file."""


class Identity(NamedTuple):
    """What makes a file on disk this very file."""

    device: int
    inode: int
    links: int


class FilesChanged(Exception):
    """A file of the ledger is not the one that was opened; the message says which and what happened to it."""


def blocking_refuse_links(path: Path) -> None:
    """Refuse a database that is a symbolic link, or that has a second name: two names mean two logs. And refuse what is
    no regular file under the names of the files beside it: SQLite would wait for ever for a named pipe.

    Raises:
        FilesChanged: it is one. OSError: it cannot be looked at.
    """
    for name in (*(f"{path.name}{ending}" for ending in ("-wal", "-shm", "-journal")), HEAD_FILE):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(path.with_name(name)).st_mode):
                raise FilesChanged(f"`{name}` is not a regular file")
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(info.st_mode):
        raise FilesChanged(f"`{path.name}` is not a regular file")
    if info.st_nlink != 1:
        raise FilesChanged(f"`{path.name}` has {info.st_nlink} hard links")


class OpenedFiles:
    """The files of an open ledger. A class because it keeps what they were; for the writer's thread."""

    def __init__(self, database: Path) -> None:
        """Remember the files as they are right after they were opened.

        Raises:
            FilesChanged: one is missing already or has a second name.
            OSError: one cannot be read.
        """
        self._database = database
        names = (database.name, f"{database.name}-wal", f"{database.name}-shm", HEAD_FILE)
        self._paths = tuple(str(database.with_name(name)) for name in names)
        try:
            # SQLite locks no bytes of the log, so closing this descriptor drops no lock.
            self._log = open(self._paths[1], "rb", buffering=0)  # noqa: SIM115
        except FileNotFoundError as error:
            raise FilesChanged(f"`{os.path.basename(self._paths[1])}` was removed") from error
        try:
            self._known, self._sizes, self._salts = self._blocking_look_with_salts()
            for path, identity in zip(self._paths, self._known, strict=True):
                if identity.links != 1:
                    raise FilesChanged(f"`{os.path.basename(path)}` has {identity.links} hard links")
            if os.fstat(self._log.fileno())[1:3] != (self._known[1].inode, self._known[1].device):
                raise FilesChanged(f"`{os.path.basename(self._paths[1])}` was replaced by another file")
        except BaseException:
            self._log.close()
            raise

    def close(self) -> None:
        """Close the log. Idempotent. Comes before the connection is closed, which removes the log."""
        self._log.close()

    def blocking_check(self, last: Head) -> None:
        """Compare the files with what was opened. ``last`` is the last head that this server wrote or found.

        Raises:
            FilesChanged: one was removed, renamed, replaced, linked or cut.
            OSError, sqlite3.Error: they could not be checked this time.
        """
        found, sizes, salts = self._blocking_look_with_salts()
        if found != self._known:
            for path, now, before in zip(self._paths, found, self._known, strict=True):
                if now != before:
                    name = os.path.basename(path)
                    if now[:2] == before[:2]:
                        raise FilesChanged(f"`{name}` was given another hard link while the server ran")
                    raise FilesChanged(f"`{name}` was replaced by another file while the server ran")
        shorter = sizes[0] < self._sizes[0]
        if shorter or sizes[1] < self._sizes[1]:
            self._blocking_confirm(last, whole=shorter)
        # A checkpoint shortens the log to nothing, or begins it anew. A query may miss that frames are gone: it reads
        # only the pages that it needs.
        if salts and salts == self._salts and sizes[1] < self._sizes[1]:
            raise FilesChanged(f"`{os.path.basename(self._paths[1])}` was cut while the server ran")
        self._sizes, self._salts = sizes, salts

    def log_emptied(self) -> None:
        """Expect a write-ahead log that is shorter: this server has just emptied it."""
        self._sizes = (self._sizes[0], 0)

    def _blocking_look_with_salts(self) -> tuple[tuple[Identity, ...], tuple[int, int], bytes]:
        """Look until the log was not begun anew meanwhile, so that its size and its salts belong together."""
        before = self._blocking_look_at_log()
        while True:
            found, sizes = self._blocking_look()
            if (salts := self._blocking_look_at_log()) == before:
                return found, sizes, salts
            before = salts

    def _blocking_look(self) -> tuple[tuple[Identity, ...], tuple[int, int]]:
        found: list[Identity] = []
        sizes: list[int] = []
        for path in self._paths:
            try:
                info = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError) as error:
                raise FilesChanged(f"`{os.path.basename(path)}` was removed or renamed while the server ran") from error
            found.append(Identity(info.st_dev, info.st_ino, info.st_nlink))
            sizes.append(info.st_size)
        return tuple(found), (sizes[0], sizes[1])

    def _blocking_look_at_log(self) -> bytes:
        """Return the salts in the header of the write-ahead log, which SQLite draws anew each time it begins the log
        anew (https://www.sqlite.org/fileformat.html#walformat)."""
        self._log.seek(0)
        return self._log.read(_LOG_HEADER)[16:24]

    def _blocking_confirm(self, last: Head, *, whole: bool) -> None:
        """Read over a new connection, which has nothing in its cache: does the chain still come past the last head,
        and, where the database itself is shorter, does every page hold together?"""
        try:
            uri = f"{self._database.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
                sound = not whole or connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
                known = connection.execute(
                    "SELECT 1 FROM entries WHERE seq = :rows AND hash = :hash"
                    " UNION ALL SELECT 1 FROM links WHERE after >= :rows AND (:hash IN (hash, previous)"
                    " OR kind IN ('archived', 'lost'))",
                    {"rows": last.rows, "hash": last.hash},
                ).fetchone()
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF in _PASSING:
                raise
            raise FilesChanged(f"`{self._database.name}` was cut while the server ran ({error})") from error
        if not sound or (known is None and last.rows):
            raise FilesChanged(f"`{self._database.name}` was cut while the server ran")
