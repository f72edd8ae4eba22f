"""The chain: how rows are bound to one another, and the walk that says whether they still are.

Each row is hashed over the one before. Between rows may stand **links**, hashed in the same way: an archived past, rows
that a crash cut off in writing, a head file that was gone, a damaged chain that was set aside (`lost`) and the person
who then began a new one (`begun`). A link is how the chain says of itself that something is not there; without one, a
gap is a fault. Who writes rows and links is ``writer.py``; the count and hash that are kept
outside the database are ``head_file.py``'s.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from json import encoder
from typing import Any, Literal

from countersign.wire.base import Json

GENESIS = "0" * 64
COLUMNS = (
    "receipt_id", "at", "phase", "workspace", "owner", "thread_id", "agent_name", "subagent", "tool_call_id",
    "approval_id", "tool", "input", "verdict", "decided_by", "evidence", "digest", "outcome",
)  # fmt: skip
"""The columns that a row's hash is over, in its order; ``previous`` and ``hash`` follow them."""

Row = Sequence[Any]
"""A whole row: its number, COLUMNS, the hash before and its own."""
LinkKind = Literal["archived", "dropped", "headless", "lost", "begun"]


def _made_dumps() -> Callable[[Any], str]:
    """The function behind `dumps`. `JSONEncoder.encode` makes the part of it that is written in C anew for each text,
    which takes longer than to use it; this makes it once. What is written so has no circles to look for."""
    slow = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)
    make: Any = getattr(encoder, "c_make_encoder", None)
    if make is None:  # a Python without it
        return slow.encode
    parts = make(None, slow.default, encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda value: "".join(parts(value, 0))


dumps = _made_dumps()
"""JSON as it is stored and hashed: ASCII, no spaces."""


def chain_hash(previous: str, seq: int, values: Sequence[object]) -> str:
    """SHA-256 in hex over the row before and every field of this one."""
    return hashlib.sha256(dumps([previous, seq, *values]).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """What a chain has come to: the number of its last row, archived ones counted, and the last hash."""

    rows: int
    hash: str


BEGINNING = Head(0, GENESIS)
"""What a chain without rows has come to."""


@dataclass(frozen=True, slots=True)
class Link:
    """What stands after row number ``after`` in place of rows. ``said`` holds what there is to know of it."""

    after: int
    kind: LinkKind
    at: str
    said: dict[str, Json]
    previous: str

    @property
    def hash(self) -> str:
        """Over the hash before and every field."""
        return chain_hash(self.previous, self.after, (self.kind, self.at, dumps(self.said)))

    @property
    def words(self) -> str:
        """The link as a person reads it."""
        match self.kind:
            case "archived":
                return (
                    f"the {self.after} rows before it are archived in `{self.said.get('file')}`"
                    f" (sha256 {self.said.get('sha256')}, head {self.previous})"
                )
            case "dropped":
                return f"after row {self.after} an append was incomplete when a server ended ({self.at}); it is dropped"
            case "headless":
                return f"at row {self.after} the head file was gone or could not be read ({self.at})"
            case "lost":
                return (
                    f"the ledger up to row {self.after} was damaged ({self.said.get('fault')});"
                    f" it is kept as `{self.said.get('file')}` ({self.at})"
                )
            case "begun":
                return f"after row {self.after} a person began a new chain: {self.said.get('reason')} ({self.at})"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a walk found: how many rows hold and the last hash, the first fault (None: none) and the row it is at, and
    in ``notes`` what the chain says of itself."""

    rows: int
    head: str
    fault: str | None
    notes: tuple[str, ...] = ()
    fault_at: int | None = None


class Fault(Exception):
    """The chain does not hold at ``row``; the words say where and how."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class Walk:
    """A walk along a chain. A class because it keeps where it is and what it met.

    ``head`` is the one kept outside; the walk must meet it, or end at ``cut_off``, the one before, where a crash is
    known to have cut off what came between. Each step raises Fault where it cannot go on.
    """

    def __init__(self, head: Head | None = None, cut_off: Head | None = None, *, start: Head = BEGINNING) -> None:
        self._unmet = head if head != BEGINNING else None
        self._cut_off = cut_off
        self._first = start.rows
        self._lost: Link | None = None
        self.at = start
        self.notes: list[str] = []

    @property
    def rows(self) -> int:
        """How many rows of this chain hold so far."""
        return self.at.rows - self._first

    @property
    def waits_for_a_person(self) -> bool:
        """Whether a loss was met and nobody has begun a new chain behind it, and the head kept outside was met."""
        return self._lost is not None and self._unmet is None

    def step(self, row: Row) -> None:
        """Go to the next row."""
        seq, digest, number = row[0], row[-1], self.at.rows + 1
        if seq != number:
            raise Fault(f"row {number} is missing", number)
        if row[-2] != self.at.hash or chain_hash(self.at.hash, seq, row[1:-2]) != digest:
            raise Fault(f"row {number} was changed", number)
        self._reach(Head(seq, digest))

    def cross(self, link: Link) -> None:
        """Go over a link."""
        if link.kind in ("archived", "lost") and self.at == BEGINNING:
            # What is archived is believed as the link tells it; the archive proves itself. What is lost is not believed
            # at all: only its length and last hash stand here, and a person has to go on from there.
            self._first = link.after
            self._reach(Head(link.after, link.previous))
        if link.after != self.at.rows:
            raise Fault(f"row {self.at.rows + 1} is missing", self.at.rows + 1)
        if link.previous != self.at.hash:
            raise Fault(f"the note behind row {link.after} was changed", link.after)
        if link.kind == "lost":
            self._lost = link
        elif link.kind == "begun":
            self._lost = None
        self.notes.append(link.words)
        self._reach(Head(link.after, link.hash))

    def end(self) -> None:
        """There are no more rows."""
        head = self._unmet
        if head is not None and self.at != self._cut_off:
            if head.rows > self.at.rows:
                raise Fault(f"{head.rows - self.at.rows} rows at the end are missing", self.at.rows + 1)
            raise Fault(f"row {head.rows} is not the one that was written", head.rows)
        if self._lost is not None:
            raise Fault(f"{self._lost.words}, and nobody has begun a new chain", self._lost.after)

    def _reach(self, head: Head) -> None:
        self.at = head
        if head == self._unmet:
            self._unmet = None


def merged(rows: Iterable[Row], links: Iterable[Link]) -> Iterator[Row | Link]:
    """Rows and links in the order of the chain, one at a time."""
    waiting = deque(links)
    for row in rows:
        while waiting and waiting[0].after < row[0]:
            yield waiting.popleft()
        yield row
    yield from waiting


def followed(chain: Iterable[Row | Link], walk: Walk) -> Iterator[Row | Link]:
    """The chain once more, each part after the walk has gone over it. Raises Fault."""
    for part in chain:
        if isinstance(part, Link):
            walk.cross(part)
        else:
            walk.step(part)
        yield part


def verify(chain: Iterable[Row | Link], walk: Walk) -> Verification:
    """Walk a whole chain and say where it first fails to hold. Keeps one row at a time."""
    fault = None
    try:
        for _ in followed(chain, walk):
            pass
        walk.end()
    except Fault as found:
        fault = found
    words, row = (str(fault), fault.row) if fault is not None else (None, None)
    return Verification(walk.rows, walk.at.hash, words, tuple(walk.notes), row)
