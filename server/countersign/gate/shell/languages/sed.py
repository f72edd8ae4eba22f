"""What a sed script runs, reads and writes (RULES.md S9): its commands read one by one, as GNU sed reads them.

A script that cannot be read to its end counts as one that could do anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(slots=True)
class Doings:
    """What a script in a small language does beside filtering. None stands for something not known before it runs."""

    runs: list[str | None] = field(default_factory=list)
    writes: list[str | None] = field(default_factory=list)
    reads: list[str | None] = field(default_factory=list)
    unreadable: str | None = None

    @property
    def harmless(self) -> bool:
        return not (self.runs or self.writes or self.unreadable)


def scan_sed(script: str) -> Doings:
    """Read a script; the pieces of several ``-e`` are joined by newlines, as sed does."""
    doings = Doings()
    try:
        _commands(script, doings)
    except _UnreadableError as error:
        doings.unreadable = str(error)
    return doings


class _UnreadableError(Exception):
    pass


_SKIP = re.compile(r"[ \t;\n]*")
_BLANKS = re.compile(r"[ \t]*")
_NUMBER = re.compile(r"\d+|\$|[+~]\d+")
_LABEL = re.compile(r"[^ \t\n;}]*")
_LINE = re.compile(r"[^\n]*")
_TEXT = re.compile(r"(?:\\.|[^\\\n])*", re.DOTALL)


def _commands(script: str, doings: Doings) -> None:
    position = 0
    while True:
        position = _at(_SKIP, script, position)
        if position >= len(script):
            return
        position = _addresses(script, position)
        position = re.compile(r"[ \t]*(?:![ \t]*)*").match(script, position).end()  # type: ignore[union-attr]
        if position >= len(script):
            raise _UnreadableError("an address has no command")
        position = _command(script, position, doings)


def _at(pattern: re.Pattern[str], script: str, position: int) -> int:
    found = pattern.match(script, position)
    return found.end() if found else position


def _addresses(script: str, position: int) -> int:
    position = _address(script, position)
    comma = re.compile(r"[ \t]*,[ \t]*").match(script, position)
    return _address(script, comma.end()) if comma else position


def _address(script: str, position: int) -> int:
    char = script[position : position + 1]
    if char == "/":
        position = _pattern(script, position + 1, "/")
        return _at(re.compile(r"[IM]*"), script, position)
    if char == "\\" and position + 1 < len(script):
        position = _pattern(script, position + 2, script[position + 1])
        return _at(re.compile(r"[IM]*"), script, position)
    found = _NUMBER.match(script, position)
    if found is None:
        return position
    return _at(re.compile(r"[ \t]*~[ \t]*\d+"), script, found.end())


_BRACKET = re.compile(r"\[\^?\]?(?:\[(?:\.[^.]*\.|:[^:]*:|=[^=]*=)\]|[^\]\n])*\]")


def _pattern(script: str, position: int, delimiter: str) -> int:
    """The same for a regular expression. Seds differ on a delimiter inside brackets, so both readings must agree."""
    plain = _delimited(script, position, delimiter)
    if "[" not in script[position:plain]:
        return plain
    at = position
    while at < len(script) and script[at] != delimiter:
        bracket = _BRACKET.match(script, at)
        at = bracket.end() if bracket else at + 1 + (script[at] == "\\")
    if at + 1 != plain:
        raise _UnreadableError("a delimiter stands inside brackets")
    return plain


def _delimited(script: str, position: int, delimiter: str) -> int:
    """The place behind the next delimiter that no backslash stands before."""
    if not delimiter or delimiter in "\n\\":
        raise _UnreadableError("a pattern has no delimiter")
    while position < len(script):
        if script[position] == "\\":
            position += 2
        elif script[position] == delimiter:
            return position + 1
        else:
            position += 1
    raise _UnreadableError("a pattern is never closed")


def _command(script: str, position: int, doings: Doings) -> int:
    char = script[position]
    position += 1
    if char in "{}":
        return position
    if char in "=dDgGhHnNpPxzF":
        return _ended(script, position)
    if char == "#":
        return _at(_LINE, script, position)
    if char in "aic":
        if re.compile(r"[ \t]*\\[ \t]*\n").match(script, position):
            position = script.index("\n", position) + 1
        return _at(_TEXT, script, position)
    if char in ":btT":
        return _at(_LABEL, script, _at(_BLANKS, script, position))
    if char in "qQlL":
        return _ended(script, _at(re.compile(r"[ \t]*\d*"), script, position))
    if char in "rRwW":
        name, position = _rest_of_line(script, position)
        (doings.reads if char in "rR" else doings.writes).append(name)
        return position
    if char == "e":
        command, position = _rest_of_line(script, position)
        doings.runs.append(command or None)
        return position
    if char == "s":
        return _substitute(script, position, doings)
    if char == "y":
        delimiter = script[position : position + 1]
        position = _delimited(script, position + 1, delimiter)
        return _ended(script, _delimited(script, position, delimiter))
    if char == "v":
        return _at(re.compile(r"[ \t]*[\d.]*"), script, position)
    raise _UnreadableError(f"`{char}` is no command of sed")


def _substitute(script: str, position: int, doings: Doings) -> int:
    delimiter = script[position : position + 1]
    middle = _pattern(script, position + 1, delimiter)
    behind = _delimited(script, middle, delimiter)
    replacement = script[middle : behind - 1]
    flags = re.compile(r"[gpiImM\d]*").match(script, behind)
    position = flags.end() if flags else behind
    runs = False
    while script[position : position + 1] == "e":
        runs = True
        position = _at(re.compile(r"[gpiImM\d]*"), script, position + 1)
    if runs:
        doings.runs.append(replacement or None)
    if script[position : position + 1] == "w":
        name, position = _rest_of_line(script, position + 1)
        doings.writes.append(name)
        return position
    return _ended(script, position)


def _rest_of_line(script: str, position: int) -> tuple[str, int]:
    found = _LINE.match(script, position)
    assert found is not None
    return found[0].strip(" \t"), found.end()


def _ended(script: str, position: int) -> int:
    """After a command without text only a separator, a brace or a comment may follow."""
    position = _at(_BLANKS, script, position)
    if position < len(script) and script[position] not in ";\n}#":
        raise _UnreadableError("a command of sed is followed by something else")
    return position
