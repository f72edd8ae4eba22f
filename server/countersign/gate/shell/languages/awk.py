"""What an awk program runs, reads and writes (RULES.md S9): its tokens read as awk reads them.

``>`` and ``|`` count behind ``print``, ``printf`` and ``getline``; elsewhere they compare. A program that cannot be
read to its end counts as one that could do anything.
"""

from __future__ import annotations

import re

from countersign.gate.shell.languages.sed import Doings

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n)
      |(?P<comment>\#[^\n]*)
      |(?P<string>"(?:[^"\\\n]|\\.)*")
      |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|0[xX][0-9a-fA-F]+)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<operator>\|\||\|&|&&|>>|>=|<=|==|!=|!~|\+\+|--|\*\*=|[-+*/%^]=|\*\*|[-+*%^!<>|?:~$=,;(){}\[\]\n])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:\^?\]?)(?:[^\]\\\n]|\\.)*\])*/")
_SIMPLE_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)*/")


def scan_awk(program: str) -> Doings:
    """Read a program."""
    doings = Doings()
    tokens = _tokens(program, doings)
    if doings.unreadable is None:
        _judge(tokens, doings)
    return doings


def _tokens(program: str, doings: Doings) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(program):
        if program[position] == "/" and not _ends_value(found):
            # Awks differ on a slash inside brackets, so both readings must end at the same place.
            regex, plain = _REGEX.match(program, position), _SIMPLE_REGEX.match(program, position)
            if regex is None or plain is None or regex.end() != plain.end():
                doings.unreadable = "a regular expression of awk is not read with certainty"
                return found
            found.append(("regex", regex[0]))
            position = regex.end()
            continue
        if program[position] == "/":
            width = 2 if program.startswith("/=", position) else 1
            found.append(("operator", program[position : position + width]))
            position += width
            continue
        token = _TOKEN.match(program, position)
        if token is None:
            doings.unreadable = f"`{program[position]}` in an awk program is not understood"
            return found
        if token.lastgroup not in {"blank", "comment"}:
            found.append((token.lastgroup or "", token[0]))
        position = token.end()
    return found


def _ends_value(tokens: list[tuple[str, str]]) -> bool:
    """Whether a slash here divides."""
    if not tokens:
        return False
    kind, text = tokens[-1]
    if kind == "name":
        return text not in {
            "print",
            "printf",
            "return",
            "exit",
            "in",
            "getline",
            "if",
            "while",
            "for",
            "do",
            "else",
            "case",
            "BEGIN",
            "END",
        }
    if text == ")" and kind == "operator" and _closes_condition(tokens):
        return False
    return kind in {"number", "string"} or text in {")", "]", "$", "++", "--"}


def _closes_condition(tokens: list[tuple[str, str]]) -> bool:
    """Whether the last parenthesis is that of ``if (…)`` and its like, behind which a statement begins."""
    depth = 0
    for index in range(len(tokens) - 1, 0, -1):
        kind, text = tokens[index]
        if kind == "operator" and text in "()":
            depth += 1 if text == ")" else -1
            if depth == 0:
                return tokens[index - 1] in {("name", word) for word in ("if", "while", "for", "switch")}
    return False


_GOES_ON = {",", "&&", "||", "{", "do", "else", "?", ":"}
"""Behind these a newline ends nothing."""


def _goes_on(tokens: list[tuple[str, str]], index: int) -> bool:
    before = next((text for _, text in reversed(tokens[:index]) if text != "\n"), "")
    return before in _GOES_ON


def _judge(tokens: list[tuple[str, str]], doings: Doings) -> None:
    depth = 0
    printing: int | None = None
    for index, (kind, text) in enumerate(tokens):
        if kind == "name":
            if text == "system":
                doings.runs.append(_argument(tokens, index + 1))
            elif text in {"print", "printf"}:
                printing = depth
            elif text == "getline":
                doings.reads += _got_from(tokens, index + 1)
            elif text in {"ARGV", "ARGC", "SYMTAB"}:
                doings.reads.append(None)
            continue
        if kind != "operator":
            continue
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
        elif text == "\n" and _goes_on(tokens, index):
            continue
        elif text in {";", "\n", "{", "}"}:
            printing = None if text != "\n" or printing is None or depth <= printing else printing
        elif text in {"|", "|&"}:
            doings.runs.append(_constant(tokens, index + 1) if printing is not None else _before(tokens, index))
        elif text in {">", ">>"} and printing is not None and depth <= printing:
            target = _constant(tokens, index + 1)
            if target not in {"/dev/stdout", "/dev/stderr"}:
                doings.writes.append(target)


def _got_from(tokens: list[tuple[str, str]], start: int) -> list[str | None]:
    """The file that a ``getline`` reads: behind the first `<` of its statement, however long its variable is written.
    A `<` that compares counts too, which only finds a file too many."""
    depth = 0
    for later in range(start, len(tokens)):
        kind, text = tokens[later]
        if kind != "operator":
            continue
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
        if text == "<":
            return [_constant(tokens, later + 1)]
        if depth < 0 or text in {";", "\n", "{", "}"}:
            break
    return []


def _constant(tokens: list[tuple[str, str]], index: int) -> str | None:
    """The string at this place, if the expression is that string alone."""
    if index >= len(tokens) or tokens[index][0] != "string":
        return None
    after = tokens[index + 1][1] if index + 1 < len(tokens) else ""
    return tokens[index][1][1:-1] if after in {"", ";", "\n", "}", ")"} and "\\" not in tokens[index][1] else None


def _argument(tokens: list[tuple[str, str]], index: int) -> str | None:
    return _constant(tokens, index + 1) if index < len(tokens) and tokens[index][1] == "(" else None


def _before(tokens: list[tuple[str, str]], index: int) -> str | None:
    kind, text = tokens[index - 1] if index else ("", "")
    return text[1:-1] if kind == "string" and "\\" not in text else None
