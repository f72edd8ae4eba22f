"""What an awk program runs, reads and writes (docs/gate.md S9): its tokens read as every awk reads them.

``>`` and ``|`` count behind ``print``, ``printf`` and ``getline``; elsewhere they compare. A program that cannot be
read to its end counts as one that could do anything, and so does one with a slash of which it is not certain whether
it divides or begins a regular expression, or with a number whose end awks see in different places (``0xbsystem``).
"""

from __future__ import annotations

import re

from countersign.gate.shell.languages.sed import MOST_SCRIPT, Doings

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
      |(?P<comment>\#[^\n]*)
      |(?P<string>"(?:[^"\\\n]|\\[^\n])*")
      |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      |(?P<name>[A-Za-z_][A-Za-z_0-9]*)
      |(?P<operator>\|\||\|&|&&|>>|>=|<=|==|!=|!~|\+\+|--|\*\*=|[-+*%^]=|\*\*|[-+*%^!<>|?:~$=,;(){}\[\]\n])""",
    re.VERBOSE | re.ASCII,
)
_REGEX = re.compile(r"/((?:[^/\\\n]|\\[^\n])*)/")
_BRACKETS = re.compile(r"(?:[^\\\[]|\\.|\[(?:\^?\]|\^(?!\])|(?![\^\]]))(?:\[:[a-z]+:\]|[^\\\]\[]|\\.)*\])*")
"""A regular expression whose brackets are all closed: some awks take a slash inside them for its end, and some not."""
_Token = tuple[str, str]


def scan_awk(program: str) -> Doings:
    """Read a program."""
    doings = Doings()
    if len(program) > MOST_SCRIPT:
        doings.unreadable = f"an awk program is longer than {MOST_SCRIPT} characters"
        return doings
    tokens = _tokens(program, doings)
    if doings.unreadable is None:
        _judge(tokens, doings)
    return doings


def _tokens(program: str, doings: Doings) -> list[_Token]:
    found: list[_Token] = []
    conditions: list[bool] = []  # of each open parenthesis, whether it holds the condition of a statement
    value: bool | None = False  # whether a value ends here, which a slash would divide; None: that is not certain
    position = 0
    while position < len(program):
        if program[position] == "/":
            regex = None if value else _REGEX.match(program, position)
            if value is None or (not value and (regex is None or _BRACKETS.fullmatch(regex[1]) is None)):
                doings.unreadable = "a regular expression or a division of awk is not read with certainty"
                return found
            text = regex[0] if regex is not None else "/=" if program.startswith("/=", position) else "/"
            found.append(("operator" if regex is None else "regex", text))
            value = False if regex is None else None
            position += len(text)
            continue
        token = _TOKEN.match(program, position)
        if token is None:
            doings.unreadable = f"`{program[position]}` in an awk program is not understood"
            return found
        position = token.end()
        kind, text = token.lastgroup or "", token[0]
        if kind in {"blank", "comment"}:
            continue
        if text == "(":
            conditions.append(found[-1:] in _CONDITIONS)
        elif text == "[":
            conditions.append(False)
        condition = conditions.pop() if text in {")", "]"} and conditions else False
        value = _ends_value(kind, text, condition=condition, inside=bool(conditions))
        found.append((kind, text))
    return found


_CONDITIONS = [[("name", word)] for word in ("if", "while", "for", "switch")]
_BEFORE_REGEX = frozenset({"print", "printf", "return", "exit", "else", "do"})
_NO_VARIABLES = frozenset(
    "BEGIN END BEGINFILE ENDFILE and asort asorti atan2 bindtextdomain break case close compl continue cos dcgettext "
    "dcngettext default delete errno exp fflush fprintf func function gensub getline gsub if in include index int "
    "isarray ismatch length load log lshift match mkbool mktime namespace next nextfile or patsplit rand rshift sin "
    "split sprintf sqrt srand strftime strtonum sub substr switch system systime tolower toupper typeof while for "
    "xor".split()
)
"""Words of the language, in any awk, behind which a slash is not certain."""


def _ends_value(kind: str, text: str, *, condition: bool, inside: bool) -> bool | None:
    """Whether a slash behind this token divides; None where awks could differ, or nobody writes one."""
    match kind:
        case "number" | "string":
            return True
        case "name":
            return False if text in _BEFORE_REGEX else None if text in _NO_VARIABLES else True
        case _:
            pass
    if text == ")":
        return None if condition else True
    if text == "]":
        return True
    if text in {"$", "++", "--"} or (text == "\n" and inside):
        return None
    return False


_GOES_ON = frozenset({",", "&&", "||", "{", "do", "else", "?", ":"})
"""Behind these a newline ends nothing."""


def _judge(tokens: list[_Token], doings: Doings) -> None:
    depth = 0
    printing: int | None = None
    # A `<` behind a `getline` of the same statement may name its file, however long its variable is written. One that
    # compares counts too, which only finds a file too many.
    getting: int | None = None
    before = ""
    for index, (kind, text) in enumerate(tokens):
        goes_on = before in _GOES_ON
        if text != "\n":
            before = text
        if kind == "name":
            if text == "system":
                doings.runs.append(_argument(tokens, index + 1))
            elif text == "extension" and tokens[index + 1 : index + 2] == [("operator", "(")]:
                doings.runs.append(None)  # gawk before 4.1 loads a library
            elif text in {"print", "printf"}:
                printing = depth
            elif text == "getline":
                getting = depth if getting is None else min(getting, depth)
            elif text in {"ARGV", "ARGC", "SYMTAB"}:
                doings.reads.append(None)
            continue
        if kind != "operator":
            continue
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
            if getting is not None and depth < getting:
                getting = None
        elif text == "\n" and goes_on:
            continue
        elif text in {";", "\n", "{", "}"}:
            getting = None if text != "\n" or getting is None or depth <= getting else getting
            printing = None if text != "\n" or printing is None or depth <= printing else printing
        elif text in {"|", "|&"}:
            doings.runs.append(_constant(tokens, index + 1) if printing is not None else _before(tokens, index))
        elif text in {">", ">>"} and printing is not None and depth <= printing:
            target = _constant(tokens, index + 1)
            if target not in {"/dev/stdout", "/dev/stderr"}:
                doings.writes.append(target)
        elif text == "<" and getting is not None:
            doings.reads.append(_constant(tokens, index + 1))


def _constant(tokens: list[_Token], index: int) -> str | None:
    """The string at this place, if the expression is that string alone."""
    if index >= len(tokens) or tokens[index][0] != "string":
        return None
    after = tokens[index + 1][1] if index + 1 < len(tokens) else ""
    return tokens[index][1][1:-1] if after in {"", ";", "\n", "}", ")"} and "\\" not in tokens[index][1] else None


def _argument(tokens: list[_Token], index: int) -> str | None:
    return _constant(tokens, index + 1) if index < len(tokens) and tokens[index][1] == "(" else None


def _before(tokens: list[_Token], index: int) -> str | None:
    """The string in front of this place, if the expression is that string alone."""
    kind, text = tokens[index - 1] if index else ("", "")
    front = tokens[index - 2][1] if index > 1 else ";"
    return text[1:-1] if kind == "string" and "\\" not in text and front in {";", "\n", "{", "("} else None
