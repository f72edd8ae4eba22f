"""What an agent says is to happen to one file, and the text that this makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that replace others. ``start`` is the number of the first replaced line, from 1, where it is said."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What is to happen to one file: whole new ``content``, or in order ``replacements`` (old, new, everywhere) or
    ``hunks``. ``loose``: it does not say whether the text ends with a newline."""

    path: str
    content: str | None = None
    replacements: tuple[tuple[str, str, bool], ...] = ()
    hunks: tuple[Hunk, ...] = ()
    loose: bool = False

    def apply(self, text: str | None) -> str | None:
        """The text of the file afterwards, or None where that cannot be told; ``text`` None is a file not there."""
        if self.content is not None:
            return self.content
        if self.hunks:
            return apply_hunks(self.hunks, text)
        for old, new, everywhere in self.replacements:
            if old == "":
                text = new if not text else None
            elif text is not None:
                count = text.count(old)
                text = text.replace(old, new) if count == 1 or (count > 1 and everywhere) else None
            if text is None:
                return None
        return text


def apply_hunks(hunks: Sequence[Hunk], text: str | None) -> str | None:
    """The text after the hunks, or None where one of them does not fit in exactly one place."""
    if not text:
        new = [line for hunk in hunks for line in hunk.new]
        return "".join(f"{line}\n" for line in new) if not any(hunk.old for hunk in hunks) else None
    lines = text.split("\n")
    made: list[str] = []
    done = 0
    for hunk in hunks:
        if hunk.start is not None:
            # A hunk that replaces nothing is numbered by the line before it.
            found = [hunk.start - 1 if hunk.old else hunk.start]
        else:
            found = _places(lines, hunk.old, done)
        if len(found) != 1 or found[0] < done or tuple(lines[found[0] : found[0] + len(hunk.old)]) != hunk.old:
            return None
        made += [*lines[done : found[0]], *hunk.new]
        done = found[0] + len(hunk.old)
    return "\n".join([*made, *lines[done:]])


def _places(lines: Sequence[str], old: tuple[str, ...], start: int) -> list[int]:
    """Where the lines stand from ``start`` on; two places are enough to know that it is not one."""
    found: list[int] = []
    for index in range(start, len(lines) - len(old) + 1) if old else ():
        if lines[index] == old[0] and tuple(lines[index : index + len(old)]) == old:
            found.append(index)
            if len(found) > 1:
                break
    return found
