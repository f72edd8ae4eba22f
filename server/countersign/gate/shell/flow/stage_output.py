"""What a stage of a pipeline prints, as far as its words tell: a shell behind it may read that as commands."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import partial

from countersign.gate.shell.effects.unwrap import could_run, program, unwrap
from countersign.gate.shell.programs.tables import FACETS, SHELLS
from countersign.gate.shell.syntax.tree import Chain, Compound, Glob, Node, Not, Pipeline, Simple, Text, Timed, Word


def stage_output(node: Node) -> tuple[tuple[str, ...], bool]:
    """What a stage of a pipeline may print, where the next one may read it as commands, and whether that is surely
    all of it to the letter: text that is worked out (escapes, formats, expansions, files) is not."""
    if not isinstance(node, Simple):
        texts = list(dict.fromkeys(itertools.islice(_printed_inside(node), _MOST)))
        # `echo -n` and `printf` end no line.
        joined = [between.join(texts) for between in ("\n", "")] if len(texts) > 1 else []
        return tuple(dict.fromkeys((*texts, *joined))), False
    words = node.words
    if not words or words[0].value is None:
        return (), False
    if (name := program(words[0].value)) not in _PRINTING:
        # What runs it may print more (`find . -print -exec echo x \\;`).
        inner = unwrap(words).layers[-1].words
        name = program(inner[0].value or "")
        return (_printed_by(name, inner, node)[0], False) if name in _PRINTING else ((), False)
    return _printed_by(name, words, node)


def _printed_by(name: str, words: Sequence[Word], node: Simple) -> tuple[tuple[str, ...], bool]:
    """The same of a command that prints, with these words."""
    words = words[1:]
    values = [shown(word) for word in words]
    constant = all(word.form == "constant" for word in words)
    if name == "echo":
        options = next(
            (number for number, value in enumerate(values) if not _ECHO_OPTIONS.fullmatch(value)), len(values)
        )
        text = " ".join(values[options:])
        # `sh` may be a shell whose `echo` works out escapes without being asked.
        plain = constant and "\\" not in text
        return (text,) if plain else tuple(dict.fromkeys((text, _unescaped(text)))), plain
    if name == "printf":
        formatted = _formatted(values) if "%" in "".join(values[:1]) else ()
        each_shown = (each for text in values for each in (text.replace("\\n", "\n"), _unescaped(text)))
        texts = tuple(dict.fromkeys((*each_shown, *formatted)))
        return texts, constant and len(values) == 1 and "%" not in values[0] and "\\" not in values[0]
    if name in _PRINTING_INPUT or name in SHELLS:
        heredocs = [redirect.heredoc for redirect in node.redirects if redirect.heredoc is not None]
        known = [heredoc.word is not None and heredoc.word.value is not None for heredoc in heredocs]
        sure = _PRINTING_INPUT.get(name) == "only" and not words and len(node.redirects) == 1 and known == [True]
        strings = [shown(redirect.target) for redirect in node.redirects if redirect.operator == "<<<"]
        return (*(heredoc.body or "" for heredoc in heredocs), *strings), sure
    return (), False


def _formatted(values: Sequence[str]) -> Iterator[str]:
    """What ``printf FORMAT ARGUMENT…`` prints, each time with as many arguments as the format takes."""
    form, given = values[0], list(values[1:])
    takes = max(1, len(_CONVERSION.findall(form.replace("%%", ""))))
    printed = ""
    for at in range(0, max(1, min(len(given), _MOST)), takes):
        if len(printed) > _LONGEST:
            break
        printed += _unescaped(_CONVERSION.sub(partial(_converted, left=iter(given[at : at + takes])), form))
    yield printed


def _converted(found: re.Match[str], *, left: Iterator[str]) -> str:
    if found[0] == "%%":
        return "%"
    text = next(left, "")
    return text[: int(found[1])] if found[1] else text


_LONGEST = 20_000
"""Characters that are put together of one format."""

_CONVERSION = re.compile(r"%%|%[-+ #0-9']*(?:\.(\d*))?[a-zA-Z]")


def only_filters(node: Node) -> bool:
    """Whether a stage is a command of constants that runs no other and prints nothing of its own, as far as its words
    tell: what ``stage_output`` and ``open_output`` would find out about most stages, at less cost."""
    if not isinstance(node, Simple) or not node.plain:
        return False
    name = program(node.words[0].value or "")
    return name not in _PRINTING and not could_run(name, node.words)


def open_output(node: Node) -> tuple[Word, ...]:
    """The words that a stage may print and that are not constant."""
    return tuple(
        itertools.islice(
            (
                word
                for command in _inside(node)
                if command.words and program(command.words[0].value or "") in _PRINTING
                for word in command.words[1:]
                if word.value is None
            ),
            _MOST,
        )
    )


def _printed_inside(node: Node) -> Iterator[str]:
    """The texts that commands inside a statement may print."""
    for command in _inside(node):
        yield from stage_output(command)[0]


def _inside(node: Node) -> Iterator[Simple]:
    """The simple commands of a statement."""
    match node:
        case Simple():
            yield node
        case Pipeline(stages=stages):
            for stage in stages:
                yield from _inside(stage)
        case Chain(first=first, links=links):
            yield from _inside(first)
            for _, link in links:
                yield from _inside(link)
        case Not(body=body) | Timed(body=body):
            yield from _inside(body)
        case Compound(bodies=bodies):
            for body in bodies:
                for statement in body.statements:
                    yield from _inside(statement)


_MOST = 400
"""Texts of one statement that are looked at: as many as a text may have commands (``judge.py``, ``MOST_COMMANDS``)."""


def _unescaped(text: str) -> str:
    """What ``printf`` and ``echo -e`` make of escapes."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    octal, hexadecimal, letter = found.groups()
    if letter is not None:
        return _LETTERS[letter]
    return chr(int(octal, 8) & 0xFF) if octal is not None else chr(min(int(hexadecimal.lstrip("xuU"), 16), 0x10FFFF))


_ESCAPE = re.compile(r"\\(?:0?([0-7]{1,3})|(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8})|([abefnrtv\\\"']))")
_LETTERS = {**dict(zip("abefnrtv", "\a\b\x1b\f\n\r\t\v", strict=True)), "\\": "\\", '"': '"', "'": "'"}


DIGIT = "1"
"""Stands for what is only known at run time. Most languages take it for a number, a part of a name or of a pattern."""


def shown(word: Word) -> str:
    """The text of a word, with a digit in the place of what is only known at run time."""
    if word.value is not None:
        return word.value
    return "".join(piece.text if isinstance(piece, Text | Glob) else DIGIT for piece in word.pieces)


_PRINTING_INPUT = {key[0]: how for key, how in FACETS["prints_input"].items()}
_PRINTING = frozenset({"echo", "printf", *_PRINTING_INPUT, *SHELLS})
_ECHO_OPTIONS = re.compile(r"-[neE]+")
