"""What a sed script runs, reads and writes (docs/gate.md S9): its commands read one by one.

GNU, BSD and busybox sed agree on few places where an argument ends, so that only these are read: a script that cannot
be read to its end in the one way that all of them share counts as one that could do anything.
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


MOST_SCRIPT = 8_192
"""Characters of a script in a small language that are read; a longer one could do anything."""


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


_STRANGE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters, of which some are blanks for some seds."""
_SKIP = re.compile(r"[ \t;\n]*")
_BLANKS = re.compile(r"[ \t]*")
_NUMBER = re.compile(r"\d+|\$|[+~]\d+")
_STEP = re.compile(r"[ \t]*~[ \t]*\d+")
_COMMA = re.compile(r"[ \t]*,[ \t]*")
_NOT = re.compile(r"[ \t!]*")
_FLAGS = re.compile(r"[IM]*")
_EXIT_CODE = re.compile(r"[ \t]*\d*")
_LABEL = re.compile(r"(?:[ \t]*[\w.-]+)?(?=[ \t}]*(?:[;\n]|$))", re.ASCII)
"""Seds end it behind different characters: only one that all of them end alike is read."""
_VERSION = re.compile(r"(?:[ \t]*[\d.]+)?[ \t]*(?=[;\n]|$)", re.ASCII)
_LINE = re.compile(r"[^\n]*")
_TEXT_AT_ONCE = re.compile(r"[ \t]*(?:\\[ \t]*)?\\?[^\s\\][^\n]*(?<!\\)(?=\n|$)")
_TEXT_BELOW = re.compile(r"[ \t]*\\\n[ \t]*(?:\\[ \t]*)?[^\s\\](?:[^\\\n]|\\.)*(?<!\\\\)(?=\n|$)", re.DOTALL)
"""The text of ``a``, ``i`` and ``c``: on the line of its command, or on those below, each but the last of which ends
in one backslash. Of an empty text, and of blanks behind the backslash, seds make different things."""
_SUBSTITUTE_FLAGS = re.compile(r"[gpiImM\d]*", re.ASCII)


def _commands(script: str, doings: Doings) -> None:
    if len(script) > MOST_SCRIPT:
        raise _UnreadableError(f"a script of sed is longer than {MOST_SCRIPT} characters")
    if _STRANGE.search(script):
        raise _UnreadableError("a script of sed holds a control character")
    position, line_of_label = 0, -1
    while True:
        position = _at(_SKIP, script, position)
        if position >= len(script):
            return
        began = position
        position = _addresses(script, position)
        position = _at(_NOT, script, position)
        if position >= len(script):
            raise _UnreadableError("an address has no command")
        if script[position] in ":btT":
            line_of_label = _at(_LINE, script, position)
        position = _command(script, position, doings)
        if began <= line_of_label < position:
            # BSD reads a label to the end of its line, and what follows on the next line as commands.
            raise _UnreadableError("a command behind a label of sed goes on in the next line")


def _at(pattern: re.Pattern[str], script: str, position: int) -> int:
    found = pattern.match(script, position)
    return found.end() if found else position


def _addresses(script: str, position: int) -> int:
    position = _address(script, position)
    comma = _COMMA.match(script, position)
    return _address(script, comma.end()) if comma else position


def _address(script: str, position: int) -> int:
    char = script[position : position + 1]
    if char == "/":
        return _at(_FLAGS, script, _pattern(script, position + 1, "/"))
    if char == "\\" and position + 1 < len(script):
        return _at(_FLAGS, script, _pattern(script, position + 2, script[position + 1]))
    found = _NUMBER.match(script, position)
    return position if found is None else _at(_STEP, script, found.end())


_BRACKETS = re.compile(
    r"(?:[^\\\[]|\\.|\[\[\]|\[(?:\^?\]|\^(?!\])|(?![\^\]]))(?:\[:[a-z]+:\]|[^\\\]\[]|\\[^\]])*\])*", re.DOTALL
)
"""A regular expression whose brackets all seds close at the same places. In brackets BSD takes the backslash in front
of a `]` for one that escapes, and busybox knows no names of classes."""


def _pattern(script: str, position: int, delimiter: str) -> int:
    """The same for a regular expression. Seds differ on a delimiter inside brackets, so both readings must agree."""
    end = _delimited(script, position, delimiter)
    if _BRACKETS.fullmatch(script, position, end - 1) is None:
        raise _UnreadableError("a regular expression of sed has brackets that are not read with certainty")
    return end


_DELIMITERS = frozenset("/|,#@!%:;_~+=-")
_UNTIL = {each: re.compile(rf"(?:[^\\\n{re.escape(each)}]|\\.)*{re.escape(each)}", re.DOTALL) for each in _DELIMITERS}


def _delimited(script: str, position: int, delimiter: str) -> int:
    """The place behind the next delimiter that no backslash stands before."""
    pattern = _UNTIL.get(delimiter)
    if pattern is None:
        raise _UnreadableError("a pattern has no delimiter that all seds know")
    found = pattern.match(script, position)
    if found is None:
        raise _UnreadableError("a pattern is never closed")
    return found.end()


def _command(script: str, position: int, doings: Doings) -> int:
    char = script[position]
    position += 1
    if char == "{":
        return position
    if char in "}=dDgGhHnNpPxzF":
        return _ended(script, position)
    if char == "#":
        return _at(_LINE, script, position)
    if char in "aic":
        return _taken(_TEXT_BELOW, script, position) or _surely(_TEXT_AT_ONCE, script, position, "text")
    if char in ":btT":
        return _surely(_LABEL, script, position, "label")
    if char in "qQlL":
        return _ended(script, _at(_EXIT_CODE, script, position))
    if char in "rRwW":
        name, position = _file_name(script, position)
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
        return _surely(_VERSION, script, position, "version")
    raise _UnreadableError(f"`{char}` is no command of sed")


def _taken(pattern: re.Pattern[str], script: str, position: int) -> int | None:
    found = pattern.match(script, position)
    return found.end() if found else None


def _surely(pattern: re.Pattern[str], script: str, position: int, what: str) -> int:
    end = _taken(pattern, script, position)
    if end is None:
        raise _UnreadableError(f"the end of a {what} of sed is not read with certainty")
    return end


def _substitute(script: str, position: int, doings: Doings) -> int:
    delimiter = script[position : position + 1]
    middle = _pattern(script, position + 1, delimiter)
    behind = _delimited(script, middle, delimiter)
    replacement = script[middle : behind - 1]
    position = _at(_SUBSTITUTE_FLAGS, script, behind)
    runs = False
    while script[position : position + 1] == "e":
        runs = True
        position = _at(_SUBSTITUTE_FLAGS, script, position + 1)
    if runs:
        doings.runs.append(replacement or None)
    if script[position : position + 1] == "w":
        name, position = _file_name(script, position + 1)
        doings.writes.append(name)
        return position
    return _ended(script, position)


def _file_name(script: str, position: int) -> tuple[str, int]:
    """The name of a file, which goes on to the end of its line: blanks behind it belong to it."""
    found = _LINE.match(script, position)
    assert found is not None
    return found[0].lstrip(" \t"), found.end()


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
