"""The ledger: append-only, chained, on disk before any effect.

One SQLite file (WAL, ``synchronous=FULL``), written by one thread, several rows to a commit; several servers may share
it (``BEGIN IMMEDIATE`` orders them). Its tables are in ``schema.py``, its chain in ``hash_chain.py``, whether that
holds in ``chain_state.py``; how it is read is left to ``reader.py``, how it is archived to ``retention.py``, how a
damaged one is left behind to ``new_chain.py``, asking and deciding to ``gate.py``.

INVARIANT (record first): ``append`` returns only when the row is durable. Whoever acts awaits it before acting. What is
owed (``owe``) is in the same commit as whatever comes next, and before it: while it cannot be written nothing else is.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.chain_state import ChainState
from countersign.gate.ledger.entry import Change, Closed, Entry, values_of
from countersign.gate.ledger.hash_chain import Fault, Head, Row, chain_hash
from countersign.gate.ledger.new_chain import Anchor, blocking_begin_chain
from countersign.gate.ledger.opened_files import FilesChanged, OpenedFiles, blocking_refuse_links
from countersign.gate.ledger.reader import BUSY_TIMEOUT, Reader
from countersign.gate.ledger.redact import redact_text, secret_values
from countersign.gate.ledger.startup import (
    Prepared,
    blocking_empty_log,
    blocking_open,
    blocking_set_aside,
    is_corrupt,
)
from countersign.wire.errors import LedgerUnavailable

IDLE = 1.0
"""Seconds without an append after which the write-ahead log is emptied, so that the true bytes of requests that have
ended lie nowhere any more."""

PACE, BREATH = 500, 0.002
"""Rows that the check in the background walks without a pause, and the pause in seconds."""

log = logging.getLogger(__name__)


Result = int | LedgerUnavailable
"""The number of the last row, or why nothing was written."""
Told = Callable[[Result], object]


@dataclass(slots=True)
class _Work:
    """Changes of one commit, and who is ``told`` of it, on ``loop`` if there is one; None where they are owed, and
    tried again instead."""

    changes: Sequence[Change]
    told: Told | None
    loop: asyncio.AbstractEventLoop | None = None


@dataclass(slots=True)
class _NewChain:
    """A person's wish to leave a broken chain behind; ``done`` gets the new head."""

    reason: str
    done: Future[Head]


class Ledger(Reader):
    """One storage folder's ledger: read, and written. The class upholds *record first* and the chain.

    ``path`` None keeps it in memory (for benches and tests only). ``secret_names`` are the variables whose values must
    not be written down, beside those whose names say so. ``notes`` is what opening it found out of order, in sentences
    for a person; ``chain`` is whether its chain holds. Threads: ``append`` from the event loop, reads from any thread.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        secret_names: Callable[[], Iterable[str]] = tuple,
        secrets: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """Open or create it. Redacted are the variables of these names, and these values.

        Raises:
            LedgerUnavailable: the file cannot be opened or written.
        """
        self._queue: queue.SimpleQueue[_Work | _NewChain | None] = queue.SimpleQueue()
        self.chain = ChainState()
        self.on_commit: Callable[[], object] | None = None
        self._anchor: Anchor | None = None
        self._closed = False
        self._owed: list[_Work] = []
        self._door = threading.Lock()
        self._secret_names = secret_names
        self._secrets = secrets
        self._hidden: tuple[frozenset[str], frozenset[str]] = (frozenset(), secret_values())
        try:
            if path is not None:
                blocking_refuse_links(path)
            connection, prepared = blocking_open(path)
            super().__init__(path, connection if path is None else None)
            self._take(connection, prepared)
        except (sqlite3.Error, OSError, FilesChanged) as error:
            raise LedgerUnavailable(f"the ledger cannot be opened ({error}); free or repair its folder") from error
        for note in self.notes:
            log.warning("the ledger: %s", note)
        if prepared.fault is not None:
            self.chain.fail(str(prepared.fault), prepared.fault.row)
        self._thread = threading.Thread(target=self._write_all, args=(connection,), name="ledger writer", daemon=True)
        self._thread.start()

    def _take(self, connection: sqlite3.Connection, prepared: Prepared) -> None:
        self._head, self.notes = prepared.head, prepared.notes
        self._files: OpenedFiles | None = None
        self._unchecked: FilesChanged | None = None
        self._last = schema.chain_end(connection)
        self._begun = schema.last_begun(connection)
        if self.path is not None:
            self._files = OpenedFiles(self.path)
            # What an earlier server left in the log goes where nothing of it can be read any more.
            if blocking_empty_log(connection):
                self._files.log_emptied()

    @property
    def end(self) -> Head:
        """The last row that this server wrote or found."""
        return self._last

    def compare(self, anchor: Anchor) -> None:
        """Compare the chain with the anchor that the editor kept; it is broken where they do not agree."""
        self._anchor = anchor
        try:
            self.check_anchor(anchor)
        except Fault as fault:
            self.chain.fail(str(fault), fault.row)

    def blocking_check(self) -> None:
        """Walk the whole chain, at a pace that leaves others room, and note in ``chain`` whether it holds. Ends early
        where the ledger is closed meanwhile."""
        try:
            found = self._verified(self._paced)
        except _ClosedMeanwhile:
            return
        except (LedgerUnavailable, OSError) as error:
            self.chain.fail(str(error))
            return
        if found.fault is not None:
            self.chain.fail(found.fault, found.fault_at)
        else:
            self.chain.hold()

    def _paced(self, rows: Iterator[Row]) -> Iterator[Row]:
        for number, row in enumerate(rows, 1):
            if number % PACE == 0:
                if self._closed:
                    raise _ClosedMeanwhile
                time.sleep(BREATH)
            yield row

    def begin_new_chain(self, reason: str) -> Future[Head]:
        """Set the broken chain aside and begin a new one; the future of its head.

        Raises (the future):
            LedgerUnavailable: it could not be done; nothing was changed.
        """
        done: Future[Head] = Future()
        done.set_running_or_notify_cancel()
        try:
            self._enqueue(_NewChain(reason, done))
        except LedgerUnavailable as error:
            done.set_exception(error)
        return done

    def append(self, *changes: Change) -> asyncio.Future[int]:
        """Write the changes in one commit; the future of the last row's number is done once they are durable.

        Cancelled: the changes are written all the same; the caller must count them as written.

        Raises (the future):
            LedgerUnavailable: nothing of it was written (disk full, file gone, closed).
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[int] = loop.create_future()
        try:
            self._enqueue(_Work(changes, partial(_settle, done), loop))
        except LedgerUnavailable as error:
            done.set_exception(error)
        return done

    def write(self, changes: Sequence[Change], told: Told) -> None:
        """``append`` for one who does not wait: ``told`` is called on the event loop, and never before this returns."""
        loop = asyncio.get_running_loop()
        try:
            self._enqueue(_Work(changes, told, loop))
        except LedgerUnavailable as error:
            loop.call_soon(told, error)

    def put(self, changes: Sequence[Change]) -> Future[int]:
        """``append`` without an event loop: the future of the last row's number."""
        done: Future[int] = Future()
        done.set_running_or_notify_cancel()  # what is to be written cannot be called back
        try:
            self._enqueue(_Work(changes, partial(_settle, done)))
        except LedgerUnavailable as error:
            done.set_exception(error)
        return done

    def owe(self, *changes: Change) -> None:
        """Write what is told though it could not be written: before all that is appended later, again and again until
        it succeeds or the ledger is closed. No more can be owed than was open, since nothing is opened meanwhile.

        Raises:
            LedgerUnavailable: the ledger is closed.
        """
        self._enqueue(_Work(changes, None))

    def _enqueue(self, work: _Work | _NewChain) -> None:
        with self._door:  # so that nothing is queued behind the end
            if self._closed:
                raise LedgerUnavailable("the ledger is closed")
            self._queue.put(work)

    def close(self) -> None:
        """Write what is queued and close. Idempotent."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join(timeout=BUSY_TIMEOUT)

    def _write_all(self, connection: sqlite3.Connection) -> None:
        last, unclean = False, False
        while not last:
            try:
                batch, last = self._next_batch(IDLE if unclean or self._owed else None)
            except queue.Empty:
                batch = []
            for wish in [work for work in batch if isinstance(work, _NewChain)]:
                connection = self._begin(connection, wish)
            batch = [work for work in batch if isinstance(work, _Work)]
            if batch := [*self._owed, *batch]:
                self._commit(connection, batch)
                ended = any(isinstance(change, Closed) for work in batch for change in work.changes)
                unclean = self.path is not None and (unclean or ended)
            elif unclean:
                unclean = not blocking_empty_log(connection)
                if not unclean and self._files is not None:
                    self._files.log_emptied()
        if self._files is not None:
            self._files.close()
        if self.path is not None:
            connection.close()
        if self._head is not None:
            self._head.close()

    def _next_batch(self, patience: float | None) -> tuple[list[_Work | _NewChain], bool]:
        """Everything that waits, and whether it is the end. Raises Empty when nothing came for ``patience`` seconds."""
        batch: list[_Work | _NewChain] = []
        work = self._queue.get(timeout=patience)
        while work is not None:
            batch.append(work)
            if self._queue.empty():
                return batch, False
            work = self._queue.get()
        return batch, True

    # Whatever is owed stands first in every batch.

    def _commit(self, connection: sqlite3.Connection, batch: Sequence[_Work]) -> None:
        try:
            with self._memory_lock:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    self._blocking_check_files(self._last)
                    numbers, head = self._insert(connection, batch)
                    connection.execute("COMMIT")
                    # Once more: the rows must be in the file that stands there, not in one that is gone.
                    self._blocking_check_written(head)
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except Exception as error:  # the boundary of the writer thread: every waiter is told, none runs
            if isinstance(error, FilesChanged):
                self.chain.lose(str(error))
            elif is_corrupt(error):
                self.chain.fail(str(error))
            failure = LedgerUnavailable(f"the ledger cannot be written ({error}), so nothing runs; {_next_step(error)}")
            writable: list[_Work] = []
            unwritable: list[_Work] = []
            for work in batch:
                (writable if self._can_be_rows(work) else unwritable).append(work)
            self._owed = [work for work in writable if work.told is None]
            if unwritable and writable:
                # What shares the commit of a row that nobody could write does not fail with it.
                _tell(unwritable, [failure] * len(unwritable))
                self._commit(connection, writable)
            else:
                _tell(batch, [failure] * len(batch))
            return
        self._owed, self._last = [], head
        if self._head is not None:
            try:
                self._head.blocking_note(head)
            except OSError:
                log.exception("the head of the ledger could not be noted; the rows themselves are written")
        _tell(batch, numbers)
        if self.on_commit is not None:
            self.on_commit()

    def _begin(self, connection: sqlite3.Connection, wish: _NewChain) -> sqlite3.Connection:
        """Begin a new chain, and return the connection to it: another one where the old file could not be read."""
        fault = self.chain.status.reason or "no fault is known"
        reason = redact_text(wish.reason, self._hidden_values())
        try:
            assert self.path is not None
            assert self._head is not None
            if self._files is not None:
                self._files.blocking_check(self._last)
            try:
                head = blocking_begin_chain(
                    connection, self.path, self._head, fault=fault, reason=reason, anchor=self._anchor
                )
            except sqlite3.DatabaseError as error:
                if not is_corrupt(error):
                    raise
                if self._files is not None:
                    self._files.close()
                connection.close()
                self._head.close()
                blocking_set_aside(self.path, str(error))
                connection, prepared = blocking_open(self.path)
                self._take(connection, prepared)
                assert self._head is not None
                head = blocking_begin_chain(
                    connection, self.path, self._head, fault=fault, reason=reason, anchor=self._anchor
                )
        except Exception as error:  # the boundary of the writer thread: whoever waits is told
            text = f"no new chain can be begun ({error}); {_next_step(error)}"
            wish.done.set_exception(LedgerUnavailable(text))
            return connection
        self._last, self._begun = head, head.hash
        self.chain.renew()
        wish.done.set_result(head)
        return connection

    def _blocking_check_files(self, last: Head) -> None:
        if self._unchecked is not None:
            raise self._unchecked
        if self._files is not None:
            self._files.blocking_check(last)

    def _blocking_check_written(self, head: Head) -> None:
        """As ``_blocking_check_files``, after the commit: rows that cannot be checked may be lost, and must not be
        written twice, so nothing more is written until the files are opened anew."""
        try:
            self._blocking_check_files(head)
        except (OSError, sqlite3.Error) as error:
            self._unchecked = FilesChanged(f"the files could not be checked after a commit ({error})")
            raise self._unchecked from error

    def _insert(self, connection: sqlite3.Connection, batch: Sequence[_Work]) -> tuple[list[int], Head]:
        head = schema.chain_end(connection)
        if self._head is not None:
            if self.chain.is_broken and (begun := schema.last_begun(connection)) != self._begun:
                # A person went on in another window.
                self._begun = begun
                self._head.frozen = False
                self.chain.renew()
            if missing := self._head.blocking_check(head):
                self.chain.fail(f"{missing} rows at the end of the ledger are missing", head.rows + 1)
        seq, previous, hidden = head.rows, head.hash, self._hidden_values()
        numbers: list[int] = []
        rows: list[Row] = []
        for work in batch:
            for change in work.changes:
                if isinstance(change, Entry):
                    seq += 1
                    values = values_of(change, hidden)
                    digest = chain_hash(previous, seq, values)
                    rows.append((seq, *values, previous, digest))
                    previous = digest
            numbers.append(seq)
        schema.insert(connection, rows)
        others = (change for work in batch for change in work.changes if not isinstance(change, Entry))
        schema.apply(connection, others)
        return numbers, Head(seq, previous)

    def _can_be_rows(self, work: _Work) -> bool:
        try:
            for change in work.changes:
                if isinstance(change, Entry):
                    values_of(change, self._hidden_values())
        except (TypeError, ValueError):  # one that nobody can write must not keep all others from running
            if work.told is None:
                log.exception("the end of a call is never recorded; the next start closes it as interrupted")
            return False
        return True

    def _hidden_values(self) -> frozenset[str]:
        names = frozenset(self._secret_names())
        if names != self._hidden[0]:
            self._hidden = (names, secret_values(names=names))
        return self._hidden[1] | self._secrets()


class _ClosedMeanwhile(Exception):
    """The ledger was closed while its chain was walked."""


def _next_step(error: Exception) -> str:
    """Say what to do about a ledger that cannot be written, by the true reason."""
    if isinstance(error, FilesChanged):
        return "restart the server"
    if isinstance(error, OSError) and error.errno != errno.ENOSPC:
        return "check the disk of its folder"
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_FULL) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"another program has kept it locked for {BUSY_TIMEOUT:.0f} s; end that program"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "make its folder and its files writable"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "restart the server and check it with `countersign history --verify`"
        case _:
            return "free its disk"


def _tell(batch: Sequence[_Work], results: Sequence[Result]) -> None:
    """Tell everybody who waits. A loop is woken once for all of its own: each wake costs as much as a row."""
    of_loop: dict[asyncio.AbstractEventLoop, list[tuple[Told, Result]]] = {}
    for work, result in zip(batch, results, strict=True):
        if work.told is None:
            continue
        if work.loop is None:
            work.told(result)
        else:
            of_loop.setdefault(work.loop, []).append((work.told, result))
    for loop, ends in of_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_tell_each, ends)


def _tell_each(ends: Sequence[tuple[Told, Result]]) -> None:
    for told, result in ends:
        try:
            told(result)
        except Exception:  # whatever one of them makes of it, the others are told
            log.exception("a listener of commits failed")


def _settle(done: asyncio.Future[int] | Future[int], result: Result) -> None:
    if done.done():  # whoever waited was cancelled
        return
    if isinstance(result, LedgerUnavailable):
        done.set_exception(result)
    else:
        done.set_result(result)
