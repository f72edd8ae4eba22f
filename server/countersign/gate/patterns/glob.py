"""Bash's pathname patterns (``*``, ``?``, brackets), one segment at a time, without the disk.

This is the gate's only matcher for the patterns of a shell: ``probes/disk.py`` matches names on the disk with it, the
rest of the gate names that it knows. A pattern is written as bash's own matcher takes it: what was quoted has a
backslash in front. ``extglob``, ``dotglob`` and ``globstar`` are off, as in every bash that a text has not changed.

Where bash's answer depends on the locale (``[a-z]`` beside capitals, classes beside ASCII) or on corners of its parser
(``[=a=]``, ``[.a.]``, a class that no locale has), a name counts as matched, and the pattern is not ``exact``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Special = Literal["star", "any", "rest"]
"""``*``, ``?``, and an unreadable rest that may match anything."""

_CLASSES: Final = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": " \t\n\v\f\r",
    "upper": string.ascii_uppercase,
    "word": string.ascii_letters + string.digits + "_",
    "xdigit": string.hexdigits,
    "ascii": "".join(map(chr, range(128))),
}
_SORTED_ALIKE: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
"""Characters whose order is the same in every locale, each among themselves."""


class Bracket(NamedTuple):
    """``[…]``: ranges (a single character is one) and the names of classes."""

    negated: bool
    ranges: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]

    def may_match(self, char: str) -> bool:
        """Whether it matches this character in some locale."""
        holds = self._holds(char)
        return holds is not True if self.negated else holds is not False

    def matches_by_code(self, char: str) -> bool:
        """Whether it matches this character where characters are ordered by their codes, as git orders them."""
        holds = any(first <= char <= last for first, last in self.ranges) or any(
            char in _CLASSES[name] for name in self.classes
        )
        return holds is not self.negated

    @property
    def exact(self) -> bool:
        """Whether every ASCII character is matched, or is not, in all locales alike."""
        return all(first == last or (first.isdigit() and last.isdigit()) for first, last in self.ranges)

    def _holds(self, char: str) -> bool | None:
        """Whether the character is one of those between the brackets; None where that depends on the locale."""
        found: bool | None = False
        for first, last in self.ranges:
            if first == last == char:
                return True
            if first == last:
                continue
            if _sorted_alike(first, last) and char.isascii():
                if first <= char <= last:
                    return True
                if _sorted_alike(first, char) or first.isdigit() or not char.isalpha():
                    continue
            found = None
        for name in self.classes:
            if char in _CLASSES[name]:
                return True
            if not char.isascii():
                found = None
        return found


def _sorted_alike(first: str, last: str) -> bool:
    return any(first in group and last in group for group in _SORTED_ALIKE)


Token = str | Bracket | tuple[Special]
STAR: Final[tuple[Special]] = ("star",)
ANY: Final[tuple[Special]] = ("any",)
REST: Final[tuple[Special]] = ("rest",)


LONGEST_SEGMENT: Final = 1_000
"""Characters of a segment with wildcards; a longer one is not read, and may match anything."""


@dataclass(frozen=True, slots=True)
class GlobSegment:
    """One segment of a pathname pattern. ``literal`` is the name that it stands for if it holds no wildcard."""

    tokens: tuple[Token, ...]
    literal: str | None
    exact: bool

    def may_match(self, name: str) -> bool:
        """Whether the segment may match this name. A leading dot is matched by a dot only."""
        if name.startswith(".") and self.tokens[:1] not in ((".",), (REST,)):
            return False
        if tokens_match(self.tokens, name):
            return True
        if name.isascii():
            return False
        # In a locale of single bytes, or beside bytes that are no characters, `?` takes one byte.
        return tokens_match(_as_bytes(self.tokens), _bytes(name)) or tokens_match(self.tokens, _widely_decoded(name))

    def matches_by_code(self, name: str) -> bool:
        """Whether it matches as git matches: characters by their codes, and a leading dot like any other."""
        return tokens_match(self.tokens, name, _same_by_code)

    def may_match_any_case(self, name: str) -> bool:
        """``may_match`` on a file system that ignores case."""
        if name.startswith(".") and self.tokens[:1] not in ((".",), (REST,)):
            return False
        return _matches_in_some_case(self, name)

    @property
    def says_something(self) -> bool:
        """Whether it holds anything but stars and question marks."""
        return any(token not in (STAR, ANY) for token in self.tokens)


@lru_cache(maxsize=8192)
def _matches_in_some_case(segment: GlobSegment, name: str) -> bool:
    if tokens_match(segment.tokens, name, same_in_some_case):
        return True
    if name.isascii():
        return False
    as_bytes = tokens_match(_as_bytes(segment.tokens), _bytes(name), same_in_some_case)
    return as_bytes or tokens_match(segment.tokens, _widely_decoded(name), same_in_some_case)


def _bytes(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _widely_decoded(name: str) -> str:
    """A name as C libraries read it that take more for a character than Unicode has: glibc all up to F7 BF BF BF, older
    ones five and six bytes, too."""
    return _WIDE.sub("\ufffd", name)


_WIDE = re.compile(
    "[\udcc0-\udcdf][\udc80-\udcbf]|[\udce0-\udcef][\udc80-\udcbf]{2}|[\udcf0-\udcf7][\udc80-\udcbf]{3}"
    "|[\udcf8-\udcfb][\udc80-\udcbf]{4}|[\udcfc-\udcfd][\udc80-\udcbf]{5}"
)
"""Bytes as Python reads them in a name that is no UTF-8."""


def _as_bytes(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    for token in tokens:
        if isinstance(token, Bracket) and not all(edge.isascii() for edges in token.ranges for edge in edges):
            found.append(ANY)
        else:
            found += _bytes(token) if isinstance(token, str) else [token]
    return found


def _same(token: Token, char: str) -> bool:
    return token in (char, ANY) or (isinstance(token, Bracket) and token.may_match(char))


def _same_by_code(token: Token, char: str) -> bool:
    return token in (char, ANY) or (isinstance(token, Bracket) and token.matches_by_code(char))


def same_in_some_case(token: Token, char: str) -> bool:
    if isinstance(token, str):
        return token.casefold() == char.casefold()
    return any(_same(token, each) for each in {char, char.lower(), char.upper()})


def tokens_match(tokens: Sequence[Token], name: str, same: Callable[[Token, str], bool] = _same) -> bool:
    """Whether tokens match a whole name. Greedy: only the last star is ever tried again."""
    at = position = 0
    star, resume = -1, 0
    while position < len(name):
        token = tokens[at] if at < len(tokens) else None
        if token == REST:
            return True
        if token == STAR:
            star, resume = at, position
            at += 1
        elif token is not None and same(token, name[position]):
            at += 1
            position += 1
        elif star >= 0:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return all(token in (STAR, REST) for token in tokens[at:])


@lru_cache(maxsize=8192)
def glob_segment(text: str) -> GlobSegment:
    """Read one segment of a pattern. Every text is one."""
    if len(text) > LONGEST_SEGMENT and any(char in text for char in "*?["):
        return GlobSegment((REST,), None, exact=False)
    tokens: list[Token] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char == "*":
            if tokens[-1:] != [STAR]:
                tokens.append(STAR)
        elif char == "?":
            tokens.append(ANY)
        elif char == "[":
            bracket, behind = _bracket(text, index)
            tokens.append(bracket)
            if bracket == REST:
                break
            index = behind
        elif char == "\\" and index < len(text):
            tokens.append(text[index])
            index += 1
        else:
            tokens.append(char)
    literal = "".join(token for token in tokens if isinstance(token, str))
    special = any(not isinstance(token, str) for token in tokens)
    exact = all(token != REST and (not isinstance(token, Bracket) or token.exact) for token in tokens)
    return GlobSegment(tuple(tokens), None if special else literal, exact)


def _bracket(text: str, index: int) -> tuple[Token, int]:
    """What stands behind ``[``: a bracket, the character itself where nothing closes it, or what cannot be read."""
    start = index
    negated = text[index : index + 1] in ("!", "^") and index < len(text)
    index += negated
    ranges: list[tuple[str, str]] = []
    classes: list[str] = []
    first = True
    while index < len(text):
        char = text[index]
        if char == "]" and not first:
            return Bracket(negated, tuple(ranges), tuple(classes)), index + 1
        first = False
        if char == "[" and text[index + 1 : index + 2] in ("=", ":", ".") and index + 1 < len(text):
            name, closed, _ = text[index + 2 :].partition(":]")
            if text[index + 1] != ":" or not closed or name not in _CLASSES:
                return REST, len(text)
            classes.append(name)
            index += len(name) + 4
            continue
        low, index = _member(text, index)
        high = low
        if text[index : index + 1] == "-" and text[index + 1 : index + 2] != "]":
            if index + 1 >= len(text) or text[index + 1] == "[":
                return REST, len(text)
            high, index = _member(text, index + 1)
        if not low or not high:
            return REST, len(text)
        ranges.append((low, high))
    return "[", start


def _member(text: str, index: int) -> tuple[str, int]:
    """One character between brackets and where it ends; none where a backslash is the last."""
    if text[index] != "\\":
        return text[index], index + 1
    return text[index + 1 : index + 2], index + 2


def is_glob(pattern: str) -> bool:
    """Whether a pathname pattern holds a wildcard. A slash ends a segment wherever it stands, in brackets as well."""
    return any(char in pattern for char in "*?[") and any(
        glob_segment(segment).literal is None for segment in pattern.split("/")
    )


def may_begin_with(mark: str, pattern: str) -> bool:
    """Whether a name that a pathname pattern matches may begin with a character, such as a dash."""
    first = glob_segment(pattern.split("/", 1)[0]).tokens[:1]
    return first == (mark,) or (bool(first) and not isinstance(first[0], str)) or not pattern


def is_exact(pattern: str) -> bool:
    """Whether no locale changes what a pathname pattern matches of ASCII names."""
    return all(glob_segment(segment).exact for segment in pattern.split("/"))


def escape_glob(text: str) -> str:
    """A text as a pattern that matches it alone."""
    return text.translate(_QUOTED)


_QUOTED: Final = {ord(char): f"\\{char}" for char in "*?[]!^-\\~"}
"""What means something to a pattern, somewhere in it or in front."""


def unescape_glob(pattern: str) -> str:
    """What a pattern that matches nothing stands for: its own text, without the backslashes of what was quoted."""
    parts: list[str] = []
    index = 0
    while (at := pattern.find("\\", index)) >= 0:
        parts += (pattern[index:at], pattern[at + 1 : at + 2])
        index = at + 2
    return "".join(parts) + pattern[index:]


def may_meet(one: GlobSegment, other: Sequence[Token]) -> bool:
    """Whether some name, in any case, may match both. Counts a leading dot like any character."""
    states = {0}
    for token in one.tokens:
        if token == REST:
            return True
        states = _beyond_stars(states, other)
        if any(state < len(other) and other[state] == REST for state in states):
            return True
        if token == STAR:
            states = set(range(min(states), len(other) + 1)) if states else states
            continue
        states = {
            state if other[state] == STAR else state + 1
            for state in states
            if state < len(other) and (other[state] == STAR or _tokens_meet(token, other[state]))
        }
    states = _beyond_stars(states, other)
    return len(other) in states or any(other[state] == REST for state in states if state < len(other))


def _beyond_stars(states: set[int], tokens: Sequence[Token]) -> set[int]:
    found = set(states)
    for state in states:
        behind = state
        while behind < len(tokens) and tokens[behind] == STAR:
            behind += 1
            found.add(behind)
    return found


def _tokens_meet(one: Token, other: Token) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    if isinstance(one, str):
        return same_in_some_case(other, one)
    if isinstance(other, str):
        return same_in_some_case(one, other)
    return True
