"""Opening a ledger to write it: the connection, its tables, and what the last server left out of order.

Database and head file are brought together here and nowhere else. Each difference between them has one meaning:

- the head lags: a server ended between its commit and its note. Made up for; no fault.
- the head is one commit ahead and the log ends in an incomplete append: a crash cut that commit off in writing. It is
  dropped, and a link in the chain says so.
- the log ends in an incomplete append and nothing else is wrong: likewise; nobody had been told that it was written.
- there is no head, but there are rows: a link says so, because a shortened end could not be seen any more.
- everything else: rows are missing or were changed. The head stays as it is, as their witness, and ``verify`` finds it.

The newest rows are walked at each start; the rest of the chain is left to a check in the background. A file that is no
database is set aside, and a new chain begins with a link that names it; it counts as broken until a person goes on.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.hash_chain import BEGINNING, Fault, Head, Link, LinkKind, Walk, followed, merged
from countersign.gate.ledger.head_file import HeadFile, blocking_read_heads
from countersign.gate.ledger.new_chain import add_loss
from countersign.gate.ledger.reader import BUSY_TIMEOUT
from countersign.gate.ledger.wal import blocking_incomplete
from countersign.settings.files import set_aside_database

LOG_PAGES = 2_000
"""Pages (4 KiB) that the write-ahead log may hold until a commit must empty it, which takes many times as long as a
commit: a burst is over by then, and the log is emptied while nobody waits (``Ledger``). No more than that, because
from there on the log is written over, and a commit that makes the file longer takes up to twice as long to sync."""


RECENT = 1_000
"""Rows that are walked at each start; a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """``head`` is the head file, None in memory; ``notes`` are for a person: what was found out of order; ``fault`` is
    what breaks the chain."""

    head: HeadFile | None
    notes: tuple[str, ...] = ()
    fault: Fault | None = None


def blocking_open(path: Path | None) -> tuple[sqlite3.Connection, Prepared]:
    """Open or create a ledger to write it. A file that is no database, or not a ledger's, is set aside.

    Raises:
        sqlite3.Error, OSError: it cannot be opened or written.
    """
    try:
        return _blocking_opened(path)
    except sqlite3.DatabaseError as error:
        if path is None or not is_corrupt(error):
            raise
    # Servers that start at once do so one by one, and look again first: what another has begun is not corrupt.
    with open(path.with_name(f"{path.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return _blocking_opened(path)
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise
            blocking_set_aside(path, str(error))
        return _blocking_opened(path)


def blocking_set_aside(path: Path, fault: str) -> None:
    """Rename a ledger that SQLite cannot read, and put a chain in its place that begins with its loss.

    Raises:
        sqlite3.Error, OSError: it cannot be renamed, or the new one cannot be written.
    """
    heads = blocking_read_heads(path)
    aside = set_aside_database(path)
    with closing(blocking_connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        schema.create(connection)
        link = add_loss(connection, heads[0] if heads else BEGINNING, aside, fault)
        connection.execute("COMMIT")
    with closing(HeadFile(path)) as head_file:
        head_file.blocking_replace(Head(link.after, link.hash))


class NotALedger(sqlite3.DatabaseError):
    """The file is a sound database, but its tables are not those of a ledger."""


def is_corrupt(error: BaseException) -> bool:
    """Whether the file is no database, a damaged one, or not a ledger's."""
    return isinstance(error, NotALedger) or getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
    )


def _blocking_opened(path: Path | None) -> tuple[sqlite3.Connection, Prepared]:
    connection = blocking_connect(path)
    try:
        return connection, blocking_prepare(connection, path)
    except BaseException:
        connection.close()
        raise


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
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
    except BaseException:
        connection.close()
        raise
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
        _blocking_create(connection)
        head_file = HeadFile(path)
        end = schema.chain_end(connection)
        kind, fault = _difference(connection, head_file.blocking_heads(), end, incomplete=incomplete)
        recent = _recent_fault(connection) if fault is None else None
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
        return Prepared(head_file, (_note(fault),), fault)
    notes = (_note(recent),) if recent is not None else ()
    if link is not None:
        head_file.blocking_replace(Head(link.after, link.hash))
        return Prepared(head_file, (link.words, *notes), recent)
    if head_file.blocking_heads():
        head_file.blocking_note(end)
    else:
        head_file.blocking_replace(end)
        _blocking_sync_folder(path.parent)
    return Prepared(head_file, notes, recent)


def blocking_empty_log(connection: sqlite3.Connection) -> bool:
    """Bring the write-ahead log into the database and cut it to nothing; False where somebody is at it just now."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    except sqlite3.Error:  # the rows are durable where they are; the next time will do
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT * 1000)}")


def _blocking_create(connection: sqlite3.Connection) -> None:
    try:
        schema.create(connection)
        schema.probe(connection)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
            raise NotALedger(str(error)) from error
        raise


def _difference(
    connection: sqlite3.Connection, heads: tuple[Head, ...], end: Head, *, incomplete: bool
) -> tuple[LinkKind | None, Fault | None]:
    """The link that the chain needs, or the fault; neither where all is well."""
    if not heads:
        return ("headless", None) if end.rows else (None, None)
    if heads[0] in (end, BEGINNING) or schema.is_in_chain(connection, heads[0]):
        return ("dropped" if incomplete else None), None
    if incomplete and end in heads[1:]:
        return "dropped", None
    if heads[0].rows > end.rows:
        return None, Fault(f"{heads[0].rows - end.rows} rows at the end of the ledger are missing", end.rows + 1)
    return None, Fault(f"row {heads[0].rows} of the ledger is not the one that was written", heads[0].rows)


def _recent_fault(connection: sqlite3.Connection) -> Fault | None:
    """Walk the newest rows; and is there a loss that nobody has gone on from?"""
    newest = list(schema.whole_rows(connection, ["seq > (SELECT max(seq) FROM entries) - ?"], [RECENT]))
    links = schema.links(connection)
    whole = not newest or connection.execute("SELECT min(seq) FROM entries").fetchone()[0] == newest[0][0]
    walk = Walk() if whole else Walk(start=Head(newest[0][0] - 1, newest[0][-2]))
    try:
        for _ in followed(merged(newest, [link for link in links if whole or link.after >= newest[0][0]]), walk):
            pass
    except Fault as fault:
        return fault
    kinds = [link.kind for link in links]
    if "lost" in kinds and "begun" not in kinds[kinds.index("lost") :]:
        lost = links[kinds.index("lost")]
        return Fault(lost.words, lost.after)
    return None


def _note(fault: Fault) -> str:
    return f"{fault}; check it with `countersign history --verify`"


def _blocking_sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
