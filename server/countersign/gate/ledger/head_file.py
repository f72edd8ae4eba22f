"""The head file: how far the ledger has come, kept outside the database, so that a shortened end is found.

It holds the last two heads in two places of half a disk sector each, written in turns and in place: whatever breaks
off, one of them is whole. A head is noted after its rows are durable and never before, so it may lag behind them and
never runs ahead. It is not synced at each commit, which would double the price of a row: a process that is killed loses
nothing by that, and a machine that stops leaves at worst a head that lags, which is no fault and is made up for at the
next start. It is synced when it is made and when the ledger is closed.

Several servers note heads in one file. A lock and a look at what stands there keep it from ever going back.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from countersign.gate.ledger.hash_chain import Head
from countersign.settings.regular_file import read_regular

HEAD_FILE = "ledger.head"
"""Its name beside the database."""
PLACE = 256
"""Bytes of one of the two places."""

log = logging.getLogger(__name__)


def blocking_read_heads(ledger: Path) -> tuple[Head, ...]:
    """The heads beside the ledger, the further one first; none where there is no file or nothing in it is whole."""
    try:
        return _heads(read_regular(ledger.with_name(HEAD_FILE), 2 * PLACE))
    except OSError:
        return ()


class HeadFile:
    """The head file of a ledger that is being written. A class because it keeps it open; for the writer's thread."""

    def __init__(self, ledger: Path) -> None:
        """Open it, or make an empty one.

        Raises:
            OSError: the disk refuses.
        """
        self._descriptor = os.open(ledger.with_name(HEAD_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._seen: tuple[bytes, tuple[Head, ...]] = (b"", ())
        self.frozen = False
        """Whether nothing is noted any more: what stands there is the only witness of rows that are gone."""

    def blocking_heads(self) -> tuple[Head, ...]:
        """The heads that stand there, the further one first."""
        data = os.pread(self._descriptor, 2 * PLACE, 0)
        if data != self._seen[0]:
            self._seen = (data, _heads(data))
        return self._seen[1]

    def blocking_check(self, end: Head) -> int:
        """Before rows are put behind this end of the chain: freeze, where a further head was noted already, and return
        how many rows are missing."""
        heads = self.blocking_heads()
        if not heads or heads[0].rows <= end.rows or self.frozen:
            return 0
        self.frozen = True
        log.error("the ledger: rows at its end are missing; verify it with `countersign history --verify`")
        return heads[0].rows - end.rows

    def blocking_note(self, head: Head) -> None:
        """Note the head, unless another server has noted a further one meanwhile.

        Raises:
            OSError: the disk refuses. The rows themselves are durable.
        """
        if self.frozen:
            return
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            heads = self.blocking_heads()
            if heads and heads[0].rows > head.rows:
                return
            # Over the older one, or over the one that is not whole.
            data, text = self._seen[0], _text(head)
            first_is_newest = bool(heads) and _head(data[:PLACE]) == heads[0]
            os.pwrite(self._descriptor, text, PLACE if first_is_newest else 0)
            data = data[:PLACE] + text if first_is_newest else text + data[PLACE:]
            self._seen = (data, (head, *heads[:1]))
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def blocking_replace(self, head: Head) -> None:
        """Put this head in place of both, even one that is further: the chain has a link that says why. Durable.

        Raises:
            OSError: the disk refuses.
        """
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            os.pwrite(self._descriptor, _text(head) * 2, 0)
            os.fsync(self._descriptor)
            self.frozen = False
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Sync it, as far as the disk lets us, and close it."""
        with suppress(OSError):  # a head that lags is no fault
            os.fsync(self._descriptor)
        os.close(self._descriptor)


def _text(head: Head) -> bytes:
    said = json.dumps({"rows": head.rows, "hash": head.hash, "check": _check(head)})
    return said.encode("ascii").ljust(PLACE - 1) + b"\n"


def _check(head: Head) -> str:
    return hashlib.sha256(f"{head.rows} {head.hash}".encode()).hexdigest()[:16]


def _head(data: bytes) -> Head | None:
    with suppress(ValueError, KeyError, TypeError):
        said = json.loads(data)
        head = Head(int(said["rows"]), str(said["hash"]))
        if said["check"] == _check(head):
            return head
    return None


def _heads(data: bytes) -> tuple[Head, ...]:
    found: Sequence[Head] = [head for half in (data[:PLACE], data[PLACE:]) if (head := _head(half)) is not None]
    return tuple(sorted(found, key=lambda head: head.rows, reverse=True))
