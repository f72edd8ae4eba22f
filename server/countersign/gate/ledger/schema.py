"""The tables of the ledger, and how each kind of change is written into them.

``entries`` are the chained rows and ``links`` what stands between them (``hash_chain.py``). ``requests`` are the open
requests with their true bytes, so that a card can outlive the window, and afterwards their ids. ``running`` follows
from the rows and is kept by triggers, so that a start need not look at a million of them; it proves nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from countersign.gate.ledger.entry import Adopted, Closed, Opened, Parked, RequestChange, StoredRequest
from countersign.gate.ledger.hash_chain import BEGINNING, COLUMNS, Head, Link, Row, dumps

_ENTRIES = """
CREATE TABLE IF NOT EXISTS entries (
  seq INTEGER PRIMARY KEY, receipt_id TEXT NOT NULL, at TEXT NOT NULL, phase TEXT NOT NULL, workspace TEXT NOT NULL,
  owner TEXT NOT NULL, thread_id TEXT NOT NULL, agent_name TEXT NOT NULL, subagent TEXT, tool_call_id TEXT NOT NULL,
  approval_id TEXT, tool TEXT NOT NULL, input TEXT, verdict TEXT, decided_by TEXT, evidence TEXT NOT NULL,
  digest TEXT NOT NULL, outcome TEXT, previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_receipt ON entries (receipt_id);
CREATE INDEX IF NOT EXISTS entries_by_workspace ON entries (workspace);
CREATE TRIGGER IF NOT EXISTS entries_never_change BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS entries_never_go BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS entries_start AFTER INSERT ON entries WHEN NEW.phase = 'started'
  BEGIN INSERT OR REPLACE INTO running VALUES (NEW.receipt_id, NEW.seq); END;
CREATE TRIGGER IF NOT EXISTS entries_finish AFTER INSERT ON entries WHEN NEW.phase = 'finished'
  BEGIN DELETE FROM running WHERE receipt_id = NEW.receipt_id; END;
"""
_OTHERS = """
CREATE TABLE IF NOT EXISTS links (
  id INTEGER PRIMARY KEY, after INTEGER NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL, said TEXT NOT NULL,
  previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS running (receipt_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
  approval_id TEXT PRIMARY KEY, owner TEXT NOT NULL, workspace TEXT NOT NULL, thread_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL, receipt_id TEXT NOT NULL, agent_name TEXT NOT NULL, state TEXT NOT NULL,
  parked INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, request TEXT);
CREATE INDEX IF NOT EXISTS requests_open ON requests (workspace, state);
"""

ROW = ", ".join(("seq", *COLUMNS, "previous", "hash"))
"""The columns of a whole row, as the chain is walked over them."""
MOST_AT_ONCE = 64
"""Rows in one statement; a power of two."""


def create(connection: sqlite3.Connection) -> None:
    """Make what is not there yet, inside the caller's transaction."""
    for statement in _statements(_OTHERS + _ENTRIES):
        connection.execute(statement)


def probe(connection: sqlite3.Connection) -> None:
    """Name every column once.

    Raises:
        sqlite3.OperationalError: a table has others.
    """
    for columns, table in (
        (ROW, "entries"),
        ("id, after, kind, at, said, previous, hash", "links"),
        ("receipt_id, seq", "running"),
        (", ".join(StoredRequest._fields), "requests"),
    ):
        connection.execute(f"SELECT {columns} FROM {table} LIMIT 0")


def renew_entries(connection: sqlite3.Connection) -> None:
    """Put an empty table in place of the entries and remove the links, inside the caller's transaction."""
    connection.execute("DROP TABLE entries")
    create(connection)
    connection.execute("DELETE FROM links")


def chain_end(connection: sqlite3.Connection) -> Head:
    """What the chain has come to in the database."""
    row = connection.execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    link = connection.execute("SELECT after, hash FROM links ORDER BY id DESC LIMIT 1").fetchone()
    if link is not None and (row is None or link["after"] >= row["seq"]):
        return Head(link["after"], link["hash"])
    return Head(row["seq"], row["hash"]) if row is not None else BEGINNING


def chain_beginning(connection: sqlite3.Connection) -> tuple[Head, Link | None]:
    """Return the first part of the chain, and the link if it is one; BEGINNING for an empty chain. Its hash names the
    chain: a new chain begins with another part."""
    first = next(iter(links(connection)), None)
    if first is not None and first.kind in ("archived", "lost"):
        return Head(first.after, first.hash), first
    row = connection.execute("SELECT seq, hash FROM entries ORDER BY seq LIMIT 1").fetchone()
    return (Head(row["seq"], row["hash"]) if row is not None else BEGINNING), None


def last_begun(connection: sqlite3.Connection) -> str | None:
    """Return the hash of the link with which a person began a new chain; None where nobody has."""
    row = connection.execute("SELECT hash FROM links WHERE kind = 'begun' ORDER BY id DESC LIMIT 1").fetchone()
    return row["hash"] if row is not None else None


def is_in_chain(connection: sqlite3.Connection, head: Head) -> bool:
    """Whether a row or a link of the chain has this number and hash, or a link names it as the one before."""
    known = connection.execute(
        "SELECT 1 FROM entries WHERE seq = :rows AND hash = :hash"
        " UNION ALL SELECT 1 FROM links WHERE after = :rows AND :hash IN (hash, previous)",
        {"rows": head.rows, "hash": head.hash},
    )
    return known.fetchone() is not None


def add_link(connection: sqlite3.Connection, link: Link) -> None:
    """Write a link behind the last row."""
    connection.execute(
        "INSERT INTO links (after, kind, at, said, previous, hash) VALUES (?, ?, ?, ?, ?, ?)",
        (link.after, link.kind, link.at, dumps(link.said), link.previous, link.hash),
    )


def links(connection: sqlite3.Connection) -> list[Link]:
    """What stands between the rows, in order."""
    return [
        Link(row["after"], row["kind"], row["at"], json.loads(row["said"]), row["previous"])
        for row in connection.execute("SELECT * FROM links ORDER BY id")
    ]


def whole_rows(
    connection: sqlite3.Connection, clauses: Sequence[str] = (), values: Sequence[object] = ()
) -> Iterator[Row]:
    """Rows as the chain is walked over them, oldest first, where all clauses hold. Their fields have no names: those
    would cost as much again as the hashes."""
    cursor = connection.cursor()
    cursor.row_factory = None
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    return cursor.execute(f"SELECT {ROW} FROM entries {where} ORDER BY seq", values)


def row_values(row: sqlite3.Row) -> tuple[object, ...]:
    """The fields of a row that its hash is over."""
    return tuple(row[name] for name in COLUMNS)


def stored_of(row: sqlite3.Row) -> StoredRequest:
    """A stored request."""
    return StoredRequest(**{name: row[name] for name in row.keys()})  # noqa: SIM118 a Row iterates over its values


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write whole rows."""
    _execute_for_all(connection, f"INSERT INTO entries ({ROW}) VALUES {{}}", rows)


def apply(connection: sqlite3.Connection, changes: Iterable[RequestChange]) -> None:
    """Write changes of requests, in order."""
    for kind, alike in groupby(changes, type):
        statement, values = _CHANGES[kind]
        _execute_for_all(connection, statement, [values(change) for change in alike])


def _execute_for_all(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[object]]) -> None:
    """Execute the statement with all rows as its VALUES, many at a time: whenever SQLite returns, the thread must wait
    until the event loop's lets it go on, which costs several times what a row does."""
    done = 0
    while done < len(rows):
        # Sizes that come again, so that SQLite need not read the same statement for each number of rows.
        size = min(MOST_AT_ONCE, 1 << ((len(rows) - done).bit_length() - 1))
        marks = ", ".join([f"({', '.join('?' * len(rows[done]))})"] * size)
        connection.execute(statement.format(marks), list(chain.from_iterable(rows[done : done + size])))
        done += size


def _statements(script: str) -> list[str]:
    found, held = [], ""
    for line in script.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            found.append(held)
            held = ""
    return found


def _opened(change: Opened) -> Sequence[object]:
    stored = change.stored
    return (
        stored.approval_id, stored.owner, stored.workspace, stored.thread_id, stored.tool_call_id, stored.receipt_id,
        stored.agent_name, stored.state, stored.parked, stored.created_at, stored.request,
    )  # fmt: skip


_UPDATE = "UPDATE requests SET {} FROM (VALUES {{}}) AS new WHERE approval_id = new.column1"
_CHANGES: dict[type[RequestChange], tuple[str, Callable[[Any], Sequence[object]]]] = {
    Opened: ("INSERT INTO requests VALUES {}", _opened),
    # The true bytes go with the end of the request; the id stays, so that a late answer is told so.
    Closed: (
        _UPDATE.format("state = new.column2, parked = 0, request = NULL"),
        lambda change: (change.approval_id, change.state),
    ),
    Parked: (
        _UPDATE.format("parked = new.column2") + " AND state = 'open'",
        lambda change: (change.approval_id, change.parked),
    ),
    Adopted: (
        _UPDATE.format("parked = 0, owner = new.column2"),
        lambda change: (change.approval_id, change.owner),
    ),
}
