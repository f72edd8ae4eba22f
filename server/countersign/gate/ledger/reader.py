"""Reading a ledger: its rows, its open requests, and whether its chain holds. Changes nothing.

Any thread and any process may read beside whoever writes, and keeps nobody from writing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import Entry, StoredRequest, again, entry_of, parse_moment
from countersign.gate.ledger.hash_chain import Row, Verification, Walk, dumps, merged, verify
from countersign.gate.ledger.head_file import blocking_read_heads
from countersign.gate.ledger.new_chain import Anchor, blocking_chain_id, blocking_check_anchor
from countersign.gate.ledger.wal import blocking_incomplete
from countersign.settings.database_files import refuse_irregular, uri_to_read
from countersign.settings.regular_file import NotRegular
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import HistoryEntry, HistoryFilter

LEDGER_FILE = "ledger.db"
"""Its name in a storage folder."""
BUSY_TIMEOUT = 10.0
"""Seconds to wait for another server's commit before the ledger counts as unavailable."""
PAGE = 2_000
"""Rows that a long walk holds at a time."""


class Reader:
    """Reads a ledger file without changing it. A class because a ledger in memory must be read over its own connection.

    Each call raises LedgerUnavailable where the file cannot be read.
    """

    def __init__(self, path: Path | None, memory: sqlite3.Connection | None = None) -> None:
        self.path = path
        self._memory = memory
        self._memory_lock = threading.Lock()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        """What a reading statement finds."""
        with self.reading() as connection:
            return connection.execute(sql, parameters).fetchall()

    def walk(self, wanted: HistoryFilter, *, workspace: str | None = None) -> Iterator[sqlite3.Row]:
        """Every row that is wanted, oldest first, a page at a time; nothing is held open between the pages, so that a
        reader who stops does not make the write-ahead log grow.

        Raises:
            ValueError: ``since`` or ``until`` is no moment.
        """
        clauses, values = clauses_of(wanted, workspace)
        where = " AND ".join(["seq > ?", *clauses])
        sql = f"SELECT * FROM entries WHERE {where} ORDER BY seq LIMIT {PAGE}"
        after = 0
        while page := self.rows(sql, (after, *values)):
            yield from page
            after = page[-1]["seq"]

    def query(
        self, wanted: HistoryFilter, *, workspace: str | None, before: int | None = None, limit: int = 100
    ) -> list[HistoryEntry]:
        """The newest entries first, ``limit`` at most, with a number below ``before``.

        Raises:
            ValueError: ``since`` or ``until`` is no moment.
        """
        clauses, values = clauses_of(wanted, workspace)
        if before is not None:
            clauses.append("seq < ?")
            values.append(before)
        where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
        rows = self.rows(f"SELECT * FROM entries {where} ORDER BY seq DESC LIMIT ?", (*values, limit))
        return [entry_of(row) for row in rows]

    def requests(self, workspace: str, *, state: str = "open") -> list[StoredRequest]:
        """The stored requests of a workspace in this state, oldest first."""
        rows = self.rows(
            "SELECT * FROM requests WHERE workspace = ? AND state = ? ORDER BY created_at", (workspace, state)
        )
        return [schema.stored_of(row) for row in rows]

    def request(self, approval_id: str) -> StoredRequest | None:
        """The stored request of this id, whatever its state."""
        rows = self.rows("SELECT * FROM requests WHERE approval_id = ?", (approval_id,))
        return schema.stored_of(rows[0]) if rows else None

    def last(self, receipt_id: str) -> Entry | None:
        """The last row of a call, as the base of its next one."""
        rows = self.rows("SELECT * FROM entries WHERE receipt_id = ? ORDER BY seq DESC LIMIT 1", (receipt_id,))
        return again(rows[0]) if rows else None

    def receipt(self, receipt_id: str, workspace: str) -> list[HistoryEntry]:
        """All rows of one call, oldest first."""
        rows = self.rows(
            "SELECT * FROM entries WHERE receipt_id = ? AND workspace = ? ORDER BY seq", (receipt_id, workspace)
        )
        return [entry_of(row) for row in rows]

    def unfinished(self, workspace: str) -> list[Entry]:
        """The row of every call of a workspace that was started and never finished."""
        rows = self.rows(
            "SELECT entries.* FROM running JOIN entries USING (seq) WHERE workspace = ? ORDER BY seq", (workspace,)
        )
        return [again(row) for row in rows]

    def verify(self) -> Verification:
        """Walk the whole chain, compare it with the head beside it, and say where it first fails to hold.

        Raises:
            OSError: the write-ahead log cannot be read.
        """
        return self._verified(lambda rows: rows)

    def _verified(self, paced: Callable[[Iterator[Row]], Iterator[Row]]) -> Verification:
        if self.path is None:
            return self._walked(Walk(), paced)
        _refuse_irregular(self.path)
        # The head first: rows that are written meanwhile come after it.
        head, before, *_ = (*blocking_read_heads(self.path), None, None)
        # Until a server starts there, a commit that a crash cut off in writing looks like rows that were taken away.
        incomplete = blocking_incomplete(self.path)
        found = self._walked(Walk(head, before if incomplete else None), paced)
        if head is None and found.rows and found.fault is None:
            return replace(found, fault="the head file is gone or cannot be read, so a shortened end would not be seen")
        if incomplete:
            note = "behind the last row stands an incomplete append: one that is under way, or that a crash cut off"
            return replace(found, notes=(*found.notes, note))
        return found

    def _walked(self, walk: Walk, paced: Callable[[Iterator[Row]], Iterator[Row]]) -> Verification:
        with self.snapshot() as connection:
            return verify(merged(paced(schema.whole_rows(connection)), schema.links(connection)), walk)

    def check_anchor(self, anchor: Anchor) -> None:
        """Compare the chain with an anchor that was kept elsewhere.

        Raises:
            Fault: it is another chain, or its end was taken away.
        """
        with self.snapshot() as connection:
            blocking_check_anchor(connection, anchor)

    def chain_id(self) -> str:
        """The name of the chain; empty while it has no row."""
        with self.snapshot() as connection:
            return blocking_chain_id(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """``reading``, all of it as at one moment."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read over; nothing may be written.

        Raises:
            LedgerUnavailable: the file cannot be read.
        """
        try:
            if self._memory is not None:
                with self._memory_lock:
                    yield self._memory
                return
            assert self.path is not None
            _refuse_irregular(self.path)
            connection = sqlite3.connect(uri_to_read(self.path), uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
            connection.row_factory = sqlite3.Row
            try:
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerUnavailable(f"the ledger cannot be read ({error}){_next_step(error)}") from error


def clauses_of(wanted: HistoryFilter, workspace: str | None) -> tuple[list[str], list[object]]:
    """A filter in SQL: conditions that must all hold, and their values.

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
    """
    exact = {
        "workspace": workspace,
        "thread_id": wanted.thread_id,
        "agent_name": wanted.agent_name,
        "tool_call_id": wanted.tool_call_id,
        "tool": wanted.tool,
        "verdict": wanted.verdict,
        "decided_by": wanted.by,
        "phase": wanted.phase,
    }
    clauses = [f"{name} = ?" for name, value in exact.items() if value is not None]
    values: list[object] = [value for value in exact.values() if value is not None]
    for clause, bound in (("at >= ?", wanted.since), ("at < ?", wanted.until)):
        if bound is not None:
            clauses.append(clause)
            values.append(parse_moment(bound))
    if wanted.text:
        # Columns hold JSON in ASCII, so the text is looked for as it is written there.
        sought = dumps(wanted.text)[1:-1]
        pattern = "%" + sought.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
        clauses.append(r"(input LIKE ? ESCAPE '\' OR outcome LIKE ? ESCAPE '\' OR evidence LIKE ? ESCAPE '\')")
        values += [pattern] * 3
    return clauses, values


def _refuse_irregular(ledger: Path) -> None:
    try:
        refuse_irregular(ledger)
    except NotRegular as error:
        name = os.path.basename(error.filename)
        raise LedgerUnavailable(f"the ledger cannot be read: `{name}` is not a regular file; move it away") from error
    except OSError as error:
        raise LedgerUnavailable(f"the ledger cannot be read ({error.strerror})") from error


def _next_step(error: sqlite3.Error) -> str:
    damage = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
    if damage or str(error).startswith("no such table"):
        return "; set it aside and begin a new chain with `countersign history --new-chain`"
    return ""
