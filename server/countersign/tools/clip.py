"""Keeping what a model reads within its bound, with a clear mark where something was left out."""

from __future__ import annotations

MOST_OUTPUT = 32 << 10
"""Bytes of a tool's output that the model sees at most (docs/gate.md "Environment of commands")."""
_ROOM_FOR_MARKS = 512


def head(text: str, most: int = MOST_OUTPUT - _ROOM_FOR_MARKS) -> str:
    """The longest beginning of the text that fits into so many bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def tail(text: str, most: int) -> str:
    """The longest end of the text that fits into so many bytes of UTF-8."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[-most:].decode("utf-8", "ignore")


def lines_that_fit(lines: list[str], most: int = MOST_OUTPUT - _ROOM_FOR_MARKS) -> int:
    """How many of these lines, each with its line feed, fit into so many bytes."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > most:
            return count
    return len(lines)
