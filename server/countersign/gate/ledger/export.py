"""Exports: the ledger as JSON lines that prove themselves, away from the database.

The first line says what it is. Then comes each row as it was hashed, with its hash and the one before, and between them
the chain's links. The last line names the count and the last hash of the chain, the number of rows in the file, and the
SHA-256 of everything above and of itself up to there. So a byte that was changed, a line that is gone and an end that
was cut off are found with the file alone; that it was not written anew as a whole is known to whoever has noted count
and last hash elsewhere.

An export through a filter proves each of its rows, and that none is gone from the file, but no chain.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import now
from countersign.gate.ledger.hash_chain import (
    COLUMNS,
    Fault,
    Head,
    Link,
    Row,
    Verification,
    Walk,
    chain_hash,
    dumps,
    merged,
)
from countersign.gate.ledger.reader import Reader, clauses_of
from countersign.settings.regular_file import open_regular
from countersign.wire.base import as_json
from countersign.wire.history import HistoryFilter

FORMAT = "countersign-history/1"
LONGEST_FIRST_LINE, LONGEST_LINE = 1 << 20, 256 << 20
"""Bytes. The first line holds a filter, which came from a command line; the others rows, of whose texts each is bounded
by the longest message (16 MiB), before it is escaped."""
_END = b'{"end":'


@dataclass(frozen=True, slots=True)
class Exported:
    """``rows`` are in the file, ``head`` is what the chain had come to, ``sha256`` is of the whole file."""

    rows: int
    head: Head
    sha256: str


def blocking_export(
    reader: Reader, path: Path, wanted: HistoryFilter | None = None, *, workspace: str | None = None
) -> Exported:
    """Write the rows that are wanted (None: all) into a new file, 0600, durably.

    Raises:
        FileExistsError: there is such a file; nothing of it was changed.
        OSError: the disk refuses; no file is left.
        LedgerUnavailable: the ledger cannot be read; no file is left.
        ValueError: ``since`` or ``until`` is no moment; no file is left.
    """
    filtered = as_json(wanted) if wanted is not None else {}
    if workspace is not None:
        filtered["workspace"] = workspace
    with ExportFile(path, filtered) as export, reader.snapshot() as connection:
        end = schema.chain_end(connection)
        if filtered:
            clauses, values = clauses_of(wanted or HistoryFilter(), workspace)
            export.add(schema.whole_rows(connection, clauses, values))
        else:
            export.add(merged(schema.whole_rows(connection), schema.links(connection)))
        return export.finish(end)


class ExportFile:
    """An export that is being written. A class because it counts and hashes what it has written.

    Left without ``finish`` there is no file. Raises OSError where the disk refuses.
    """

    def __init__(self, path: Path, filtered: dict[str, Any]) -> None:
        self._path = path
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file: BinaryIO = os.fdopen(descriptor, "wb", buffering=1 << 20)
        self._sum = hashlib.sha256()
        self._rows = 0
        self._finished = False
        first: dict[str, Any] = {"format": FORMAT, "exportedAt": now()}
        self._line(dumps(first | ({"filter": filtered} if filtered else {})))

    def __enter__(self) -> ExportFile:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._finished:
            with suppress(OSError):  # what could not be written out is thrown away anyhow
                self._file.close()
            self._path.unlink(missing_ok=True)

    def add(self, chain: Iterable[Row | Link]) -> None:
        """Rows and links, in order."""
        for part in chain:
            if isinstance(part, Link):
                self._line(_link_line(part))
            else:
                self._line(_row_line(part))
                self._rows += 1

    def blocking_sync(self) -> None:
        """Bring what there is so far to the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def finish(self, head: Head) -> Exported:
        """The last line; durable afterwards."""
        last = dumps({"end": True, "rows": self._rows, "count": head.rows, "head": head.hash})
        self._line(dumps(json.loads(last) | {"sha256": _sum_with(self._sum, last)}))
        self.blocking_sync()
        self._file.close()
        self._finished = True
        return Exported(self._rows, head, self._sum.hexdigest())

    def _line(self, text: str) -> None:
        data = text.encode("ascii") + b"\n"
        self._sum.update(data)
        self._file.write(data)


def blocking_verify_export(path: Path) -> Verification:
    """Read an export and say where it first fails to hold. Keeps one line at a time, and of a file that has no end of
    line only what an export's longest may hold.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    walk, fault = Walk(), None
    with open_regular(path) as opened, io.BufferedReader(opened) as file:
        lines = _Lines(file)
        try:
            return _verified(lines, walk)
        except Fault as found:
            fault = str(found)
    return Verification(lines.rows, walk.at.hash, fault, tuple(walk.notes))


def _verified(lines: _Lines, walk: Walk) -> Verification:
    told = iter(lines)
    first = next(told, {})
    if first.get("format") != FORMAT:
        raise Fault("the first line is not that of an export")
    for said in told:
        if "end" in said:
            break
        part = _part_of(said, lines.number)
        if "filter" in first:
            _check_alone(part, lines.number)
        elif isinstance(part, Link):
            walk.cross(part)
        else:
            walk.step(part)
        lines.rows += not isinstance(part, Link)
    else:
        raise Fault(f"the end is missing; line {lines.number} is the last")
    if next(told, None) is not None:
        raise Fault("something follows the last line")
    summed = said.pop("sha256", None) == _sum_with(lines.sum_above, dumps(said))
    if not summed or said.get("rows") != lines.rows or not {"count", "head"} <= said.keys():
        named = said.get("rows", "a number that is no longer named")
        raise Fault(f"lines are missing or were changed; {lines.rows} rows are left of {named}")
    head = Head(said["count"], said["head"])
    if "filter" not in first and walk.at != head:
        raise Fault(f"the rows come to another head than the last line names ({head.hash})")
    return Verification(lines.rows, head.hash, None, tuple(walk.notes))


class _Lines:
    """The lines of an export, hashed and counted as they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum_above = hashlib.sha256()
        self.number = 0
        self.rows = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while line := self._file.readline(most := LONGEST_LINE if self.number else LONGEST_FIRST_LINE):
            self.number += 1
            if len(line) == most:
                raise Fault(f"line {self.number} is longer than any line of an export")
            if not line.startswith(_END):
                self.sum_above.update(line)
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                said = None
            # What was written reads back as the very same bytes.
            if not isinstance(said, dict) or dumps(said).encode("ascii") + b"\n" != line:
                raise Fault(f"line {self.number} was changed or cut off")
            yield said


def _sum_with(above: Any, last: str) -> str:
    digest = above.copy()
    digest.update(last.encode("ascii"))
    return digest.hexdigest()


def _check_alone(part: Row | Link, number: int) -> None:
    if isinstance(part, Link) or chain_hash(part[-2], part[0], part[1:-2]) != part[-1]:
        raise Fault(f"line {number} was changed")


_PLAIN = (
    "seq", "receiptId", "at", "phase", "workspace", "owner", "threadId", "agentName", "subagent", "toolCallId",
    "approvalId", "tool", "input", "verdict", "by", "evidence", "digest", "outcome", "previous", "hash",
)  # fmt: skip
"""The names on a line, in the order of the columns of a whole row."""
_JSON = {name: 1 + COLUMNS.index(name) for name in ("input", "evidence", "outcome")}
"""Columns that hold JSON already, and where: they are put into the line as they are."""


def _row_line(row: Row) -> str:
    plain = {name: value for name, value in zip(_PLAIN, row, strict=True) if name not in _JSON and value is not None}
    nested = "".join(f',"{name}":{row[at]}' for name, at in _JSON.items() if row[at] is not None)
    return f"{dumps(plain)[:-1]}{nested}}}"


def _link_line(link: Link) -> str:
    return dumps({"link": link.kind, "after": link.after, "at": link.at, "said": link.said, "previous": link.previous})


def _part_of(said: dict[str, Any], number: int) -> Row | Link:
    try:
        if "link" in said:
            return Link(said["after"], said["link"], said["at"], said["said"], said["previous"])
        nested = {name: dumps(said[name]) for name in _JSON if name in said}
        return [nested.get(name, said.get(name)) for name in _PLAIN]
    except KeyError:
        raise Fault(f"line {number} was changed") from None
