"""Beginning a new chain after a damaged one, and the anchor that an editor keeps outside the folder.

A damaged ledger is never repaired and never deleted. It is copied whole under ``ledger.db.broken-<UTC time>`` (one that
SQLite cannot read is renamed to ``ledger.db.corrupt-<UTC time>``), and a new chain takes its place in one transaction.
It begins with two links: ``lost`` names the copy, its SHA-256 and the fault; ``begun`` says that a person went on from
there, why, and which anchor they gave up. Until there is a ``begun`` behind a ``lost``, the chain counts as broken.

No row of a damaged chain is carried over: a request that was open in it can be answered no more.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.hash_chain import BEGINNING, Fault, Head, Link, Walk, followed, merged
from countersign.gate.ledger.head_file import HeadFile, blocking_read_heads
from countersign.settings.files import free_name
from countersign.wire.base import Json

ATTEMPTS = 5
"""Copies that are made while other servers go on appending to the damaged chain."""
LONGEST_REASON = 500


class Anchor(NamedTuple):
    """What an editor noted of a chain: its name, and a row of it that was the last one then."""

    chain_id: str
    rows: int
    hash: str

    @property
    def head(self) -> Head:
        return Head(self.rows, self.hash)


def blocking_chain_id(connection: sqlite3.Connection) -> str:
    """Return the name of the chain: the hash of its first part; empty for an empty chain."""
    first, _ = schema.chain_beginning(connection)
    return "" if first == BEGINNING else first.hash


def blocking_check_anchor(connection: sqlite3.Connection, anchor: Anchor) -> None:
    """Compare the chain with an anchor.

    The anchored row must be in the chain with that hash; rows behind it are another window's. Where the chain begins
    with a link, an anchor from before it must be the very end that the link names, or the one that a person gave up.

    Raises:
        Fault: it is another chain, or its end was taken away.
    """
    if anchor.head == BEGINNING or schema.is_in_chain(connection, anchor.head):
        return
    if any(_given_up(link) == anchor.head for link in schema.links(connection)):
        return
    end = schema.chain_end(connection)
    if end.rows < anchor.rows:
        raise Fault(f"the editor has noted row {anchor.rows}, and the ledger ends at row {end.rows}", end.rows + 1)
    raise Fault(f"row {anchor.rows} is not the one that the editor has noted", anchor.rows)


def blocking_begin_chain(
    connection: sqlite3.Connection, path: Path, head_file: HeadFile, *, fault: str, reason: str, anchor: Anchor | None
) -> Head:
    """Set the damaged chain aside, begin a new one in its place, and return its head.

    Raises:
        sqlite3.Error, OSError: it cannot be copied or written; the damaged chain is as it was.
    """
    said: dict[str, Json] = {"reason": reason.strip()[:LONGEST_REASON] or "no reason given"}
    if anchor is not None:
        said["anchor"] = {"seq": anchor.rows, "hash": anchor.hash}
    for attempt in range(ATTEMPTS):
        copied = None if _waits_for_a_person(connection, path, anchor) else _blocking_copied(connection, path)
        connection.execute("BEGIN IMMEDIATE")
        try:
            end = schema.chain_end(connection)
            if copied is None or copied.end == end or attempt == ATTEMPTS - 1:
                if copied is not None:
                    end = _replace(connection, copied, _furthest(path, end), fault)
                begun = Link(end.rows, "begun", now(), said, end.hash)
                schema.add_link(connection, begun)
                connection.execute("COMMIT")
                head = Head(begun.after, begun.hash)
                head_file.blocking_replace(head)
                return head
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        copied.file.unlink()
    raise AssertionError("the last attempt takes the copy as it is")


def add_loss(connection: sqlite3.Connection, head: Head, aside: Path, fault: str) -> Link:
    """Write the link that stands in place of a ledger that was set aside, inside the caller's transaction."""
    said: dict[str, Json] = {"file": aside.name, "sha256": _blocking_sha256(aside), "fault": fault}
    link = Link(head.rows, "lost", now(), said, head.hash)
    schema.add_link(connection, link)
    return link


class _Copied(NamedTuple):
    file: Path
    end: Head


def _waits_for_a_person(connection: sqlite3.Connection, path: Path, anchor: Anchor | None) -> bool:
    """Whether nothing is wrong with the chain but that nobody has begun it behind its loss."""
    heads = blocking_read_heads(path)
    walk = Walk(heads[0] if heads else None)
    try:
        for _ in followed(merged(schema.whole_rows(connection), schema.links(connection)), walk):
            pass
        if anchor is not None:
            # An anchor from before the loss is given up together with what was lost.
            first, link = schema.chain_beginning(connection)
            if link is None or anchor.rows > first.rows:
                blocking_check_anchor(connection, anchor)
    except Fault:
        return False
    return walk.waits_for_a_person


def _blocking_copied(connection: sqlite3.Connection, path: Path) -> _Copied:
    file = free_name(path, "broken")
    connection.execute("VACUUM INTO ?", (str(file),))
    file.chmod(0o600)
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
        copy.row_factory = sqlite3.Row
        return _Copied(file, schema.chain_end(copy))


def _replace(connection: sqlite3.Connection, copied: _Copied, end: Head, fault: str) -> Head:
    schema.renew_entries(connection)
    connection.execute("DELETE FROM running")
    lost = add_loss(connection, end, copied.file, fault)
    return Head(lost.after, lost.hash)


def _furthest(path: Path, end: Head) -> Head:
    """The end of the damaged chain, or the one that the head file remembers where that is further."""
    return max((end, *blocking_read_heads(path)), key=lambda head: head.rows)


def _given_up(link: Link) -> Head | None:
    anchor = link.said.get("anchor") if link.kind == "begun" else None
    if not isinstance(anchor, dict):
        return None
    rows, digest = anchor.get("seq"), anchor.get("hash")
    return Head(rows, digest) if isinstance(rows, int) and isinstance(digest, str) else None


def _blocking_sha256(file: Path) -> str:
    with open(file, "rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
