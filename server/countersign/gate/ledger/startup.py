"""Opening a ledger to write it: the connection, its tables, and what the last server left out of order.

Database and head file are brought together here and nowhere else. Each difference between them has one meaning:

- the head lags: a server ended between its commit and its note. Made up for; no fault.
- the head is one commit ahead and the log ends in an incomplete append: a crash cut that commit off in writing. It is
  dropped, and a link in the chain says so.
- the log ends in an incomplete append and nothing else is wrong: likewise; nobody had been told that it was written.
- there is no head, but there are rows: a link says so, because a shortened end could not be seen any more.
- everything else: rows are missing or were changed. The head stays as it is, as their witness, and ``verify`` finds it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.hash_chain import BEGINNING, Head, Link, LinkKind
from countersign.gate.ledger.head_file import HeadFile
from countersign.gate.ledger.reader import BUSY_TIMEOUT
from countersign.gate.ledger.wal import blocking_incomplete

LOG_PAGES = 2_000
"""Pages (4 KiB) that the write-ahead log may hold until a commit must empty it, which takes many times as long as a
commit: a burst is over by then, and the log is emptied while nobody waits (``Ledger``). No more than that, because
from there on the log is written over, and a commit that makes the file longer takes up to twice as long to sync."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """``head`` is the head file, None in memory; ``notes`` are for a person: what was found out of order."""

    head: HeadFile | None
    notes: tuple[str, ...] = ()


def blocking_connect(path: Path | None) -> sqlite3.Connection:
    """A connection that writes as the ledger must be written; None for one in memory.

    Raises:
        sqlite3.Error, OSError: the file cannot be opened.
    """
    if path is not None:
        # Before SQLite makes it: its log and its index take their rights from it. Only where it is new: to close a
        # descriptor of a database would drop the locks of every connection that this process has to it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        path.chmod(0o600)
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=BUSY_TIMEOUT,
        check_same_thread=False,
        isolation_level=None,
        factory=_MemoryConnection if path is None else sqlite3.Connection,
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
    return connection


class _MemoryConnection(sqlite3.Connection):
    """A ledger in memory may be read after it is closed, so its connection is closed with its last user."""

    def __del__(self) -> None:
        self.close()


def blocking_prepare(connection: sqlite3.Connection, path: Path | None) -> Prepared:
    """Make what is missing, and bring database and head file together, while nobody else writes.

    Raises:
        sqlite3.Error, OSError: it cannot be written.
    """
    if path is None:
        schema.create(connection)
        return Prepared(None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Looked at first: the next commit writes over it.
        incomplete = blocking_incomplete(path)
        schema.create(connection)
        head_file = HeadFile(path)
        end = schema.chain_end(connection)
        kind, fault = _difference(connection, head_file.blocking_heads(), end, incomplete=incomplete)
        link = Link(end.rows, kind, now(), {}, end.hash) if kind is not None else None
        if link is not None:
            schema.add_link(connection, link)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if fault is not None:
        head_file.frozen = True
        return Prepared(head_file, (f"{fault}; look at it with `countersign history --verify`",))
    if link is not None:
        head_file.blocking_replace(Head(link.after, link.hash))
        return Prepared(head_file, (link.words,))
    if head_file.blocking_heads():
        head_file.blocking_note(end)
    else:
        head_file.blocking_replace(end)
        _blocking_sync_folder(path.parent)
    return Prepared(head_file)


def blocking_empty_log(connection: sqlite3.Connection) -> bool:
    """Bring the write-ahead log into the database and cut it to nothing; False where somebody is at it just now."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    except sqlite3.Error:  # the rows are durable where they are; the next time will do
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1000)}")


def _difference(
    connection: sqlite3.Connection, heads: tuple[Head, ...], end: Head, *, incomplete: bool
) -> tuple[LinkKind | None, str | None]:
    """The link that the chain needs, or the fault; neither where all is well."""
    if not heads:
        return ("headless", None) if end.rows else (None, None)
    if _stands(connection, heads[0], end):
        return ("dropped" if incomplete else None), None
    if incomplete and end in heads[1:]:
        return "dropped", None
    if heads[0].rows > end.rows:
        return None, f"{heads[0].rows - end.rows} rows at the end of the ledger are missing"
    return None, f"row {heads[0].rows} of the ledger is not the one that was written"


def _stands(connection: sqlite3.Connection, head: Head, end: Head) -> bool:
    """Whether the chain, as the database has it, comes past this head."""
    known = connection.execute(
        "SELECT 1 FROM entries WHERE seq = :rows AND hash = :hash"
        " UNION ALL SELECT 1 FROM links WHERE after = :rows AND :hash IN (hash, previous)",
        {"rows": head.rows, "hash": head.hash},
    )
    return head in (end, BEGINNING) or known.fetchone() is not None


def _blocking_sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
