"""Reading a ledger: its rows, and whether its chain holds. Changes nothing.

Beside the database lies ``ledger.head``: how many rows there were after the last commit and the last hash. The chain
alone finds a changed byte and a gap; the head outside it finds a shortened end.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from countersign.wire.desk import HistoryEntry
from countersign.wire.errors import LedgerUnavailable

from .entry import COLUMNS, GENESIS, chain_hash, entry_of

LEDGER_FILE = "ledger.db"
"""Its name in a storage folder."""
HEAD_FILE = "ledger.head"
BUSY_TIMEOUT = 10.0
"""Seconds to wait for another server's commit before the ledger counts as unavailable."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What ``verify`` found: how many rows hold, the last hash, and the first fault in words (None: none)."""

    rows: int
    head: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class Head:
    """What the chain had come to at a commit."""

    rows: int
    hash: str


def blocking_write_head(ledger: Path, head: Head) -> None:
    """Note the head beside the ledger. Replaced whole, never cut short; a crash may leave the one before.

    Raises:
        OSError: the disk refuses. The rows themselves are durable.
    """
    temporary = ledger.with_name(f"{HEAD_FILE}.new")
    temporary.write_text(json.dumps({"rows": head.rows, "hash": head.hash}))
    temporary.replace(ledger.with_name(HEAD_FILE))


def blocking_read_head(ledger: Path) -> Head | None:
    """The head beside the ledger, None where there is none that can be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads(ledger.with_name(HEAD_FILE).read_text())
        return Head(int(said["rows"]), str(said["hash"]))
    return None


class Reader:
    """Reads a ledger file without changing it; from any thread, beside whoever writes it."""

    def __init__(
        self, path: Path | None, memory: sqlite3.Connection | None = None, lock: threading.Lock | None = None
    ) -> None:
        self._path = path
        self._memory = memory
        self._lock = lock or threading.Lock()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Run a reading statement.

        Raises:
            LedgerUnavailable: the file cannot be read.
        """
        return list(self._walk(sql, parameters))

    def entries(self, *, thread_id: str | None = None) -> Iterator[HistoryEntry]:
        """Every entry, of one chat if named, oldest first."""
        if thread_id is None:
            walk = self._walk("SELECT * FROM entries ORDER BY seq")
        else:
            walk = self._walk("SELECT * FROM entries WHERE thread_id = ? ORDER BY seq", (thread_id,))
        return map(entry_of, walk)

    def verify(self) -> Verification:
        """Walk the whole chain, compare it with the head beside it, and say where it first fails to hold."""
        head = blocking_read_head(self._path) if self._path is not None else None
        previous, count = GENESIS, 0
        for row in self._walk("SELECT * FROM entries ORDER BY seq"):
            if row["seq"] != count + 1:
                return Verification(count, previous, f"row {count + 1} is missing")
            values = tuple(row[name] for name in COLUMNS)
            if row["previous"] != previous or chain_hash(previous, row["seq"], values) != row["hash"]:
                return Verification(count, previous, f"row {count + 1} was changed")
            previous, count = row["hash"], count + 1
            if head is not None and head.rows == count and head.hash != previous:
                return Verification(count - 1, previous, f"row {count} is not the one that was written")
        if head is not None and head.rows > count:
            return Verification(count, previous, f"{head.rows - count} rows at the end are missing")
        return Verification(count, previous, None)

    def _walk(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[sqlite3.Row]:
        try:
            if self._memory is not None:
                with self._lock:
                    rows = self._memory.execute(sql, parameters).fetchall()
                yield from rows
                return
            connection = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=BUSY_TIMEOUT)
            connection.row_factory = sqlite3.Row
            try:
                yield from connection.execute(sql, parameters)
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LedgerUnavailable(f"the ledger cannot be read ({error})") from error
