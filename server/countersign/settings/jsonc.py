"""Reading JSON with comments, and knowing where every value stands.

Takes what VS Code writes: ``//`` and ``/* */`` comments, trailing commas, a byte order mark, any line ends, duplicate
keys (the last counts). Everything else that is not JSON is an error with its line and column; nothing is guessed and
nothing is repaired. What the keys mean is ``tree.py``'s business, changing a text is ``edit.py``'s.

Offsets are characters of the strictly decoded text; strict UTF-8 goes there and back without losing a byte.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass

from countersign.wire.base import Json

MAX_DEPTH = 64
"""Nesting that is followed. Real settings need six or seven; the bound keeps a hostile file off the stack."""

MAX_NUMBER = 400
"""Characters of one number; longer ones cost quadratic time to convert."""

BOM = "\ufeff"


class BrokenJson(Exception):
    """The text is not JSON with comments. ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(frozen=True, slots=True)
class Node:
    """One value and the half-open span of its text. ``elements`` are an object's members or an array's items."""

    start: int
    end: int
    value: Json
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """One member (with ``key``) or item (without). ``start`` is its first character, ``comma`` that which follows."""

    start: int
    node: Node
    key: str | None = None
    comma: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read. ``root`` is None where there is nothing but blanks and comments."""

    text: str
    root: Node | None
    comments: tuple[tuple[int, int], ...]
    line_starts: tuple[int, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1."""
        return _position(self.line_starts, self.text, offset)


def decode_jsonc(data: bytes) -> str:
    """The text of a file, byte order mark included.

    Raises:
        BrokenJson: it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = _position(_line_starts(before), before, len(before))
        raise BrokenJson("the file is not UTF-8 text", line, column) from None


def parse_jsonc(text: str) -> Document:
    """Read a whole text.

    Raises:
        BrokenJson: it is not JSON with comments, or nested deeper than ``MAX_DEPTH``.
    """
    reader = _Reader(text)
    root = reader.document()
    return Document(text, root, tuple(reader.comments), reader.line_starts)


_BLANK = re.compile(r"[ \t\r\n]+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*")
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z]+")


def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in _NEWLINE.finditer(text)))


def _position(line_starts: tuple[int, ...], text: str, offset: int) -> tuple[int, int]:
    line = bisect_right(line_starts, offset)
    column = offset - line_starts[line - 1] + 1
    return line, column - (line == 1 and column > 1 and text.startswith(BOM))


class _Reader:
    """A recursive descent over the text; keeps the place and the comments it passed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = len(BOM) if text.startswith(BOM) else 0
        self.comments: list[tuple[int, int]] = []
        self.line_starts = _line_starts(text)

    def document(self) -> Node | None:
        self.skip()
        if self.at == len(self.text):
            return None
        root = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise self.broken("there is text after the end of the value")
        return root

    def broken(self, message: str, at: int | None = None) -> BrokenJson:
        line, column = _position(self.line_starts, self.text, self.at if at is None else at)
        return BrokenJson(message, line, column)

    def skip(self) -> None:
        """Past blanks and comments."""
        while self.at < len(self.text):
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            elif comment := _LINE_COMMENT.match(self.text, self.at) or _BLOCK_COMMENT.match(self.text, self.at):
                self.comments.append(comment.span())
                self.at = comment.end()
            elif self.text.startswith("/*", self.at):
                raise self.broken("a comment is not closed")
            else:
                return

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.broken(f"values are nested deeper than {MAX_DEPTH}")
        match self.peek():
            case "{" | "[":
                return self.container(depth)
            case '"':
                start, text = self.at, self.string()
                return Node(start, self.at, text)
            case _:
                return self.scalar()

    def string(self) -> str:
        token = _STRING.match(self.text, self.at)
        if token is None:
            raise self.broken("a string is not closed, or holds a control character or a wrong escape")
        text = json.loads(token.group())
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.broken("a string holds half of a surrogate pair")
        self.at = token.end()
        return text

    def scalar(self) -> Node:
        start = self.at
        if token := _NUMBER.match(self.text, start):
            self.at = token.end()
            return Node(start, self.at, self.number(token.group(), start))
        if (token := _WORD.match(self.text, start)) and token.group() in _WORDS:
            self.at = token.end()
            return Node(start, self.at, _WORDS[token.group()])
        raise self.broken("a value is missing" if self.peek() in ("", ",", "}", "]", ":") else "this is not a value")

    def number(self, token: str, start: int) -> Json:
        if len(token) > MAX_NUMBER:
            raise self.broken("a number is too long", start)
        number = json.loads(token)
        if number in (float("inf"), float("-inf")):
            raise self.broken("a number is too large", start)
        return number

    def container(self, depth: int) -> Node:
        """An object or an array; a comma may stand after its last element."""
        start, is_object = self.at, self.peek() == "{"
        close = "}" if is_object else "]"
        self.at += 1
        elements: list[Element] = []
        while True:
            self.skip()
            if self.peek() == close:
                self.at += 1
                break
            if elements and elements[-1].comma is None:
                raise self.broken(f"a comma or `{close}` is missing")
            element = self.element(depth + 1, is_object)
            self.skip()
            if self.peek() == ",":
                element = Element(element.start, element.node, element.key, self.at)
                self.at += 1
            elements.append(element)
        value: Json
        if is_object:
            value = {element.key or "": element.node.value for element in elements}
        else:
            value = [element.node.value for element in elements]
        return Node(start, self.at, value, tuple(elements))

    def element(self, depth: int, is_member: bool) -> Element:
        start, key = self.at, None
        if is_member:
            if self.peek() != '"':
                raise self.broken("a key in quotes is missing")
            key = self.string()
            self.skip()
            if self.peek() != ":":
                raise self.broken("a colon is missing")
            self.at += 1
            self.skip()
        return Element(start, self.value(depth), key)
