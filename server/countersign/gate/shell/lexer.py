"""Bash's words, quotes, expansions and redirections, read character by character as bash reads them.

``parse.py`` gets the statements from the grammar and asks here for everything inside one. Whatever is not met exactly
is not understood: no word boundary and no quoting is taken on the grammar's word. Positions and texts are those of a
byte string (see ``outline.py``). How a substitution's inside is read, and where it ends, is the ``Opener``'s business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol

from .ansi import decode_ansi
from .outline import Cut
from .script import (
    Arithmetic,
    Assignment,
    Formula,
    Glob,
    Heredoc,
    NotUnderstood,
    Piece,
    Process,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)
from .words import decode, make_word, plain_word

Place = Literal["command", "test", "regex", "operand"]
"""``test`` and ``regex`` are inside ``[[ ]]``; ``operand`` is behind the operator in ``${x:-…}``."""

DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})


class Opener(Protocol):
    """Reads what stands inside a substitution."""

    def open(self, start: int, inside: int) -> tuple[Script, str | None, int]:
        """The script between ``inside`` and its ``)``, its constant output if known, the place behind the ``)``."""
        ...

    def open_text(self, text: str) -> tuple[Script, str | None]:
        """The same for a text of its own: what stood between backquotes, unescaped."""
        ...

    def cut_at(self, operator: int) -> Cut | None:
        """The heredoc that was cut out behind this ``<``."""
        ...

    def heredoc_word(self, body: str) -> Word:
        """What an expanding body becomes."""
        ...


_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,^\-\x80-\xff][A-Za-z0-9_./:@%+,^=\-#\x80-\xff]*")
_LITERAL = re.compile(r"[^\\'\"`$ \t\n|&;()<>*?\[]+")
_QUOTED = re.compile(r"[^\\\"`$]+")
_BREAKS = frozenset(" \t\n|&;()<>")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?=|\[)", re.ASCII)
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<>|<&|<|>>|>&|>\||&>>|&>|>)", re.ASCII)
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_SPECIAL = frozenset("@*#?-$!0123456789")
_OPERATOR = re.compile(r"##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|:-|:=|:\?|:\+|-|=|\?|\+|@[QEPAKakUuL]")


class Lexer:
    """Reads words out of one byte string. Holds the text and the opener; nothing it returns changes later."""

    def __init__(self, text: str, opener: Opener) -> None:
        self.text = text
        self.opener = opener

    # --- simple commands -----------------------------------------------------------------------------------------------

    def simple(self, start: int, *, timed: bool) -> Simple:
        """The simple command that is exactly ``text[start:end]``."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        position = self.blanks(start)
        while position < self.end:
            redirect = self.redirect(position)
            if redirect is not None:
                redirects.append(redirect[0])
                position = self.blanks(redirect[1])
                continue
            assignment = None
            if not words:
                assignment = self.assignment(position)
            elif words[0].value in DECLARING:
                assignment = self.assignment(position)
                if assignment is not None:
                    source = decode(self.text[position : assignment[1]])
                    words.append(_declared(source, assignment[0]))
                    position = self.blanks(assignment[1])
                    continue
            if assignment is not None:
                assignments.append(assignment[0])
                position = self.blanks(assignment[1])
                continue
            word, position = self.word(position)
            words.append(word)
            position = self.blanks(position)
        return Simple(
            decode(self.text[start:end]),
            tuple(words),
            tuple(assignments),
            tuple(redirects),
            timed=timed,
        )

    def redirects(self, start: int) -> tuple[Redirect, ...]:
        """The redirections, and nothing else, that are ``text[start:end]``."""
        found: list[Redirect] = []
        position = self.blanks(start)
        while position < self.end:
            redirect = self.redirect(position)
            if redirect is None:
                raise NotUnderstood("something other than a redirection stands behind a compound command")
            found.append(redirect[0])
            position = self.blanks(redirect[1])
        return tuple(found)

    def word_list(self, start: int) -> tuple[Word, ...]:
        """The words that are ``text[start:end]``."""
        found: list[Word] = []
        position = self.blanks(start)
        while position < self.end:
            word, position = self.word(position)
            found.append(word)
            position = self.blanks(position)
        return tuple(found)

    def blanks(self, position: int) -> int:
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def redirect(self, position: int) -> tuple[Redirect, int] | None:
        found = _REDIRECT.match(self.text, position)
        if found is None:
            return None
        operator = found[2]
        if operator in {"<", ">"} and self.text[found.end() : found.end() + 1] == "(" and found[1] is None:
            return None
        at = self.blanks(found.end())
        if at >= self.end:
            raise NotUnderstood("a redirection has no target")
        target, behind = self.word(at)
        variable = found[1][1:-1] if found[1] and found[1][0] == "{" else None
        heredoc = None
        cut = self.opener.cut_at(found.end() - 1) if operator == "<" else None
        if cut is not None:
            if found[1] is not None or target.value != decode(cut.delimiter) or target.tilde:
                raise NotUnderstood("a here-document is not read as bash reads it")
            word = make_word("", [Text(cut.body, quoted=True)], quoting=True)
            heredoc = Heredoc(decode(cut.body), word if cut.quoted else self.opener.heredoc_word(cut.body))
            operator = "<<"
        source = decode(self.text[position:behind])
        return Redirect(operator, target, source, heredoc, variable), behind

    def assignment(self, position: int) -> tuple[Assignment, int] | None:
        found = _ASSIGNMENT.match(self.text, position)
        if found is None:
            return None
        formula, scripts, behind = None, (), found.end()
        operator = found[2]
        if operator == "[":
            close = self.subscript(found.end())
            if close is None:
                return None
            after = re.compile(r"\+?=").match(self.text, close + 1)
            if after is None:
                return None
            formula, scripts = self.formula(found.end(), close)
            operator, behind = after[0], after.end()
        appends = operator == "+="
        if self.text.startswith("(", behind):
            items, stop = self.array(behind + 1)
            inner = (*scripts, *(script for item in items for script in item.scripts))
            source = decode(self.text[position:stop])
            return Assignment(found[1], source, None, items, formula, inner, appends), stop
        value, stop = None, behind
        if behind < self.end and self.text[behind] not in _BREAKS:
            value, stop = self.word(behind)
            scripts = (*scripts, *value.scripts)
        elif self.text[behind : behind + 2] in {"<(", ">("}:
            raise NotUnderstood("a process substitution is assigned")
        source = decode(self.text[position:stop])
        return Assignment(found[1], source, value, None, formula, scripts, appends), stop

    def array(self, position: int) -> tuple[tuple[Word, ...], int]:
        """The items of ``name=(…)``, and the place behind the ``)``. A ``[key]=`` in front of an item is refused
        unless its key is a plain word."""
        items: list[Word] = []
        while position < self.end:
            char = self.text[position]
            if char in " \t\n":
                position += 1
            elif char == "#":
                raise NotUnderstood("a comment stands inside an array")
            elif char == ")":
                return tuple(items), position + 1
            else:
                key = re.compile(r"\[[A-Za-z0-9_.-]+\]\+?=").match(self.text, position)
                start = key.end() if key else position
                if key is None and char == "[":
                    raise NotUnderstood("an array's key is not a plain word")
                if start < self.end and self.text[start] in _BREAKS and key:
                    position = start
                    continue
                item, behind = self.word(start)
                if behind == position:
                    break
                items.append(item)
                position = behind
        raise NotUnderstood("an array is never closed")

    # --- words -----------------------------------------------------------------------------------------------------------

    def word(self, position: int, place: Place = "command") -> tuple[Word, int]:
        """The word at ``position``, and the place behind it."""
        plain = _PLAIN.match(self.text, position)
        if plain is not None and (plain.end() == end or self.text[plain.end()] in " \t\n;"):
            return plain_word(plain[0]), plain.end()
        pieces: list[Piece] = []
        behind, quoting = self.pieces(position, place, pieces)
        if behind == position:
            raise NotUnderstood(f"`{decode(self.text[position : position + 1])}` stands where a word should")
        return make_word(self.text[position:behind], pieces, quoting=quoting), behind

    def pieces(self, position: int, place: Place, pieces: list[Piece]) -> tuple[int, bool]:
        """Read on to the end of the word; whether anything was quoted comes back too."""
        text, quoting, depth = self.text, False, 0
        start = position
        while position < self.end:
            char = text[position]
            if place == "regex" and char in "()|<>;&":
                depth += (char == "(") - (char == ")")
                if depth < 0 or (char not in "()" and depth == 0 and char != "|"):
                    break
                pieces.append(Glob(char))
                position += 1
            elif place == "regex" and depth > 0 and char in " \t":
                raise NotUnderstood("a regular expression holds an unquoted blank")
            elif place == "operand" and char == "}":
                break
            elif char in _BREAKS:
                if text[position : position + 2] in {"<(", ">("} and place in {"command", "operand"}:
                    script, _, position = self.opener.open(position, position + 2)
                    pieces.append(Process(script))
                    quoting = True
                    continue
                if place == "operand":
                    if char in "\n<>":
                        raise NotUnderstood("a `${…}` holds a newline or a redirection")
                    pieces.append(Text(char))
                    position += 1
                    continue
                if place == "test" and char == "(" and position > start and text[position - 1] in "@?*+!":
                    position = self.extglob(position + 1, pieces)
                    continue
                break
            elif char == "#" and position == start and place == "command":
                raise NotUnderstood("a comment stands inside a command")
            elif char in "*?[":
                pieces.append(Glob(char))
                position += 1
            elif char in "\\'\"`$":
                position, quoted = self.special(position, pieces)
                quoting = quoting or quoted
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

    def extglob(self, position: int, pieces: list[Piece]) -> int:
        pieces.append(Glob("("))
        while position < self.end:
            char = self.text[position]
            if char == ")":
                pieces.append(Glob(")"))
                return position + 1
            if char in "|*?[":
                pieces.append(Glob(char))
                position += 1
            elif char in "\\'\"`$":
                position, _ = self.special(position, pieces)
            elif char in "(\n&;<>":
                break
            else:
                pieces.append(Text(char))
                position += 1
        raise NotUnderstood("a pattern is not read as bash reads it")

    def special(self, position: int, pieces: list[Piece]) -> tuple[int, bool]:
        """A backslash, quote, backquote or dollar outside of quotes."""
        text, char = self.text, self.text[position]
        if char == "\\":
            if position + 1 >= self.end:
                raise NotUnderstood("a backslash stands at the end")
            if text[position + 1] != "\n":
                size = _character(text, position + 1)
                pieces.append(Text(text[position + 1 : position + 1 + size], quoted=True))
                return position + 1 + size, True
            return position + 2, False
        if char == "'":
            close = text.find("'", position + 1)
            if close < 0:
                raise NotUnderstood("a quote is never closed")
            pieces.append(Text(text[position + 1 : close], quoted=True))
            return close + 1, True
        if char == '"':
            return self.quoted(position + 1, pieces, '"'), True
        if char == "`":
            return self.backquotes(position + 1, pieces, quoted=False), True
        return self.dollar(position, pieces, quoted=False), True

    def quoted(self, position: int, pieces: list[Piece], closer: Literal['"', "}", ""]) -> int:
        """What stands between double quotes, behind an operator inside of them (``}``) or in a heredoc (empty)."""
        text = self.text
        pieces.append(Text("", quoted=True))
        while position < self.end:
            char = text[position]
            if closer and char == closer:
                return position + 1 if closer == '"' else position
            if char == "\\":
                follows = text[position + 1 : position + 2]
                if follows == "\n":
                    position += 2
                elif follows and follows in ('$`"\\' if closer == '"' else '$`"\\}' if closer else "$`\\"):
                    pieces.append(Text(follows, quoted=True))
                    position += 2
                else:
                    pieces.append(Text("\\", quoted=True))
                    position += 1
            elif char == "`":
                position = self.backquotes(position + 1, pieces, quoted=True)
            elif char == "$":
                position = self.dollar(position, pieces, quoted=True)
            elif char == '"' and closer == "}":
                position = self.quoted(position + 1, pieces, '"')
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
        script, constant = self.opener.open_text(inside)
        pieces.append(Substitution(script, quoted, constant))
        return position + 1

    # --- expansions --------------------------------------------------------------------------------------------------------

    def dollar(self, position: int, pieces: list[Piece], *, quoted: bool) -> int:
        text = self.text
        follows = text[position + 1 : position + 2] if position + 1 < self.end else ""
        if follows == "(":
            if text.startswith("((", position + 1):
                close = self.arithmetic_end(position + 3)
                formula, scripts = self.formula(position + 3, close)
                pieces.append(Arithmetic(formula, quoted, scripts))
                return close + 2
            script, constant, behind = self.opener.open(position, position + 2)
            if behind > self.end:
                raise NotUnderstood("a substitution reaches behind its word")
            pieces.append(Substitution(script, quoted, constant))
            return behind
        if follows == "{":
            return self.braces(position + 2, pieces, quoted=quoted)
        if follows == "[":
            raise NotUnderstood("`$[…]` is arithmetic of an old kind")
        if follows == "'" and not quoted:
            close = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(text, position + 2)
            if close is None:
                raise NotUnderstood("a quote is never closed")
            pieces.append(Text(decode_ansi(close[0][:-1]), quoted=True))
            return close.end()
        if follows == '"' and not quoted:
            return self.quoted(position + 2, pieces, '"')
        name = _NAME.match(text, position + 1)
        if name is not None:
            pieces.append(Variable(name[0], quoted))
            return name.end()
        if follows and follows in _SPECIAL:
            pieces.append(Variable(follows, quoted))
            return position + 2
        if follows == "\\" and text[position + 2 : position + 3] == "\n":
            raise NotUnderstood("a line ends behind a dollar sign")
        pieces.append(Text("$", quoted=quoted))
        return position + 1

    def braces(self, position: int, pieces: list[Piece], *, quoted: bool) -> int:
        """``${…}``, from behind its brace; the place behind its closing one."""
        text = self.text
        length = text.startswith("#", position) and text[position + 1 : position + 2] != "}"
        indirect = text.startswith("!", position) and text[position + 1 : position + 2] not in {"}", ""}
        at = position + (length or indirect)
        name = _NAME.match(text, at) or re.compile(r"\d+|[@*#?$!-]").match(text, at)
        if name is None:
            raise NotUnderstood("a `${…}` names no variable")
        at, called = name.end(), name[0]
        formula: Formula | None = None
        scripts: tuple[Script, ...] = ()
        if text.startswith("[", at):
            close = self.subscript(at + 1)
            if close is None:
                raise NotUnderstood("a `${…}` holds a subscript that is never closed")
            subscript = text[at + 1 : close]
            at = close + 1
            if subscript in {"@", "*"}:
                called += f"[{subscript}]"
            else:
                formula, scripts = self.formula(close - len(subscript), close)
        if text.startswith("}", at):
            evaluates = indirect and not called.endswith(("[@]", "[*]"))
            self.variable(pieces, called, quoted, formula, scripts, length=length, evaluates=evaluates)
            return at + 1
        if indirect and re.compile(r"[*@]\}").match(text, at):
            self.variable(pieces, called + "[@]", quoted, None, ())
            return at + 2
        if length:
            raise NotUnderstood("a `${#…}` holds an operator")
        operator = _OPERATOR.match(text, at)
        if operator is None and text.startswith(":", at):
            close = self.offset_end(at + 1)
            more, inner = self.formula(at + 1, close)
            formula = more if formula is None else _joined(formula, more)
            self.variable(pieces, called, quoted, formula, (*scripts, *inner), evaluates=indirect)
            return close + 1
        if operator is None:
            raise NotUnderstood("a `${…}` holds an operator that is not known")
        operand: list[Piece] = []
        start = operator.end()
        stop = self.quoted(start, operand, "}") if quoted else self.pieces(start, "operand", operand)[0]
        if not text.startswith("}", stop):
            raise NotUnderstood("a `${…}` is never closed")
        word = make_word(text[start:stop], operand, quoting=True)
        sign = operator[0]
        if sign[0] == "@" and operand not in ([], [Text("", quoted=True)]):
            raise NotUnderstood("a `${…@…}` holds more than one letter")
        if sign[0] == "/" and not quoted and "/" in text[start:stop]:
            pass  # pattern and replacement are read as one operand: all that counts is what is substituted in them
        self.variable(
            pieces,
            called,
            quoted,
            formula,
            (*scripts, *word.scripts),
            words=(word,),
            assigns=sign in {"=", ":="},
            evaluates=indirect or sign == "@P",
        )
        return stop + 1

    def variable(
        self,
        pieces: list[Piece],
        name: str,
        quoted: bool,
        formula: Formula | None,
        scripts: tuple[Script, ...],
        *,
        length: bool = False,
        assigns: bool = False,
        evaluates: bool = False,
        words: tuple[Word, ...] = (),
    ) -> None:
        if scripts and not any(word.scripts for word in words):
            words = (*words, Word("", (), "quoted", None, "", "", scripts=scripts))
        plain = formula is None and not (length or assigns or evaluates or words)
        pieces.append(Variable(name, quoted, plain, formula, assigns, length, evaluates, words))

    def subscript(self, position: int) -> int | None:
        """Where the ``]`` is that closes a subscript."""
        return self.matching(position, "[", "]")

    def offset_end(self, position: int) -> int:
        close = self.matching(position, "{", "}")
        if close is None:
            raise NotUnderstood("a `${…}` is never closed")
        return close

    def arithmetic_end(self, position: int) -> int:
        """Where the ``))`` is. Bash takes ``((`` as two brackets where they are not closed together; then it is
        not understood here."""
        close = self.matching(position, "(", ")")
        if close is None or self.text[close : close + 2] != "))" or close + 2 > self.end:
            raise NotUnderstood("`((` is not closed by `))`")
        return close

    def matching(self, position: int, opener: str, closer: str) -> int | None:
        depth = 0
        while position < self.end:
            char = self.text[position]
            if char in "\\'\"":
                raise NotUnderstood("arithmetic holds quotes")
            if char in "$`" and (char == "`" or self.text[position + 1 : position + 2] in {"(", "{", "[", "'", '"'}):
                # Substitutions inside arithmetic are read properly, only to know where they end.
                position = self.special(position, [])[0]
                continue
            if char == opener:
                depth += 1
            elif char == closer:
                if depth == 0:
                    return position
                depth -= 1
            elif char in ";" and closer != ")":
                return None
            position += 1
        return None

    def formula(self, start: int) -> tuple[Formula, tuple[Script, ...]]:
        """What bash evaluates as arithmetic in ``text[start:end]``."""
        pieces: list[Piece] = []
        position, code = start, ""
        while position < self.end:
            if self.text[position] in "$`":
                before = len(pieces)
                position = self.special(position, pieces)[0]
                code += _stand_in(pieces[before:])
            else:
                code += self.text[position]
                position += 1
        code = re.sub(r"\d+#[\w@]*|0[xX][0-9a-fA-F]+|(?<![\w@])\d[\w@]*", "0", code)
        names = frozenset(re.findall(r"[A-Za-z_]\w*", code))
        assigned = re.findall(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:\+\+|--)", code)
        assigned += re.findall(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:<<|>>|[-+*/%&^|])?=(?!=)()", code)
        word = make_word(self.text[start:end], pieces, quoting=True)
        unknown = "\x02" in code or "[" in code
        return Formula(names, frozenset(a or b for a, b in assigned), unknown), word.scripts


def _stand_in(pieces: Sequence[Piece]) -> str:
    """What an expansion adds to a formula: a variable its name, a number a number, all else a hole."""
    out = ""
    for piece in pieces:
        match piece:
            case Variable(length=True) | Variable(name="#" | "?" | "$" | "!"):
                out += "0"
            case Variable(name=name, plain=True) if _NAME.fullmatch(name):
                out += f" {name} "
            case Arithmetic(formula=formula):
                out += "\x02" if formula.unknown else " " + " ".join(formula.names) + " 0"
            case _:
                out += "\x02"
    return out


def _joined(left: Formula, right: Formula) -> Formula:
    return Formula(left.names | right.names, left.assigned | right.assigned, left.unknown or right.unknown)


def _declared(source: str, assignment: Assignment) -> Word:
    """An argument of ``export`` and its like that assigns: a word, so that rules can name it."""
    value = assignment.plain
    pieces = assignment.value.pieces if assignment.value else ()
    if value is None:
        prefix = f"{assignment.name}="
        return Word(source, pieces, "quoted", None, prefix, "\x02" + source, bare=False, scripts=assignment.scripts)
    text = f"{assignment.name}={value}"
    return Word(source, pieces, "constant", text, text, text, bare=False, scripts=assignment.scripts)


def _character(text: str, position: int) -> int:
    """How many bytes the character at this place has."""
    size = 1
    while position + size < len(text) and "\x80" <= text[position + size] <= "\xbf" and text[position] >= "\xc0":
        size += 1
    return size
