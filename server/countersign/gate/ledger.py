"""The ledger: append-only, chained, on disk before any effect.

It owns two tables in one SQLite file (WAL, ``synchronous=FULL``): ``entries``, the chained rows that say who or what
decided each call and how it ended, and ``requests``, the open requests with their true bytes so that a card can
outlive the window. Everything is written by one thread, several rows to a commit; several servers may share the file
(``BEGIN IMMEDIATE`` orders them). Asking and deciding are left to ``gate.py``.

INVARIANT (record first): ``append`` returns only when the row is durable. Whoever acts awaits it before acting.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from countersign.wire.desk import HistoryEntry, HistoryFilter
from countersign.wire.errors import LedgerUnavailable

from .entry import (
    COLUMNS,
    GENESIS,
    Adopted,
    Change,
    Closed,
    Entry,
    Opened,
    Parked,
    StoredRequest,
    again,
    chain_hash,
    entry_of,
    values_of,
)
from .reader import BUSY_TIMEOUT, Head, Reader, Verification, blocking_write_head

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
  seq INTEGER PRIMARY KEY, receipt_id TEXT NOT NULL, at TEXT NOT NULL, phase TEXT NOT NULL, workspace TEXT NOT NULL,
  owner TEXT NOT NULL, thread_id TEXT NOT NULL, agent_name TEXT NOT NULL, subagent TEXT, tool_call_id TEXT NOT NULL,
  approval_id TEXT, tool TEXT NOT NULL, input TEXT, verdict TEXT, decided_by TEXT, evidence TEXT NOT NULL,
  digest TEXT NOT NULL, outcome TEXT, previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_receipt ON entries (receipt_id);
CREATE INDEX IF NOT EXISTS entries_by_thread ON entries (thread_id, seq);
CREATE TRIGGER IF NOT EXISTS entries_never_change BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS entries_never_go BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TABLE IF NOT EXISTS requests (
  approval_id TEXT PRIMARY KEY, owner TEXT NOT NULL, workspace TEXT NOT NULL, thread_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL, receipt_id TEXT NOT NULL, agent_name TEXT NOT NULL, state TEXT NOT NULL,
  parked INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, request TEXT);
CREATE INDEX IF NOT EXISTS requests_open ON requests (workspace, state);
"""


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    """Changes of one commit; ``done`` is None when nobody waits for it any more."""

    changes: Sequence[Change]
    done: Future[int] | None


class Ledger:
    """One storage folder's ledger. The class upholds *record first* and the chain.

    ``path`` None keeps it in memory (for benches and tests only). Threads: ``append`` from the event loop, reads from
    any thread.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or create it.

        Raises:
            LedgerUnavailable: the file cannot be opened or written.
        """
        self.path = path
        self._queue: queue.SimpleQueue[tuple[Sequence[Change], Future[int]] | None] = queue.SimpleQueue()
        self._closed = False
        try:
            self._memory = (
                sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None) if path is None else None
            )
            self._memory_lock = threading.Lock()
            connection = self._connect()
            connection.executescript(SCHEMA)
            connection.commit()
        except (sqlite3.Error, OSError) as error:
            raise LedgerUnavailable(f"the ledger cannot be opened ({error}); free or repair its folder") from error
        self._thread = threading.Thread(target=self._write_all, args=(connection,), name="ledger writer", daemon=True)
        self._thread.start()

    def _connect(self) -> sqlite3.Connection:
        if self._memory is not None:
            self._memory.row_factory = sqlite3.Row
            return self._memory
        assert self.path is not None
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, check_same_thread=False, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        self.path.chmod(0o600)
        return connection

    async def append(self, *changes: Change) -> int:
        """Write the changes in one commit and return the last row's number, once they are durable.

        Cancelled: the changes are written all the same; the caller must count them as written.

        Raises:
            LedgerUnavailable: nothing of it was written (disk full, file gone, closed).
        """
        return await asyncio.wrap_future(self.put(changes))

    def put(self, changes: Sequence[Change]) -> Future[int]:
        """``append`` without an event loop: the future of the last row's number."""
        done: Future[int] = Future()
        if self._closed:
            done.set_exception(LedgerUnavailable("the ledger is closed"))
        else:
            self._queue.put((changes, done))
        return done

    def close(self) -> None:
        """Write what is queued and close. Idempotent."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join(timeout=BUSY_TIMEOUT)

    def _write_all(self, connection: sqlite3.Connection) -> None:
        last = False
        while not last:
            batch, last = self._next_batch()
            if batch:
                self._commit(connection, batch)
        if self._memory is None:
            connection.close()

    def _next_batch(self) -> tuple[list[_Work], bool]:
        """Everything that waits, and whether it is the end."""
        batch: list[_Work] = []
        item = self._queue.get()
        while item is not None:
            # From here on a waiter that is cancelled cannot take its future back: it is written all the same.
            batch.append(_Work(item[0], item[1] if item[1].set_running_or_notify_cancel() else None))
            if self._queue.empty():
                return batch, False
            item = self._queue.get()
        return batch, True

    def _commit(self, connection: sqlite3.Connection, batch: Sequence[_Work]) -> None:
        try:
            with self._memory_lock:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    numbers, head = self._insert(connection, batch)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except Exception as error:  # the boundary of the writer thread: every waiter is told, none runs
            failure = LedgerUnavailable(f"the ledger cannot be written ({error}), so nothing runs; free its disk")
            for work in batch:
                if work.done is not None:
                    work.done.set_exception(failure)
            return
        if self.path is not None:
            try:
                blocking_write_head(self.path, head)
            except OSError:
                log.exception("the head of the ledger could not be noted; the rows themselves are written")
        for work, number in zip(batch, numbers, strict=True):
            if work.done is not None:
                work.done.set_result(number)

    def _insert(self, connection: sqlite3.Connection, batch: Sequence[_Work]) -> tuple[list[int], Head]:
        row = connection.execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        seq, previous = (row["seq"], row["hash"]) if row else (0, GENESIS)
        numbers = []
        for work in batch:
            for change in work.changes:
                if isinstance(change, Entry):
                    seq += 1
                    values = values_of(change)
                    digest = chain_hash(previous, seq, values)
                    marks = ", ".join("?" * (len(COLUMNS) + 3))
                    connection.execute(
                        f"INSERT INTO entries (seq, {', '.join(COLUMNS)}, previous, hash) VALUES ({marks})",
                        (seq, *values, previous, digest),
                    )
                    previous = digest
                else:
                    _APPLY[type(change)](connection, change)
            numbers.append(seq)
        return numbers, Head(seq, previous)

    @property
    def _reader(self) -> Reader:
        return Reader(self.path, self._memory, self._memory_lock)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Run a reading statement. Raises LedgerUnavailable."""
        return self._reader.rows(sql, parameters)

    def query(
        self, wanted: HistoryFilter, *, workspace: str | None, before: int | None = None, limit: int = 100
    ) -> list[HistoryEntry]:
        """The newest entries first, ``limit`` at most, with a number below ``before``."""
        clauses, values = _clauses(wanted, workspace)
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
        return [_stored_of(row) for row in rows]

    def request(self, approval_id: str) -> StoredRequest | None:
        """The stored request of this id, whatever its state."""
        rows = self.rows("SELECT * FROM requests WHERE approval_id = ?", (approval_id,))
        return _stored_of(rows[0]) if rows else None

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

    def rule_use(self, workspace: str) -> dict[tuple[str, str | None], tuple[int, str]]:
        """How often each rule decided, by its text and file, and when it last did."""
        rows = self.rows(
            """SELECT json_extract(evidence, '$[0].rule') AS rule, json_extract(evidence, '$[0].file') AS file,
               COUNT(*) AS hits, MAX(at) AS last FROM entries
               WHERE workspace = ? AND phase = 'decided' AND json_extract(evidence, '$[0].rule') IS NOT NULL
               GROUP BY rule, file""",
            (workspace,),
        )
        return {(row["rule"], row["file"]): (row["hits"], row["last"]) for row in rows}

    def unfinished(self, workspace: str) -> list[Entry]:
        """The row of every call of a workspace that was started and never finished."""
        rows = self.rows(
            """SELECT * FROM entries AS e WHERE workspace = ? AND phase = 'started' AND NOT EXISTS
               (SELECT 1 FROM entries AS f WHERE f.receipt_id = e.receipt_id AND f.phase = 'finished'
                AND f.seq > e.seq)""",
            (workspace,),
        )
        return [again(row) for row in rows]

    def verify(self) -> Verification:
        """Walk the whole chain and say where it first fails to hold."""
        return self._reader.verify()


def _clauses(wanted: HistoryFilter, workspace: str | None) -> tuple[list[str], list[object]]:
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
    if wanted.text:
        pattern = "%" + wanted.text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
        clauses.append(r"(input LIKE ? ESCAPE '\' OR outcome LIKE ? ESCAPE '\' OR evidence LIKE ? ESCAPE '\')")
        values += [pattern] * 3
    return clauses, values


def _stored_of(row: sqlite3.Row) -> StoredRequest:
    return StoredRequest(**{name: row[name] for name in row.keys() if name != "parked"}, parked=bool(row["parked"]))  # noqa: SIM118 a Row iterates over its values


def _apply_opened(connection: sqlite3.Connection, change: Opened) -> None:
    stored = change.stored
    connection.execute(
        "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            stored.approval_id, stored.owner, stored.workspace, stored.thread_id, stored.tool_call_id,
            stored.receipt_id, stored.agent_name, stored.state, int(stored.parked), stored.created_at, stored.request,
        ),
    )  # fmt: skip


def _apply_closed(connection: sqlite3.Connection, change: Closed) -> None:
    # The true bytes go with the end of the request; the id stays, so that a late answer is told so.
    connection.execute("UPDATE requests SET state = ?, parked = 0, request = NULL WHERE approval_id = ?",
                       (change.state, change.approval_id))  # fmt: skip


def _apply_parked(connection: sqlite3.Connection, change: Parked) -> None:
    connection.execute("UPDATE requests SET parked = 1 WHERE approval_id = ? AND state = 'open'",
                       (change.approval_id,))  # fmt: skip


def _apply_adopted(connection: sqlite3.Connection, change: Adopted) -> None:
    connection.execute("UPDATE requests SET parked = 0, owner = ? WHERE approval_id = ?",
                       (change.owner, change.approval_id))  # fmt: skip


_APPLY: dict[type, Callable[..., None]] = {
    Opened: _apply_opened,
    Closed: _apply_closed,
    Parked: _apply_parked,
    Adopted: _apply_adopted,
}
