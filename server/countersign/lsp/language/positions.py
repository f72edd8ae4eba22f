"""Where something stands in a text, as the editor counts it: lines from 0, columns in the units that were agreed upon.

Lines end as editors and ``settings/jsonc.py`` end them (CR LF, LF, CR) and at nothing else; Python's own notion of a
line knows more ends, and every position after one of those would be wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from lsprotocol import types

from countersign.settings.jsonc import BOM

Units = Callable[[str], int]
"""How many units of the client's encoding a text takes."""


def utf16(text: str) -> int:
    """LSP's own unit, where nothing else was agreed upon."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def units_of(encoding: str | None) -> Units:
    """The units of an encoding as LSP names it."""
    match encoding:
        case types.PositionEncodingKind.Utf8:
            return lambda text: len(text.encode("utf-8", "surrogatepass"))
        case types.PositionEncodingKind.Utf32:
            return len
    return utf16


@dataclass(frozen=True, slots=True)
class Positions:
    """The places of one text, which has no byte order mark. Offsets count characters."""

    text: str
    starts: tuple[int, ...]
    units: Units

    @classmethod
    def of(cls, text: str, units: Units = utf16) -> Positions:
        text = text.removeprefix(BOM)
        return cls(text, (0, *(end.end() for end in _LINE_END.finditer(text))), units)

    def position(self, offset: int) -> types.Position:
        line = bisect_right(self.starts, offset) - 1
        return types.Position(line, self.units(self.text[self.starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """The character at a position; past the end of its line or text, that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start, end = self._line(position.line)
        offsets = range(start, end + 1)
        behind = bisect_right(offsets, position.character, key=lambda offset: self.units(self.text[start:offset]))
        return offsets[max(behind - 1, 0)]

    def at(self, line: int, column: int) -> int:
        """The offset of a place counted from 1, as ``settings`` tells it."""
        start, end = self._line(min(max(line, 1), len(self.starts)) - 1)
        return min(start + max(column, 1) - 1, end)

    def end_of_line(self, offset: int) -> int:
        return self._line(bisect_right(self.starts, offset) - 1)[1]

    def _line(self, line: int) -> tuple[int, int]:
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))


_LINE_END = re.compile(r"\r\n|\n|\r")
