"""The ledger: append-only, chained, on disk before any effect.

It owns two tables in one SQLite file (WAL, ``synchronous=FULL``): ``entries``, the chained rows that say who or what
decided each call and how it ended, and ``requests``, the open requests with their true bytes so that a card can
outlive the window. Everything is written by one thread, several rows to a commit; several servers may share the file
(``BEGIN IMMEDIATE`` orders them). Asking and deciding are left to ``gate.py``.

INVARIANT (record first): ``append`` returns only when the row is durable. Whoever acts awaits it before acting.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from countersign.wire.base import Json
from countersign.wire.desk import HistoryEntry, HistoryFilter, Phase
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.verdicts import DecidedBy, Evidence, Verdict

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
GENESIS = "0" * 64
COLUMNS = (
    "receipt_id", "at", "phase", "workspace", "owner", "thread_id", "agent_name", "subagent", "tool_call_id",
    "approval_id", "tool", "input", "verdict", "decided_by", "evidence", "digest", "outcome",
)  # fmt: skip
BUSY_TIMEOUT = 10.0
"""Seconds to wait for another server's commit before the ledger counts as unavailable."""


def now() -> str:
    """This moment as RFC 3339 in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row to be written. ``input`` and ``outcome`` are already redacted."""

    receipt_id: str
    phase: Phase
    workspace: str
    owner: str
    thread_id: str
    agent_name: str
    tool_call_id: str
    tool: str
    digest: str
    subagent: str | None = None
    approval_id: str | None = None
    input: Json = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    evidence: tuple[Evidence, ...] = ()
    outcome: dict[str, Json] | None = None
    at: str = field(default_factory=now)

    def next(self, phase: Phase, **changes: object) -> Entry:
        """The row that follows this one in the life of the same call."""
        return replace(self, phase=phase, at=now(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """An open (or once open) request. ``request`` is its JSON with the true bytes; None once it is resolved."""

    approval_id: str
    owner: str
    workspace: str
    thread_id: str
    tool_call_id: str
    receipt_id: str
    agent_name: str
    state: str
    parked: bool
    created_at: str
    request: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """A request to be kept, in the same commit as its row."""

    stored: StoredRequest


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a request, in the same commit as its row."""

    approval_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Parked:
    """The request stays open on disk for the next server."""

    approval_id: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """A parked request is taken over by this owner."""

    approval_id: str
    owner: str


Change = Entry | Opened | Closed | Parked | Adopted


@dataclass(frozen=True, slots=True)
class Verification:
    """What ``verify`` found: how many rows hold, the last hash, and the first fault in words (None: none)."""

    rows: int
    head: str
    fault: str | None


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
            self._memory = sqlite3.connect(":memory:", check_same_thread=False) if path is None else None
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
        while (item := self._queue.get()) is not None:
            batch, last = [item], False
            while not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    last = True
                    break
                batch.append(following)
            self._commit(connection, batch)
            if last:
                break
        if self._memory is None:
            connection.close()

    def _commit(self, connection: sqlite3.Connection, batch: list[tuple[Sequence[Change], Future[int]]]) -> None:
        try:
            with self._memory_lock:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    numbers = self._insert(connection, batch)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except Exception as error:  # the boundary of the writer thread: every waiter is told, none runs
            failure = LedgerUnavailable(f"the ledger cannot be written ({error}), so nothing runs; free its disk")
            for _, done in batch:
                if not done.cancelled():
                    done.set_exception(failure)
            return
        for (_, done), number in zip(batch, numbers, strict=True):
            if not done.cancelled():
                done.set_result(number)

    def _insert(self, connection: sqlite3.Connection, batch: list[tuple[Sequence[Change], Future[int]]]) -> list[int]:
        row = connection.execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        seq, previous = (row["seq"], row["hash"]) if row else (0, GENESIS)
        numbers = []
        for changes, _ in batch:
            for change in changes:
                if isinstance(change, Entry):
                    seq += 1
                    values = _values(change)
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
        return numbers

    def _read(self) -> sqlite3.Connection:
        if self._memory is not None:
            return self._memory
        assert self.path is not None
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=BUSY_TIMEOUT)
        connection.row_factory = sqlite3.Row
        return connection

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Run a reading statement.

        Raises:
            LedgerUnavailable: the file cannot be read.
        """
        try:
            if self._memory is not None:
                with self._memory_lock:
                    return self._memory.execute(sql, parameters).fetchall()
            connection = self._read()
            try:
                return connection.execute(sql, parameters).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerUnavailable(f"the ledger cannot be read ({error})") from error

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
        rows = self.rows("SELECT * FROM requests WHERE workspace = ? AND state = ? ORDER BY created_at",
                         (workspace, state))  # fmt: skip
        return [_stored_of(row) for row in rows]

    def request(self, approval_id: str) -> StoredRequest | None:
        """The stored request of this id, whatever its state."""
        rows = self.rows("SELECT * FROM requests WHERE approval_id = ?", (approval_id,))
        return _stored_of(rows[0]) if rows else None

    def unfinished(self, workspace: str) -> list[sqlite3.Row]:
        """The last row of every call of a workspace that was started and never finished."""
        return self.rows(
            """SELECT * FROM entries AS e WHERE workspace = ? AND phase = 'started' AND NOT EXISTS
               (SELECT 1 FROM entries AS f WHERE f.receipt_id = e.receipt_id AND f.phase = 'finished')""",
            (workspace,),
        )

    def verify(self) -> Verification:
        """Walk the whole chain and say where it first fails to hold."""
        previous, count = GENESIS, 0
        for row in self._walk():
            count += 1
            if row["seq"] != count:
                return Verification(count - 1, previous, f"row {count} is missing")
            values = tuple(row[name] for name in COLUMNS)
            if row["previous"] != previous or chain_hash(previous, row["seq"], values) != row["hash"]:
                return Verification(count - 1, previous, f"row {count} was changed")
            previous = row["hash"]
        return Verification(count, previous, None)

    def _walk(self) -> Iterator[sqlite3.Row]:
        if self._memory is not None:
            yield from self.rows("SELECT * FROM entries ORDER BY seq")
            return
        connection = self._read()
        try:
            yield from connection.execute("SELECT * FROM entries ORDER BY seq")
        finally:
            connection.close()


def chain_hash(previous: str, seq: int, values: Sequence[object]) -> str:
    """SHA-256 in hex over the row before and every field of this one."""
    text = json.dumps([previous, seq, *values], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def entry_of(row: sqlite3.Row) -> HistoryEntry:
    """A stored row as it stands on the wire."""
    return HistoryEntry(
        receipt_id=row["receipt_id"],
        seq=row["seq"],
        at=row["at"],
        phase=row["phase"],
        thread_id=row["thread_id"],
        agent_name=row["agent_name"],
        subagent=row["subagent"],
        tool_call_id=row["tool_call_id"],
        approval_id=row["approval_id"],
        tool=row["tool"],
        input=json.loads(row["input"]) if row["input"] else None,
        verdict=row["verdict"],
        by=row["decided_by"],
        evidence=[Evidence.model_validate(item) for item in json.loads(row["evidence"])],
        digest=row["digest"],
        outcome=json.loads(row["outcome"]) if row["outcome"] else None,
    )


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _values(entry: Entry) -> tuple[str | None, ...]:
    return (
        entry.receipt_id,
        entry.at,
        entry.phase,
        entry.workspace,
        entry.owner,
        entry.thread_id,
        entry.agent_name,
        entry.subagent,
        entry.tool_call_id,
        entry.approval_id,
        entry.tool,
        None if entry.input is None else _dumps(entry.input),
        entry.verdict,
        entry.by,
        _dumps([item.model_dump(mode="json", exclude_none=True) for item in entry.evidence]),
        entry.digest,
        None if entry.outcome is None else _dumps(entry.outcome),
    )


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
