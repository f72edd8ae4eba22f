"""What stands at an offset of a settings text, however unfinished the text is.

While a person types, a text is hardly ever valid, so this reads on where ``settings/jsonc.py`` gives up: a missing
comma, quote or bracket only blurs what follows it. It tells where the cursor is; what counts is never read from here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from countersign.settings.rules import LISTS, ListName
from countersign.settings.tree import PREFIX

Step = str | int
"""A key, or the number of an item from 0."""


@dataclass(frozen=True, slots=True)
class Token:
    """A string or bare word. ``text`` is what it stands for; ``closed`` False for a string without its last quote."""

    start: int
    end: int
    text: str
    quoted: bool
    closed: bool = True

    @property
    def inside(self) -> tuple[int, int]:
        """The span without the quotes."""
        return self.start + self.quoted, self.end - (self.quoted and self.closed)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the cursor is.

    ``path`` are the steps to the value, or to the object whose ``key`` is being written. ``token`` is what the cursor
    is in, if anything; ``item`` the offset of the list item that it is in; ``keys`` are the other keys of the object.
    """

    place: Literal["key", "value"]
    path: tuple[Step, ...]
    token: Token | None
    item: int | None
    keys: frozenset[str]


def cursor_at(text: str, offset: int) -> Cursor | None:
    """What stands between the characters before and after ``offset``; None in a comment and outside of everything."""
    reader, tokens = _Reader(), _tokens(text)
    under: Token | None = None
    for token in tokens:
        if isinstance(token, _Comment):
            if token.start < offset < token.end or (token.end == offset and not token.closed):
                return None
        elif token.end < offset or (token.end == offset and not _holds(token, offset)):
            reader.take(token)
        else:
            under = token if _holds(token, offset) and isinstance(token, Token) else None
            return reader.cursor(under, [token] if under is None else [], tokens)
    return reader.cursor(None, [], iter(()))


def setting_path(path: tuple[Step, ...], *, ours: bool) -> tuple[Step, ...] | None:
    """The path under ``countersign``, or None for another setting. In files of ``ours`` the prefix may be left out."""
    if not path or not isinstance(path[0], str):
        return None
    names = path[0].split(".")
    if names[0] == PREFIX:
        return (*names[1:], *path[1:])
    return (*names, *path[1:]) if ours else None


def rule_list(path: tuple[Step, ...] | None) -> ListName | None:
    """The list that a path under ``countersign`` leads into, where it leads to a rule's text."""
    if path is None or len(path) < 3 or path[0] != "permissions" or path[3:] not in ((), ("rule",)):
        return None
    return next((listed for listed in LISTS if path[1] == listed and isinstance(path[2], int)), None)


@dataclass(frozen=True, slots=True)
class _Comment:
    start: int
    end: int
    closed: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    char: str


_TOKEN = re.compile(
    r"""
      (?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"?)
    | (?P<mark>[{}\[\]:,])
    | (?P<word>[^\s{}\[\]:,"/]+|/)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSED = re.compile(r'"(?:[^"\\]|\\.)*"')


def _tokens(text: str) -> Iterator[Token | _Mark | _Comment]:
    for found in _TOKEN.finditer(text):
        start, end, said = found.start(), found.end(), found.group()
        match found.lastgroup:
            case "comment":
                yield _Comment(start, end, said.startswith("/*") and said.endswith("*/") and len(said) > 3)
            case "string":
                closed = _CLOSED.fullmatch(said) is not None
                yield Token(start, end, _decoded(said, closed), quoted=True, closed=closed)
            case "mark":
                yield _Mark(start, end, said)
            case _:
                yield Token(start, end, said, quoted=False)


def _decoded(said: str, closed: bool) -> str:
    try:
        return json.loads(said if closed else said + '"', strict=False)
    except ValueError:
        return said[1 : -1 if closed else None]


def _holds(token: Token | _Mark, offset: int) -> bool:
    """Whether the cursor is in the token; just behind a bare word or an unfinished string counts as in it."""
    if isinstance(token, _Mark) or not token.start <= offset <= token.end:
        return False
    return not token.quoted or token.start < offset < token.end or (offset == token.end and not token.closed)


@dataclass(slots=True, eq=False)
class _Frame:
    """An open object or list. ``step`` is the key or number of its present value, ``begun`` where that began."""

    is_object: bool
    step: Step | None = None
    awaits: Literal["key", "value"] = "value"
    count: int = 0
    begun: int | None = None
    keys: set[str] = field(default_factory=set)


class _Reader:
    """Follows the tokens and keeps the open objects and lists."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = []

    def take(self, token: Token | _Mark) -> None:
        top = self.frames[-1] if self.frames else None
        if isinstance(token, _Mark):
            self._take_mark(token, top)
        elif top is not None:
            if top.is_object and top.awaits == "key":
                top.step = token.text
                top.keys.add(token.text)
            else:
                self._begin_value(top, token.start)
                self._end_value()

    def cursor(
        self, under: Token | None, following: list[Token | _Mark], rest: Iterator[Token | _Mark | _Comment]
    ) -> Cursor | None:
        if not self.frames:
            return None
        top = self.frames[-1]
        place = "key" if top.is_object and top.awaits == "key" else "value"
        path = tuple(frame.step for frame in self.frames[:-1] if frame.step is not None)
        if place == "value":
            path = (*path, top.count if not top.is_object else top.step or "")
        lists = (frame.begun for frame in reversed(self.frames) if not frame.is_object)
        item = under.start if under is not None and not top.is_object else next(lists, None)
        self._finish(top, under, place, following, rest)
        return Cursor(place, path, under, item, frozenset(top.keys))

    def _finish(
        self,
        top: _Frame,
        under: Token | None,
        place: str,
        following: list[Token | _Mark],
        rest: Iterator[Token | _Mark | _Comment],
    ) -> None:
        """Read on to the end of the object, for the keys that come after the cursor."""
        known = set(top.keys)
        if under is not None:
            self.take(under)
        if place == "key" and under is not None and under.text not in known:
            top.keys.discard(under.text)
        for token in (*following, *rest):
            if not any(frame is top for frame in self.frames):
                break
            if not isinstance(token, _Comment):
                self.take(token)

    def _take_mark(self, mark: _Mark, top: _Frame | None) -> None:
        match mark.char:
            case "{" | "[":
                if top is not None:
                    self._begin_value(top, mark.start)
                is_object = mark.char == "{"
                self.frames.append(_Frame(is_object, awaits="key" if is_object else "value"))
            case "}" | "]":
                if top is not None:
                    self.frames.pop()
                    self._end_value()
            case ":":
                if top is not None and top.is_object:
                    top.awaits = "value"
            case _:
                if top is not None and top.is_object:
                    top.step, top.awaits = None, "key"

    def _begin_value(self, top: _Frame, start: int) -> None:
        top.begun = start
        if not top.is_object:
            top.step = top.count

    def _end_value(self) -> None:
        if not self.frames:
            return
        top = self.frames[-1]
        top.begun = None
        if top.is_object:
            top.step, top.awaits = None, "key"
        else:
            top.count += 1
