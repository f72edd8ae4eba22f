"""What begins with a dollar sign: variables, ``${…}`` with its operators, substitutions, and arithmetic.

The other half of ``lexer.py``. Of arithmetic only the names matter, and whether all of its text is known: bash runs the
substitutions that a variable's value holds in a subscript (docs/gate.md S12).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from countersign.gate.shell.syntax.ansi_c_quoting import decode_ansi
from countersign.gate.shell.syntax.tree import (
    UNKNOWN_TEXT,
    Arithmetic,
    Formula,
    NotUnderstood,
    Piece,
    Script,
    Substitution,
    Text,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import make_word

if TYPE_CHECKING:
    from countersign.gate.shell.syntax.lexer import Lexer

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MORE_OF_NAME = re.compile(r"\w+", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]", re.ASCII)
_ANSI = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_OPERATOR = re.compile(r"##|#|%%|%|//|/#|/%|/|\^\^|\^|,,|,|:-|:=|:\?|:\+|-|=|\?|\+|@[QEPAKakUuL]")
_SPECIAL = frozenset("@*#?-$!0123456789")
_UNCLOSED = "a `${…}` is never closed"


def read_dollar(lexer: Lexer, position: int, pieces: list[Piece], *, quoted: bool) -> int:
    """Read what the ``$`` at ``position`` begins; the place behind it."""
    text = lexer.text
    follows = text[position + 1 : position + 2]
    if follows == "(":
        if text.startswith("(", position + 2):
            found = read_formula(lexer, position + 3, "(", ")")
            if found is None or not text.startswith("))", found[2]):
                raise NotUnderstood("`$((` is not closed by `))`")
            pieces.append(Arithmetic(found[0], quoted, found[1], text[position + 3 : found[2]]))
            return found[2] + 2
        if text.startswith("(", lexer.joined_at(position + 2)):
            raise NotUnderstood("a line ends inside `$((`")
        script, constant, behind = lexer.insides.substitution(position + 2)
        pieces.append(Substitution(script, quoted, constant))
        return behind
    if follows == "{":
        return _braces(lexer, position + 2, pieces, quoted=quoted)
    if follows == "[":
        raise NotUnderstood("`$[…]` is arithmetic of an old kind")
    if follows == "'" and not quoted:
        close = _ANSI.match(text, position + 2)
        if close is None:
            raise NotUnderstood("a quote is never closed")
        pieces.append(Text(decode_ansi(close[0][:-1]), quoted=True))
        return close.end()
    if follows == '"' and not quoted:
        return lexer.quoted(position + 2, pieces, '"')
    name = _NAME.match(text, position + 1)
    if name is not None:
        called, behind = name[0], name.end()
        while more := _MORE_OF_NAME.match(text, lexer.joined_at(behind)):
            called, behind = called + more[0], more.end()
        pieces.append(Variable(called, quoted))
        return behind
    if follows and follows in _SPECIAL:
        pieces.append(Variable(follows, quoted))
        return position + 2
    if text.startswith("\\\n", position + 1):
        raise NotUnderstood("a line ends behind a dollar sign")
    pieces.append(Text("$", quoted=quoted))
    return position + 1


def read_formula(
    lexer: Lexer, position: int, opener: str, closer: str
) -> tuple[Formula, tuple[Script, ...], int] | None:
    """What bash evaluates as arithmetic from here to ``closer``: that, the scripts in it, and where the closer is.
    None if it is never closed."""
    text, start, depth = lexer.text, position, 0
    pieces: list[Piece] = []
    code: list[str] = []
    while position < lexer.end:
        char = text[position]
        if char in "\\'\"":
            if text.startswith("\\\n", position):
                position += 2
                continue
            raise NotUnderstood("arithmetic holds quotes")
        if char in "$`":
            before = len(pieces)
            position = lexer.expansion(position, pieces, quoted=True)
            code.append(_stand_in(pieces[before:]))
            continue
        if char == closer and depth == 0:
            word = make_word(text[start:position], pieces, quoting=True)
            return _formula("".join(code)), word.scripts, position
        depth += (char == opener) - (char == closer)
        code.append(char)
        position += 1
    return None


def _braces(lexer: Lexer, position: int, pieces: list[Piece], *, quoted: bool) -> int:
    """``${…}``, from behind its brace; the place behind its closing one."""
    text = lexer.text
    length = text.startswith("#", position) and text[position + 1 : position + 2] != "}"
    indirect = text.startswith("!", position) and text[position + 1 : position + 2] not in {"}", ""}
    name = _PARAMETER.match(text, position + (length or indirect))
    if name is None:
        raise NotUnderstood("a `${…}` names no variable")
    at, called = name.end(), name[0]
    formulas: list[Formula] = []
    scripts: tuple[Script, ...] = ()
    if text.startswith("[", at):
        subscript = read_formula(lexer, at + 1, "[", "]")
        if subscript is None:
            raise NotUnderstood(_UNCLOSED)
        inside, at = text[at + 1 : subscript[2]], subscript[2] + 1
        if inside in {"@", "*"}:
            called += f"[{inside}]"
        else:
            formulas.append(subscript[0])
            scripts = subscript[1]
    words: tuple[Word, ...] = ()
    sign, assigns, evaluates = "", False, indirect and not called.endswith(("[@]", "[*]"))
    if text.startswith("}", at):
        pass
    elif indirect and re.compile(r"[*@]\}").match(text, at):
        called, evaluates, at = called + "[@]", False, at + 1
    elif length:
        raise NotUnderstood("a `${#…}` holds an operator")
    elif operator := _OPERATOR.match(text, at):
        word, at = _operand(lexer, operator.end(), quoted=quoted)
        sign = operator[0]
        if sign[0] == "@" and word.source:
            raise NotUnderstood("a `${…@…}` holds more than one letter")
        words, assigns = (word,), sign in {"=", ":="}
        evaluates = evaluates or sign == "@P"
    elif text.startswith(":", at):
        offset = read_formula(lexer, at + 1, "{", "}")
        if offset is None:
            raise NotUnderstood(_UNCLOSED)
        formulas.append(offset[0])
        scripts, at = (*scripts, *offset[1]), offset[2]
    else:
        raise NotUnderstood("a `${…}` holds an operator that is not known")
    if not text.startswith("}", at):
        raise NotUnderstood(_UNCLOSED)
    if scripts:
        words = (*words, Word("", (), "quoted", None, "", "", scripts=scripts))
    plain = not (formulas or length or assigns or evaluates or words)
    formula = _joined(formulas) if formulas else None
    variable = Variable(called, quoted, plain, formula, assigns, length, evaluates, words, sign)
    if variable.default is not None:
        lexer.insides.default(variable)
    pieces.append(variable)
    return at + 1


def _operand(lexer: Lexer, start: int, *, quoted: bool) -> tuple[Word, int]:
    """What follows an operator. Of ``/`` pattern and replacement are one: all that counts is what is substituted."""
    pieces: list[Piece] = []
    stop = lexer.quoted(start, pieces, "}") if quoted else lexer.pieces(start, "operand", pieces)[0]
    return make_word(lexer.text[start:stop], pieces, quoting=True), stop


_NUMBER = re.compile(r"(?<!\d)\d+#[\w@]*|0[xX][0-9a-fA-F]+|(?<![\w@])\d[\w@]*", re.ASCII)
_STEPPED = re.compile(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|(?<!\w)([A-Za-z_]\w*)\s*(?:\+\+|--)", re.ASCII)
_SET = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*(?:<<|>>|[-+*/%&^|])?=(?!=)", re.ASCII)


def _formula(code: str) -> Formula:
    code = _NUMBER.sub("0", code)
    names = frozenset(_NAME.findall(code))
    assigned = {a or b for a, b in _STEPPED.findall(code)} | set(_SET.findall(code))
    return Formula(names, frozenset(assigned), UNKNOWN_TEXT in code or "[" in code)


def _stand_in(pieces: Sequence[Piece]) -> str:
    """What an expansion adds to a formula: a variable its name, a number a number, all else a hole."""
    out = ""
    for piece in pieces:
        match piece:
            case Variable(length=True) | Variable(name="#" | "?" | "$" | "!"):
                out += "0"
            case Variable(name=name, plain=True) if _NAME.fullmatch(name):
                out += f" {name} "
            case Arithmetic(formula=formula) if not formula.unknown:
                out += " " + " ".join(formula.names) + " 0"
            case _:
                out += UNKNOWN_TEXT
    return out


def _joined(formulas: Sequence[Formula]) -> Formula:
    names = frozenset[str]().union(*(formula.names for formula in formulas))
    assigned = frozenset[str]().union(*(formula.assigned for formula in formulas))
    return Formula(names, assigned, any(formula.unknown for formula in formulas))
