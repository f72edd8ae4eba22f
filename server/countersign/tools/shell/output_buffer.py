"""What is kept of a command's output: its beginning and its end, by byte offsets that count from 0.

No IO. A reader asks from an offset and is told where to go on; what was dropped in the middle is skipped and said.
"""

from __future__ import annotations

from dataclasses import dataclass

HALF = 512 << 10
"""Bytes to keep from the beginning, and as many from the end (docs/gate.md "Environment of commands")."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A run of output. ``start`` is where it really begins, ``next`` where to read on; offsets are bytes from 0."""

    data: bytes
    start: int
    next: int


class KeptOutput:
    """Grows by ``append``; what can be read of it is bounded. Holds the count of all bytes there ever were."""

    def __init__(self, half: int = HALF) -> None:
        self._half = half
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def append(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        self.total += len(data)
        if len(self._tail) > 2 * self._half:
            # Cut rarely and by much: each cut moves what stays.
            del self._tail[: -self._half]

    @property
    def dropped(self) -> int:
        """Bytes that are gone from the middle."""
        return self._resumes - len(self._head)

    @property
    def _resumes(self) -> int:
        """The offset from which on the end is kept."""
        return max(len(self._head), self.total - self._half)

    @property
    def gap(self) -> int | None:
        """The offset where bytes are gone, or None."""
        return len(self._head) if self.dropped else None

    def read(self, start: int, most: int) -> Excerpt:
        """At most so many bytes from this offset on, up to the gap or the end.

        An offset in the gap is taken as its end; one before 0 or past the end as that.
        """
        start = min(max(start, 0), self.total)
        if start < len(self._head):
            piece = bytes(self._head[start : start + most])
            rest = most - len(piece)
            if rest and not self.dropped and start + len(piece) == len(self._head):
                piece += bytes(self._tail[:rest])
            return Excerpt(piece, start, start + len(piece))
        start = max(start, self._resumes)
        index = start - (self.total - len(self._tail))
        piece = bytes(self._tail[index : index + most])
        return Excerpt(piece, start, start + len(piece))


def text_from(kept: KeptOutput, start: int, most: int, *, ended: bool) -> tuple[str, int, bool]:
    """(text, next offset, whole): at most so many bytes from this offset on, over the gap if it is met.

    ``ended``: nothing more will come. Otherwise a character whose last bytes are not there yet waits for them.
    """
    pieces, whole = list[str](), True
    at = min(max(start, 0), kept.total)
    while most > 0:
        excerpt = kept.read(at, most)
        if excerpt.start > at:
            whole = False
            pieces.append(f"\n[… {excerpt.start - at} bytes were dropped …]\n")
        data, at = excerpt.data, excerpt.next
        if not data:
            break
        most -= len(data)
        complete = at == kept.gap or (at == kept.total and ended)
        late = 0 if complete else _unfinished(data)
        at -= late
        pieces.append(data[: len(data) - late].decode("utf-8", "replace"))
        if late:
            break
    return "".join(pieces), at, whole


def _unfinished(data: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character that is not all there."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        length = 1
        if 0xC2 <= byte <= 0xF4:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
        return back if length > back else 0
    return 0
