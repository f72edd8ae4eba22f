"""Words, redirections and here-documents of Plain Bash, and the position in the text that is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import NamedTuple

from countersign.gate.shell.syntax.plain_tokens import (  # fmt: skip
    ARITHMETIC,
    ASSIGNMENT,
    BACKSLASH,
    BLANKS,
    BRACE_GROUP,
    BRACKET,
    DELIMITER,
    DOUBLE_QUOTED,
    DUPLICATION,
    GAP,
    LINES,
    LITERAL,
    OPERATOR,
    PARAMETER,
    QUOTING,
    WORD_END,
)

MAX_NESTING = 24
"""How deeply lists may nest: substitutions, subshells, groups, loops and branches counted together."""


class Outside(NamedTuple):
    """The first construct that is not Plain Bash. ``offset`` counts code points from the start of the text."""

    construct: str
    offset: int

    def __str__(self) -> str:
        return f"{self.construct} at offset {self.offset}"


class NotPlain(Exception):
    def __init__(self, construct: str, offset: int) -> None:
        super().__init__(construct)
        self.outside = Outside(construct, offset)


class Word(NamedTuple):
    """One word: as written, and what expands in it. ``split`` if an unquoted expansion may make several words of it,
    ``many`` if it holds ``$@``."""

    source: str
    offset: int
    quoted: bool = False
    expands: bool = False
    split: bool = False
    many: bool = False
    glob: bool = False
    brace: bool = False
    tilde: bool = False

    @property
    def single(self) -> bool:
        """Whether it is exactly one word, whatever its expansions hold."""
        return not (self.split or self.many or self.glob or self.brace) or self.source in {"$?", "$#"}

    @property
    def value(self) -> str | None:
        """The constant text of the word without quotes, or None if it is not constant."""
        if self.expands or self.glob or self.brace or self.tilde:
            return None
        return QUOTING.sub(_unquoted, self.source) if self.quoted else self.source

    @property
    def bare(self) -> str | None:
        """The text of a word without quotes and expansions, else None."""
        return None if self.quoted else self.value


def _unquoted(found: re.Match[str]) -> str:
    single, double, escaped = found.groups()
    if single is not None:
        return single
    return re.sub(r'\\([$`"\\])', r"\1", double) if double is not None else escaped


class WordReader(ABC):
    """Reads one text. A class because the position and the here-documents that wait for their bodies change."""

    __slots__ = ("_at", "_nesting", "_searches_path", "_sets_path", "_substitutions", "_text", "_waiting")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nesting = 0
        self._substitutions = 0
        self._waiting: list[tuple[str, bool, int]] = []
        self._sets_path = False
        self._searches_path: int | None = None

    @abstractmethod
    def _list(self, ends: Collection[str]) -> str:
        """A list of at least one command up to one of ``ends``, which is consumed and returned."""

    def _note_set(self, name: str) -> None:
        """Note an assignment to PATH: `source` looks there for a file that is named without a slash."""
        self._sets_path |= name == "PATH"
        self._check_path()

    def _check_path(self) -> None:
        if self._sets_path and self._searches_path is not None:
            raise self._fail("`source` without a folder in a text that sets `PATH`", self._searches_path)

    # --- positions -----------------------------------------------------------------------------------------------

    def _peek(self) -> str:
        """The next character; at the end of the text the empty string, which must not be tested with ``in``."""
        return self._text[self._at : self._at + 1]

    def _starts(self, *texts: str) -> bool:
        return self._text.startswith(texts, self._at)

    def _fail(self, construct: str, offset: int | None = None) -> NotPlain:
        return NotPlain(construct, self._at if offset is None else offset)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found is None or found.end() == self._at:
            return False
        self._at = found.end()
        return True

    def _unexpected(self) -> NotPlain:
        """Name what stands at the position, where no rule accepts it."""
        rest = self._text[self._at : self._at + 3]
        for start, construct in _CONSTRUCTS:
            if rest.startswith(start):
                return self._fail(construct)
        return self._fail(f"`{rest[:1]}`" if rest else "the end of the text in an unfinished command")

    def _blanks(self) -> None:
        """Blanks, and a comment that follows a blank or starts a line."""
        self._skip(BLANKS)
        self._comment()

    def _gap(self) -> bool:
        """Blanks and joined lines behind a finished word; whether there was any."""
        moved = self._skip(GAP)
        if moved and self._text[self._at - 1] == "\n" and self._peek() in {"", "#"}:
            raise self._fail("a backslash and newline that no word follows", self._at - 2)
        self._comment()
        return moved

    def _comment(self) -> None:
        if self._peek() == "#" and (self._at == 0 or self._text[self._at - 1] in " \t\n"):
            if self._substitutions:
                raise self._fail("a comment in a substitution")
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end

    def _newlines(self) -> None:
        if not self._waiting:
            self._skip(LINES)
        self._blanks()
        while self._peek() == "\n":
            self._newline()
            self._blanks()

    def _newline(self) -> None:
        """A newline that ends a line, and the here-documents that begin behind it."""
        self._at += 1
        waiting, self._waiting = self._waiting, []
        for delimiter, quoted, offset in waiting:
            self._body(delimiter, quoted, offset)

    def _body(self, delimiter: str, quoted: bool, offset: int) -> None:
        text, start = self._text, self._at
        found = start if text.startswith(delimiter, start) else text.find(f"\n{delimiter}", start) + 1
        while found and text[found + len(delimiter) : found + len(delimiter) + 1] not in {"", "\n"}:
            if self._substitutions:
                # There bash ends the body at a line that goes on with `)`.
                raise self._fail("a line that begins like the end of a here-document inside `$(…)`", found)
            found = text.find(f"\n{delimiter}", found) + 1
        if not found:
            raise self._fail("a here-document without its end", offset)
        if not quoted:
            active = re.compile(r"[$`\\]").search(text, start, found)
            if active is not None:
                raise self._fail("an expansion in a here-document", active.start())
        self._at = min(found + len(delimiter) + 1, len(text))

    # --- redirections --------------------------------------------------------------------------------------------

    def _redirection(self) -> bool:
        """Consume a redirection if one stands here."""
        found = DUPLICATION.match(self._text, self._at) or OPERATOR.match(self._text, self._at)
        if found is None:
            return False
        before = self._text[self._at - 1]
        if before not in " \t\n" and (found[0][0] not in "<>" or not (before.isalpha() or before in "_./'\")")):
            raise self._fail("a redirection that touches what stands before it")
        offset, self._at = self._at, found.end()
        if found.re is DUPLICATION:
            return True
        self._skip(BLANKS)
        if self._starts("<", ">"):
            raise self._unexpected()
        if found[0] == "<<":
            self._here_document(offset)
            return True
        target = self._word()
        if not target.single or target.split or target.tilde:
            raise self._fail("an unquoted expansion as the target of a redirection", target.offset)
        if target.source.isdecimal() and self._text[target.offset - 1] in "<>":
            raise self._fail("a number that touches a redirection", target.offset)
        return True

    def _here_document(self, offset: int) -> None:
        found = DELIMITER.match(self._text, self._at)
        if found is None:
            raise self._fail("a delimiter of a here-document that is not a plain name")
        self._at = found.end()
        self._waiting.append((found[1] or found[2] or found[3], found[3] is None, offset))

    # --- words ---------------------------------------------------------------------------------------------------

    def _word(self) -> Word:
        """One word, which must not be empty."""
        text, offset = self._text, self._at
        quoted = expands = split = many = glob = brace = tilde = False
        while True:
            self._skip(LITERAL)
            char = self._peek()
            if not char or char in " \t\n;&|)":
                break
            if char in "<>":
                if self._at == offset and self._starts("<("):
                    self._substitution(2)
                    if self._peek() and not WORD_END.match(text, self._at):
                        raise self._unexpected()
                    return Word(text[offset : self._at], offset, expands=True)
                break
            if char == "'":
                end = text.find("'", self._at + 1)
                if end < 0:
                    raise self._fail("a single quote without its end")
                self._multiline(self._at, end)
                self._at, quoted = end + 1, True
            elif char == '"':
                inner, several = self._double_quoted()
                quoted, expands, many = True, expands or inner, many or several
            elif char == "\\":
                if not self._skip(BACKSLASH):
                    raise self._unexpected()
                quoted = True
            elif char == "$":
                many |= self._starts("$@")
                self._dollar()
                expands = split = True
            elif char in "*?":
                self._at, glob = self._at + 1, True
            elif char == "[":
                if not self._skip(BRACKET):
                    raise self._unexpected()
                glob = True
            elif char == "]" and self._at == offset and WORD_END.match(text, self._at + 1):
                self._at += 1
            elif char == "~" and self._at == offset and self._starts("~/"):
                self._at, tilde = self._at + 2, True
            elif char == "{" and not brace and self._skip(BRACE_GROUP):
                brace = True
            else:
                raise self._unexpected()
        if self._at == offset:
            raise self._unexpected()
        source = text[offset : self._at]
        if brace and (expands or quoted or tilde or ASSIGNMENT.match(source)):
            raise self._fail("a brace beside an expansion, a quote or an assignment", offset)
        return Word(source, offset, quoted, expands, split, many, glob, brace and not source.endswith("{}"), tilde)

    def _multiline(self, start: int, end: int) -> None:
        """Refuse a newline in quotes while a here-document waits: its body would begin in the middle of a word."""
        if self._waiting and self._text.find("\n", start, end) >= 0:
            raise self._fail("a newline in quotes behind a here-document", start)

    def _double_quoted(self) -> tuple[bool, bool]:
        """Consume a double-quoted string; whether anything expands in it, and whether ``$@`` does."""
        start = self._at
        self._at += 1
        expands = many = False
        while True:
            piece = self._at
            self._skip(DOUBLE_QUOTED)
            char = self._peek()
            if char == '"':
                break
            if char != "$":
                raise self._fail("a double quote without its end", start) if not char else self._unexpected()
            many |= self._starts("$@")
            self._multiline(piece, self._at)
            self._dollar()
            expands = True
        self._multiline(piece, self._at)
        self._at += 1
        return expands, many

    def _dollar(self) -> None:
        if self._skip(PARAMETER) or self._skip(ARITHMETIC):
            return
        if not self._starts("$(") or self._starts("$(("):
            raise self._unexpected()
        self._substitution(2)

    def _substitution(self, opening: int) -> None:
        if self._waiting:
            raise self._fail("a substitution behind a here-document")
        offset = self._at
        self._at += opening
        self._substitutions += 1
        self._newlines()
        self._list({")"})
        self._substitutions -= 1
        if self._waiting:
            raise self._fail("a here-document without a body", offset)


_CONSTRUCTS = (
    ("`", "a backquote"), ("\\\n", "a backslash and newline here"), ("\\", "a backslash before this character"),
    ("$'", "a `$'…'` string"), ('$"', 'a `$"…"` string'), ("$((", "arithmetic over anything but numbers"),
    ("$[", "arithmetic in `$[ ]`"), ("${", "a parameter expansion with an operator"), ("$", "a `$` of another kind"),
    ("~", "a tilde of another kind"), ("{", "a brace of another kind"), ("}", "a brace of another kind"),
    ("[", "a bracket of another kind"), ("]", "a bracket of another kind"), (">(", "an output process substitution"),
    ("<<-", "`<<-`"), (">|", "`>|`"), ("<>", "`<>`"), ("<(", "a process substitution here"),
    ("<", "a redirection of another kind"),
    (">", "a redirection of another kind"), ("((", "an arithmetic command"), ("(", "a parenthesis here"),
    (")", "a closing parenthesis here"), ("|&", "`|&`"), (";;&", "`;;&`"), (";&", "`;&`"), (";", "`;` here"),
    ("&", "`&` here"), ("|", "`|` here"), ("\n", "a newline here"), ("#", "a `#` that follows no blank"),
)  # fmt: skip
