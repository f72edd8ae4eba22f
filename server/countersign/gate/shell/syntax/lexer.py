"""Bash's words, quotes, redirections and assignments, read character by character as bash reads them.

``parser.py`` knows statements and asks here for everything inside one; ``expansions.py`` reads what begins with ``$``.
Whatever is not met exactly is not understood. Texts are "byte strings" (``str`` of Latin-1, one character for each byte
of UTF-8), because bash goes by bytes and Python's idea of blanks and letters must not come in. Everything is linear:
what is read twice is remembered.
"""

from __future__ import annotations

import re
from typing import Literal, Protocol

from countersign.gate.shell.syntax.expansions import read_dollar, read_formula
from countersign.gate.shell.syntax.tree import (
    Assignment,
    Formula,
    Glob,
    Heredoc,
    NotUnderstood,
    Piece,
    Process,
    Redirect,
    Script,
    Substitution,
    Text,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import decode, make_word, plain_word

Place = Literal["command", "test", "regex", "operand"]
"""``test`` and ``regex`` are inside ``[[ ]]``; ``operand`` is behind the operator in ``${x:-…}``."""

MAX_DEPTH = 40
"""How many brackets, quotes and substitutions may stand inside each other. People stay under ten."""

MOST_WORDS = 2_000
"""How many words and expansions of a text are read, a command that was read before being one word. Twice as many as
are judged, so that what is judged comes first."""

BREAKS = frozenset(" \t\n|&;()<>")

_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,^\-\x80-\xff][A-Za-z0-9_./:@%+,^=\-#\x80-\xff]*")
_LITERAL = re.compile(r"[^\\'\"`$ \t\n|&;()<>*?\[]+")
_QUOTED = re.compile(r"[^\\\"`$]+")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?=|\[)", re.ASCII)
_EQUALS = re.compile(r"\+?=")
_KEY = re.compile(r"\[[A-Za-z0-9_.-]+\]\+?=")
_JOINED_DESCRIPTOR = re.compile(r"\d+\\\n(?:\d|\\\n)*[<>]")
_REDIRECT = re.compile(r"(\d{1,9}|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|<|>>|>&|>\||&>>|&>|>)", re.ASCII)
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")


class Insides(Protocol):
    """Who reads the scripts inside of words."""

    def substitution(self, position: int) -> tuple[Script, str | None, int]:
        """The script from here to its ``)``, its output if that is known, and the place behind the bracket."""
        ...

    def separate(self, text: str, depth: int) -> tuple[Script, str | None]:
        """A script that is a text of its own: what stood between backquotes, unescaped."""
        ...

    def body(self, text: str, depth: int) -> list[Piece]:
        """What expands in the body of a heredoc."""
        ...

    def default(self, variable: Variable) -> None:
        """Keep an expansion with a constant default."""
        ...


class Lexer:
    """Reads words out of one byte string; keeps what it has read once, and how deep it is in."""

    __slots__ = ("depth", "end", "heredocs", "insides", "kept", "left", "pending", "text")

    def __init__(self, text: str, depth: int, insides: Insides) -> None:
        self.text, self.end, self.depth, self.insides = text, len(text), depth, insides
        self.kept: dict[tuple[int, bool], tuple[list[Piece], int]] = {}
        self.pending: list[tuple[Heredoc, str, bool, bool]] = []
        """Heredocs whose body has not come yet: cell, delimiter, quoted, tabs stripped."""
        self.left = MOST_WORDS
        self.heredocs = 0
        """How many stand in the script that is being read, those of substitutions in it left out."""

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotUnderstood("the command is nested too deeply to analyze")

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise NotUnderstood(f"it holds more than {MOST_WORDS} words and expansions, too many to read")

    # --- words -------------------------------------------------------------------------------------------------------

    def blanks(self, position: int) -> int:
        if self.text[position : position + 1] not in {" ", "\t", "\\"}:
            return position
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def joined_at(self, position: int) -> int:
        """The place behind the ends of lines that a backslash takes away here."""
        while self.text.startswith("\\\n", position):
            position += 2
        return position

    def word(self, position: int, place: Place = "command") -> tuple[Word, int]:
        """The word at ``position``, and the place behind it."""
        self.count()
        if place == "command" and self.text.startswith("#", position):
            # Bash takes it for a comment even where a word must stand: behind `>`, `case` and the `(` of a pattern.
            raise NotUnderstood("a word is missing")
        plain = _PLAIN.match(self.text, position)
        if plain is not None and (plain.end() == self.end or self.text[plain.end()] in " \t\n;"):
            return plain_word(plain[0]), plain.end()
        pieces: list[Piece] = []
        behind, quoting = self.pieces(position, place, pieces)
        if behind == position:
            raise NotUnderstood("a word is missing")
        return make_word(self.text[position:behind], pieces, quoting=quoting), behind

    def value(self, position: int) -> tuple[Word, int]:
        """The word that is assigned: neither patterns nor braces expand in it."""
        self.count()
        pieces: list[Piece] = []
        behind, quoting = self.pieces(position, "command", pieces)
        plain = [Text(piece.text) if isinstance(piece, Glob) else piece for piece in pieces]
        return make_word(self.text[position:behind], plain, quoting=quoting, bracing=False), behind

    def pieces(self, position: int, place: Place, pieces: list[Piece]) -> tuple[int, bool]:
        """Read on to the end of the word; whether anything was quoted comes back too."""
        text, quoting, depth = self.text, False, 0
        start = position
        while position < self.end:
            char = text[position]
            if place == "regex" and char in "()|<>;&":
                depth += (char == "(") - (char == ")")
                if depth < 0 or (depth == 0 and char not in ")|"):
                    break
                pieces.append(Glob(char))
                position += 1
            elif place == "regex" and depth > 0 and char in " \t\n":
                raise NotUnderstood("a regular expression holds an unquoted blank")
            elif place == "operand" and char == "}":
                break
            elif char in BREAKS:
                if char in "<>" and text.startswith("(", position + 1) and place != "regex":
                    self.deeper()
                    script, _, position = self.insides.substitution(position + 2)
                    self.depth -= 1
                    pieces.append(Process(script, char == ">"))
                    quoting = True
                elif place == "operand":
                    if char in "\n<>":
                        raise NotUnderstood("a `${…}` holds a newline or a redirection")
                    pieces.append(Text(char))
                    position += 1
                elif place == "test" and char == "(" and position > start and text[position - 1] in "@?*+!":
                    position = self.extended_pattern(position + 1, pieces)
                else:
                    break
            elif char in "*?[":
                pieces.append(Glob(char))
                position += 1
            elif char in "\\'\"`$":
                if char == "\\" and text.startswith("\n", position + 1):
                    position += 2
                    continue
                position = self.special(position, pieces)
                quoting = True
            else:
                found = _LITERAL.match(text, position)
                assert found is not None
                stop = found.end()
                if place == "operand" and "}" in found[0]:
                    stop = position + found[0].index("}")
                pieces.append(Text(text[position:stop]))
                position = stop
        if depth > 0:
            raise NotUnderstood("a regular expression holds an open bracket")
        return position, quoting

    def extended_pattern(self, position: int, pieces: list[Piece]) -> int:
        """``@(a|b)`` and its like, which bash knows inside ``[[ ]]`` only, from behind the bracket."""
        pieces.append(Glob("("))
        while position < self.end:
            char = self.text[position]
            if char in "|*?[)":
                pieces.append(Glob(char))
                position += 1
                if char == ")":
                    return position
            elif char in "\\'\"`$":
                position = self.special(position, pieces)
            elif char in "(\n&;<>":
                break
            else:
                pieces.append(Text(char))
                position += 1
        raise NotUnderstood("a pattern is not read as bash reads it")

    def special(self, position: int, pieces: list[Piece]) -> int:
        """A backslash, quote, backquote or dollar outside of double quotes."""
        text, char = self.text, self.text[position]
        if char == "\\":
            if position + 1 >= self.end:
                raise NotUnderstood("a backslash stands at the end")
            if text[position + 1] == "\n":
                return position + 2
            size = _character(text, position + 1)
            pieces.append(Text(text[position + 1 : position + 1 + size], quoted=True))
            return position + 1 + size
        if char == "'":
            close = text.find("'", position + 1)
            if close < 0:
                raise NotUnderstood("a quote is never closed")
            pieces.append(Text(text[position + 1 : close], quoted=True))
            return close + 1
        if char == '"':
            return self.quoted(position + 1, pieces, '"')
        return self.expansion(position, pieces, quoted=False)

    def expansion(self, position: int, pieces: list[Piece], *, quoted: bool) -> int:
        """What begins with a dollar or a backquote. Remembered, since arithmetic and subscripts look at it twice."""
        known = self.kept.get((position, quoted))
        if known is None:
            found: list[Piece] = []
            self.count()
            self.deeper()
            if self.text[position] == "`":
                stop = self.backquotes(position + 1, found, quoted=quoted)
            else:
                stop = read_dollar(self, position, found, quoted=quoted)
            self.depth -= 1
            known = self.kept[position, quoted] = (found, stop)
        pieces += known[0]
        return known[1]

    def quoted(self, position: int, pieces: list[Piece], closer: Literal['"', "}", ""]) -> int:
        """What stands between double quotes, behind an operator inside of them (``}``) or in a heredoc (empty)."""
        text = self.text
        escapable = '$`"\\' if closer == '"' else '$`"\\}' if closer else "$`\\"
        pieces.append(Text("", quoted=True))
        while position < self.end:
            char = text[position]
            if closer and char == closer:
                return position + 1 if closer == '"' else position
            if char == "\\":
                follows = text[position + 1 : position + 2]
                if follows == "\n":
                    position += 2
                elif follows and follows in escapable:
                    pieces.append(Text(follows, quoted=True))
                    position += 2
                else:
                    pieces.append(Text("\\", quoted=True))
                    position += 1
            elif char in "`$":
                position = self.expansion(position, pieces, quoted=True)
            elif char == '"' and closer == "}":
                self.deeper()
                position = self.quoted(position + 1, pieces, '"')
                self.depth -= 1
            elif char == "'" and closer == "}":
                raise NotUnderstood("a single quote stands inside `${…}` inside double quotes")
            elif char == '"':
                pieces.append(Text(char, quoted=True))
                position += 1
            else:
                found = _QUOTED.match(text, position)
                assert found is not None
                stop = found.end()
                if closer == "}":
                    stop = next((at for at in range(position + 1, stop) if text[at] in "}'"), stop)
                pieces.append(Text(text[position:stop], quoted=True))
                position = stop
        if closer:
            raise NotUnderstood("a quote is never closed")
        return position

    def backquotes(self, position: int, pieces: list[Piece], *, quoted: bool) -> int:
        start = position
        while position < self.end and self.text[position] != "`":
            position += 2 if self.text[position] == "\\" else 1
        if position >= self.end:
            raise NotUnderstood("a backquote is never closed")
        inside = re.sub(r"\\([$`\\\"])" if quoted else r"\\([$`\\])", r"\1", self.text[start:position])
        script, constant = self.insides.separate(inside, self.depth)
        pieces.append(Substitution(script, quoted, constant))
        return position + 1

    # --- redirections and assignments --------------------------------------------------------------------------------

    def redirect(self, position: int) -> tuple[Redirect, int] | None:
        """The redirection at ``position`` and the place behind it, or None where there is none."""
        found = _REDIRECT.match(self.text, position)
        if found is None and _JOINED_DESCRIPTOR.match(self.text, position):
            raise NotUnderstood("a redirection whose descriptor stands on the line before it")
        if found is None or (found[2] in {"<", ">"} and found[1] is None and self.text.startswith("(", found.end())):
            return None
        operator = found[2]
        target, behind = self.word(self.blanks(found.end()))
        variable = found[1][1:-1] if found[1] and found[1][0] == "{" else None
        heredoc = None
        if operator in {"<<", "<<-"}:
            if target.value is None or "\n" in target.value:
                raise NotUnderstood("a here-document's delimiter is not a plain word")
            if found[1] not in {None, "0"}:
                raise NotUnderstood("a here-document is read by a descriptor of its own")
            heredoc = Heredoc()
            self.heredocs += 1
            # A line's end behind a backslash is gone before bash looks for quotes.
            raw = self.text[found.end() : behind].replace("\\\n", "")
            quoted = any(char in raw for char in "\\'\"")
            self.pending.append((heredoc, target.value.encode().decode("latin-1"), quoted, operator == "<<-"))
            operator = "<<"
        descriptor = "" if variable is not None else found[1] or ""
        return Redirect(operator, target, decode(self.text[position:behind]), heredoc, variable, descriptor), behind

    def bodies(self, position: int) -> int:
        """Take the bodies of the heredocs that wait, from behind a newline; the place behind the last of them."""
        for heredoc, delimiter, quoted, strips in self.pending:
            lines: list[str] = []
            while True:
                if position >= self.end:
                    raise NotUnderstood("a here-document is never ended")
                line, position = self.body_line(position, joining=not quoted)
                line = line.lstrip("\t") if strips else line
                if line == delimiter:
                    break
                lines.append(f"{line}\n")
            body = "".join(lines)
            pieces: list[Piece] = [Text(body, quoted=True)]
            if not quoted and any(char in body for char in "$`\\"):
                pieces = self.insides.body(body, self.depth + 1)
            heredoc.body, heredoc.word = decode(body), make_word("", pieces, quoting=True)
        self.pending.clear()
        return position

    def body_line(self, position: int, *, joining: bool) -> tuple[str, int]:
        """The next line of a body. Without quotes round the delimiter bash joins lines that end in a backslash before
        it looks for the delimiter."""
        line = ""
        while True:
            stop = self.text.find("\n", position)
            line += self.text[position : stop if stop >= 0 else self.end]
            position = stop + 1 if stop >= 0 else self.end
            if stop < 0 or not joining or (len(line) - len(line.rstrip("\\"))) % 2 == 0:
                return line, position
            line = line[:-1]

    def assignment(self, position: int) -> tuple[Assignment, int] | None:
        """The assignment at ``position`` and the place behind it, or None where there is none."""
        found = _ASSIGNMENT.match(self.text, position)
        if found is None:
            return None
        formula: Formula | None = None
        scripts: tuple[Script, ...] = ()
        operator, behind = found[2], found.end()
        if operator == "[":
            subscript = read_formula(self, behind, "[", "]")
            after = _EQUALS.match(self.text, subscript[2] + 1) if subscript else None
            if subscript is None or after is None:
                return None
            formula, scripts, _ = subscript
            operator, behind = after[0], after.end()
        appends = operator == "+="
        items: tuple[Word, ...] | None = None
        value: Word | None = None
        if self.text.startswith("(", behind):
            items, behind = self.array(behind + 1)
            scripts = (*scripts, *(script for item in items for script in item.scripts))
        elif behind < self.end and (self.text[behind] not in BREAKS or self.text.startswith(("<(", ">("), behind)):
            value, behind = self.value(behind)
            scripts = (*scripts, *value.scripts)
        source = decode(self.text[position:behind])
        return Assignment(found[1], source, value, items, formula, scripts, appends), behind

    def array(self, position: int) -> tuple[tuple[Word, ...], int]:
        """The items of ``name=(…)``, and the place behind the ``)``. A ``[key]=`` in front of an item is refused
        unless its key is a plain word."""
        items: list[Word] = []
        while position < self.end:
            char = self.text[position]
            if char in " \t\n":
                position += 1
            elif char == ")":
                return tuple(items), position + 1
            elif char == "#":
                raise NotUnderstood("a comment stands inside an array")
            else:
                key = _KEY.match(self.text, position)
                if key is None and char == "[":
                    raise NotUnderstood("an array's key is not a plain word")
                position = key.end() if key else self.blanks(position)
                if position < self.end and (self.text[position] not in BREAKS or not key):
                    item, position = self.word(position)
                    items.append(item)
        raise NotUnderstood("an array is never closed")


def joined(text: str) -> str:
    """A text whose lines that end in a backslash are put together, as bash does before it looks for anything else;
    unchanged where quotes, comments or heredocs could keep them apart, which is seen to as they are read."""
    if "\\\n" not in text or any(mark in text for mark in ("'", "#", "<<")):
        return text
    return _ESCAPED.sub(lambda found: "" if found[0] == "\\\n" else found[0], text)


_ESCAPED = re.compile(r"\\.", re.DOTALL)


def _character(text: str, position: int) -> int:
    """How many bytes the character at this place has."""
    size = 1
    while position + size < len(text) and "\x80" <= text[position + size] <= "\xbf" and text[position] >= "\xc0":
        size += 1
    return size


def declaring_word(assignment: Assignment) -> Word:
    """An argument of ``export`` and its like that assigns: a word, so that rules can name it."""
    value, source = assignment.plain, assignment.source
    pieces = assignment.value.pieces if assignment.value else ()
    if value is None:
        prefix = f"{assignment.name}="
        return Word(source, pieces, "quoted", None, prefix, "\x02" + source, bare=False, scripts=assignment.scripts)
    text = f"{assignment.name}={value}"
    return Word(source, pieces, "constant", text, text, text, bare=False, scripts=assignment.scripts)
