"""Retention: the whole history into a file, and a new chain in its place that names the old one's head.

Nothing is ever taken out of a chain; a chain is put away as a whole. The new one begins with a link that holds the
count and last hash of the old one and the name and SHA-256 of the export it lies in; ``verify`` goes over it, and row
numbers go on. Requests that are open, and calls that were started and not finished, are carried over with all their
rows, so that whoever owns them can end them. What is counted from rows (how often a rule decided) begins anew.

It is safe beside running servers, so that nobody need close a window for it: the old rows are written out without a
lock; only the last few, and the exchange itself, are done in one transaction, for which appends wait as they wait for
one another. A server looks up the end of the chain within each of its commits and finds the new one. A crash leaves the
old chain as it was, and at most an export that nobody needs.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.export import Exported, ExportFile
from countersign.gate.ledger.hash_chain import Fault, Head, Link, Row, Walk, chain_hash, followed, merged
from countersign.gate.ledger.reader import Reader
from countersign.gate.ledger.startup import blocking_connect, blocking_empty_log, blocking_prepare
from countersign.wire.errors import LedgerUnavailable


def blocking_rotate(ledger: Path, file: Path) -> Exported:
    """Write the whole ledger into a new ``file`` and begin a new chain.

    Raises:
        Fault: the chain does not hold, so it is not put away; nothing was changed.
        FileExistsError: there is such a file; nothing was changed.
        OSError: the disk refuses; nothing was changed, no file is left.
        LedgerUnavailable: the ledger cannot be read or written; nothing was changed, no file is left.
    """
    try:
        with closing(blocking_connect(ledger)) as connection:
            prepared = blocking_prepare(connection, ledger)
            assert prepared.head is not None
            with closing(prepared.head) as head_file, ExportFile(file, {}) as export:
                if prepared.fault is not None:
                    raise prepared.fault
                walk, links = _blocking_write_out(Reader(ledger), export)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    exported, head = _exchange(connection, file, export, walk, links)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    file.unlink(missing_ok=True)
                    raise
                with suppress(OSError):  # a head that lags is no fault
                    head_file.blocking_note(head)
            # What is left of the old rows in the file; somebody else's reading may put it off.
            with suppress(sqlite3.Error):
                connection.execute("VACUUM")
            blocking_empty_log(connection)
            return exported
    except sqlite3.Error as error:
        raise LedgerUnavailable(f"the ledger cannot be rotated ({error}); nothing was changed") from error


def _blocking_write_out(reader: Reader, export: ExportFile) -> tuple[Walk, int]:
    """All rows and links that there are so far; how far the walk came, and how many links it went over."""
    walk = Walk()
    with reader.snapshot() as connection:
        links = schema.links(connection)
        export.add(followed(merged(schema.whole_rows(connection), links), walk))
    export.blocking_sync()
    return walk, len(links)


def _exchange(
    connection: sqlite3.Connection, file: Path, export: ExportFile, walk: Walk, links: int
) -> tuple[Exported, Head]:
    """What was written since, and the new chain in place of the old one. Inside the caller's transaction."""
    since = schema.whole_rows(connection, ["seq > ?"], [walk.at.rows])
    export.add(followed(merged(since, schema.links(connection)[links:]), walk))
    if walk.at != (end := schema.chain_end(connection)):
        raise Fault(f"row {end.rows} is not the one that was written")
    exported = export.finish(end)
    carried = _unsettled(connection)
    link = Link(end.rows, "archived", now(), {"file": file.name, "sha256": exported.sha256}, end.hash)
    # The rows are in the export and were redacted: overwriting each page of them now would only hold up the others.
    connection.execute("PRAGMA secure_delete=OFF")
    schema.renew_entries(connection)
    schema.add_link(connection, link)
    head, rows = Head(end.rows, link.hash), list[Row]()
    for row in carried:
        digest = chain_hash(head.hash, head.rows + 1, row[1:-2])
        rows.append((head.rows + 1, *row[1:-2], head.hash, digest))
        head = Head(head.rows + 1, digest)
    schema.insert(connection, rows)
    return exported, head


def _unsettled(connection: sqlite3.Connection) -> list[Row]:
    """Every row of a call whose request is open, or that was started and not finished."""
    receipts = "SELECT receipt_id FROM running UNION SELECT receipt_id FROM requests WHERE state = 'open'"
    return list(schema.whole_rows(connection, [f"receipt_id IN ({receipts})"]))
