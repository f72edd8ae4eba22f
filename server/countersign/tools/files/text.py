"""Text files as bytes and back: UTF-8 or refused, byte order mark and line ends kept; edits and their line counts.

Pure functions. An edit is judged on the text as a model sees it (line feeds only, no byte order mark) and written back
in the file's own manner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from countersign.gate import BadArguments

BOM = "\ufeff"
_LOOKED_AT_FOR_NUL = 8192
_MOST_DIFFERENCES = 400
"""Beyond this many changed lines the counts ignore their order; it keeps the worst case at some 20 ms."""


@dataclass(frozen=True, slots=True)
class Replacing:
    """One edit: ``old_text`` must occur exactly once."""

    old_text: str
    new_text: str


def looks_binary(data: bytes) -> bool:
    """Whether this is no text: a NUL near its start, as git sees it."""
    return b"\0" in data[:_LOOKED_AT_FOR_NUL]


def decode(data: bytes, shown: str) -> str:
    """The text of these bytes, byte order mark and all.

    Raises:
        BadArguments: they are no UTF-8 text, and so cannot be edited without breaking them.
    """
    if looks_binary(data):
        raise BadArguments(f"`{shown}` is a binary file and cannot be edited as text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadArguments(
            f"`{shown}` is not UTF-8 (byte {error.start}) and cannot be edited without breaking it"
        ) from None


def edited(text: str, edits: Sequence[Replacing]) -> str:
    """The text with the edits applied in order, each to what the one before left.

    Raises:
        BadArguments: an old text does not occur exactly once, or nothing would change.
    """
    mark = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    crlf = _all_crlf(body)
    plain = _with_line_feeds(body) if crlf else body
    for number, edit in enumerate(edits, start=1):
        old, new = edit.old_text, edit.new_text
        if crlf:
            old, new = _with_line_feeds(old), _with_line_feeds(new)
        plain = _replaced(plain, old, new, number, len(edits))
    result = mark + (plain.replace("\n", "\r\n") if crlf else plain)
    if result == text:
        raise BadArguments("the edits change nothing")
    return result


def for_reading(text: str) -> str:
    """The text as a model sees it: no byte order mark, and line feeds where all lines end in CR LF."""
    body = text.removeprefix(BOM)
    return _with_line_feeds(body) if _all_crlf(body) else body


def count_changes(old: str, new: str) -> tuple[int, int]:
    """Lines (added, removed) between two texts."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    differences = _fewest_differences(before, after)
    if differences is None:
        gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
        return come.total(), gone.total()
    surplus = len(after) - len(before)
    return (differences + surplus) // 2, (differences - surplus) // 2


def _replaced(text: str, old: str, new: str, number: int, count: int) -> str:
    which = "old_text" if count == 1 else f"old_text of edit {number}"
    if not old:
        raise BadArguments(f"{which} is empty; name the text to replace")
    times = _occurrences(text, old)
    if times == 0:
        raise BadArguments(f"{which} does not occur in the file (0 times); read it again and copy the text exactly")
    if times > 1:
        raise BadArguments(f"{which} occurs {times} times; add lines around it until it occurs once")
    return text.replace(old, new, 1)


def _occurrences(text: str, part: str) -> int:
    """How often it occurs, overlapping ones too: each of them could be the one that was meant."""
    times, at = 0, text.find(part)
    while at >= 0:
        times += 1
        at = text.find(part, at + 1)
    return times


def _all_crlf(text: str) -> bool:
    feeds = text.count("\n")
    return feeds > 0 and text.count("\r\n") == feeds


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n")


def _fewest_differences(before: list[str], after: list[str]) -> int | None:
    """Myers' shortest edit script, its length only; None beyond ``_MOST_DIFFERENCES``."""
    reach = {1: 0}
    for steps in range(_MOST_DIFFERENCES + 1):
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (diagonal != steps and reach[diagonal - 1] < reach[diagonal + 1])
            x = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            y = x - diagonal
            while x < len(before) and y < len(after) and before[x] == after[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= len(before) and y >= len(after):
                return steps
    return None
