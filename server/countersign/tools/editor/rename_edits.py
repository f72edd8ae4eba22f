"""Edits of the editor's, given by lines and characters, as edits of ``edit_file``, given by text that occurs once.

Pure functions. Each edit says what stands at its place in the editor; where something else stands there on the disk,
there is nothing to apply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate import BadArguments
from countersign.tools.files.text import for_reading
from countersign.wire.editor import EditorTextEdit

MOST_PLACES = 200
"""Above, one edit spans all places: each edit is looked for in the whole text."""
_LINE_END = re.compile(r"\r\n|\n|\r")
"""As the editor splits a file into lines."""


def as_replacements(text: str, edits: Sequence[EditorTextEdit], shown: str) -> list[tuple[str, str]]:
    """Return pairs of old and new text that make these edits of the file ``shown`` when applied in order, each old text
    occurring exactly once in what the ones before it left.

    Raises:
        BadArguments: the file holds another text than the editor's, or the edits overlap or change nothing.
    """
    text = for_reading(text)
    spans = _spans(text, edits, shown)
    if len(spans) > MOST_PLACES:
        spans = [_as_one(text, spans)]
    pairs: list[tuple[str, str]] = []
    # From the last to the first, so that each place before them stays where it is.
    for start, end, new in reversed(spans):
        first, last = _unique(text, start, end)
        pairs.append((text[first:last], text[first:start] + new + text[end:last]))
        text = text[:start] + new + text[end:]
    if not pairs:
        raise BadArguments(f"the editor would change nothing in `{shown}`")
    return pairs


def _spans(text: str, edits: Sequence[EditorTextEdit], shown: str) -> list[tuple[int, int, str]]:
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    spans: list[tuple[int, int, str]] = []
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.character)):
        start = _offset(text, starts, edit.line, edit.character)
        end = _offset(text, starts, edit.end_line, edit.end_character)
        if start is None or end is None or text[start:end] != _plain(edit.old_text):
            raise BadArguments(f"`{shown}` on the disk is not what the editor has; save it first")
        if start > end or (spans and start < spans[-1][1]):
            raise BadArguments(f"the editor's changes of `{shown}` overlap")
        if text[start:end] != _plain(edit.new_text):
            spans.append((start, end, _plain(edit.new_text)))
    return spans


def _as_one(text: str, spans: Sequence[tuple[int, int, str]]) -> tuple[int, int, str]:
    pieces: list[str] = []
    reached = spans[0][0]
    for start, end, new in spans:
        pieces += [text[reached:start], new]
        reached = end
    return spans[0][0], reached, "".join(pieces)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _offset(text: str, starts: Sequence[int], line: int, character: int) -> int | None:
    """Return where a line's character begins, counted from 1 in UTF-16 code units; None outside the text."""
    if not 1 <= line <= len(starts) or character < 1:
        return None
    begin = starts[line - 1]
    end = starts[line] if line < len(starts) else len(text)
    units = 0
    for at in range(begin, end + 1):
        if units == character - 1:
            return at
        units += 1 if at < end and ord(text[at]) < 0x10000 else 2
    return None


def _unique(text: str, start: int, end: int) -> tuple[int, int]:
    """Return whole lines around a place that occur once in the text: one, or twice as many until they do."""
    first, last = _line_start(text, start), _line_end(text, end)
    more = 1
    while _occurs_again(text, first, last):
        for _ in range(more):
            first, last = _line_start(text, max(0, first - 1)), _line_end(text, min(len(text), last + 1))
        more *= 2
    return first, last


def _occurs_again(text: str, first: int, last: int) -> bool:
    part = text[first:last]
    return text.find(part) != first or text.find(part, first + 1) >= 0


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
