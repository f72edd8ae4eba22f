"""Commands with something in the place of what is only known at run time.

``git -c core.editor="evil $x" commit`` runs `evil` whatever `x` holds, and ``sed "s/$x/b/w .vscode/tasks.json" a``
writes. Where only a part of a word or of a value is not known, the command is also judged with texts in that place:
what the text itself gives it, a digit, and nothing. A pattern may match nothing and stay as it is, and what ``<(…)``
prints is read like an input. Nothing is allowed by such a reading.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from countersign.gate.shell.flow.command_input import ANY_INPUT
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.flow.stage_output import DIGIT, stage_output
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import (
    UNKNOWN_TEXT,
    Assignment,
    Glob,
    Piece,
    Pipeline,
    Process,
    Script,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts

MOST_READINGS = 200
"""Texts that one word is read as."""

_DEEPEST = 3
"""How many variables are looked into, each of which the one before is made of."""


class _TooManyError(Exception):
    """A word may be more texts than are judged."""


def with_filled_words(analyzed: AnalyzedCommand) -> Sequence[Step] | None:
    """Return the command in each such reading, with its assignments; None if there are too many."""
    step = analyzed.step
    if step.command.kind != "command" or (step.command.plain and not step.input.words):
        return ()
    try:
        return _readings(step, analyzed.facts)
    except _TooManyError:
        return None


def _readings(step: Step, facts: Facts) -> list[Step]:
    command = step.command
    words = [_texts(word, facts) for word in command.words]
    assigned = [_assigned(each, facts) for each in (*command.assignments, *command.declared)]
    most = max(map(len, (*words, *assigned)), default=0)
    found: dict[tuple[Word | Assignment, ...], Step] = {}
    for turn in range(most):
        put = tuple(_at(texts, turn, word) for texts, word in zip(words, command.words, strict=True))
        given = tuple(
            _with_value(each, texts[turn % len(texts)]) if texts else each
            for texts, each in zip(assigned, (*command.assignments, *command.declared), strict=True)
        )
        read = step.with_words(put).with_assigned(given)
        guessed = any(_GUESSED in texts[turn % len(texts)] for texts in (*words, *assigned) if texts)
        found.setdefault((*put, *given), read._replace(guessed=guessed))
    fed = [text for word in step.input.words for text in _without_marks(word, facts)]
    if fed:
        read = step.with_words(command.words)
        read = read._replace(input=read.input._replace(texts=tuple(dict.fromkeys(fed)), exact=False))
        return [*found.values(), read, *_fed_by_process(step)]
    return [*found.values(), *_fed_by_process(step)]


def _at(texts: Sequence[str], turn: int, word: Word) -> Word:
    return constant(texts[turn % len(texts)].replace(_GUESSED, "")) if texts else word


def _with_value(assignment: Assignment, text: str) -> Assignment:
    return replace(assignment, value=constant(text.replace(_GUESSED, "")))


def _assigned(assignment: Assignment, facts: Facts) -> list[str]:
    value = assignment.value
    if value is None or value.value is not None or assignment.appends or assignment.items is not None:
        return []
    return _filled(value.pieces, facts, whole=True)


def filled(word: Word, facts: Facts) -> list[str] | None:
    """Return the texts that a word may be read as, None if these are too many."""
    try:
        return _without_marks(word, facts)
    except _TooManyError:
        return None


def _without_marks(word: Word, facts: Facts) -> list[str]:
    return [text.replace(_GUESSED, "") for text in _filled(word.pieces, facts, whole=False)]


def _texts(word: Word, facts: Facts) -> list[str]:
    """What a word may be read as; none where it is constant, or nothing of it is known."""
    if word.value is not None or word.choices or any(isinstance(piece, Process) for piece in word.pieces):
        return []
    known = "".join(piece.text for piece in word.pieces if isinstance(piece, Text))
    if word.form == "pattern" and not (known[:1] == "-" or re.search(r"\s", known)):
        return []
    if word.form != "pattern" and all(isinstance(piece, Text) or _given(piece, facts) for piece in word.pieces):
        return []  # it is spelled out (`spelled_out.py`)
    return (
        _filled(word.pieces, facts, whole=False) if known or any(_says(piece, facts) for piece in word.pieces) else []
    )


def _says(piece: Piece, facts: Facts) -> bool:
    """Whether something is known of what stands here."""
    match piece:
        case Variable(held=str(name)):
            return any(facts.values.get(name, ())) or name in facts.words
        case Variable(words=words, operator=operator):
            return "?" not in operator and any(word.value for word in words)
        case Substitution(script=script):
            return any(text.strip() for text in printed_by_script(script))
        case _:
            return False


def _given(piece: Piece, facts: Facts) -> bool:
    return isinstance(piece, Variable) and piece.held is not None and None not in facts.values.get(piece.held, {None})


def _filled(pieces: Sequence[Piece], facts: Facts, *, whole: bool, deep: int = _DEEPEST) -> list[str]:
    """The texts that pieces make with each of their values. ``whole``: also an empty one. ``deep`` says how many
    variables in variables are looked into."""
    pieces = [piece for piece in pieces if not isinstance(piece, Text) or piece.text]
    found: dict[str, None] = {}
    for unknown in (DIGIT, ""):
        choices = [
            _choices(pieces, index, facts, deep) or [_placed(pieces, index, unknown)] for index in range(len(pieces))
        ]
        if math.prod(map(len, choices)) > MOST_READINGS:
            raise _TooManyError
        found.update(dict.fromkeys(map("".join, itertools.product(*choices))))
    return [text for text in found if text or whole]


def _choices(pieces: Sequence[Piece], index: int, facts: Facts, deep: int) -> list[str]:
    """What one piece may be, as far as the text tells."""
    match pieces[index]:
        case Text(text=text) | Glob(text=text):
            return [text]
        case Variable(name=name, held=held) if name in facts.too_many or held in facts.too_many:
            raise _TooManyError
        case Variable(held=str(name), default=default):
            known = sorted(value for value in facts.values.get(name, ()) if value)
            if known and known != [default]:
                return known
            given = facts.words.get(name, ()) if deep else ()
            filled_in = (_filled(word.pieces, facts, whole=True, deep=deep - 1) for word in given)
            return list(dict.fromkeys((*known, *(text for texts in filled_in for text in texts))))
        case Variable(words=words, operator=operator) if "?" not in operator:
            return [word.value for word in words if word.value]
        case Substitution(script=script):
            return [text.rstrip("\n") for text in printed_by_script(script) if text.strip()]
        case _:
            return []


def _placed(pieces: Sequence[Piece], index: int, unknown: str) -> str:
    """What stands for a piece of which nothing is known: in front of a slash a folder, behind one a name."""
    before = pieces[index - 1] if index else None
    after = pieces[index + 1] if index + 1 < len(pieces) else None
    begins = before is None or (isinstance(before, Text) and before.text[-1:] in _STARTS)
    if begins and isinstance(after, Text) and after.text[:1] == "/":
        return f".{_here(pieces[index])}"
    return DIGIT if isinstance(before, Text) and before.text[-1:] == "/" else unknown


def _here(piece: Piece) -> str:
    """Nothing for the folder where the command runs, and a mark for another one that may be it."""
    match piece:
        case Variable(name="PWD", plain=True):
            return ""
        case Substitution(script=Script(statements=(Simple(words=words, redirects=()),))):
            called = [word.value for word in words]
            return "" if called[:1] == ["pwd"] and set(called[1:]) <= {"-P", "-L"} else _GUESSED
        case _:
            return _GUESSED


_GUESSED = UNKNOWN_TEXT
"""Stands in a text behind a folder that is a guess."""

_STARTS = frozenset("=:, \t\n")
"""Characters behind which a path may begin."""


def printed_by_script(script: Script) -> tuple[str, ...]:
    """What a substitution prints, as far as its words tell."""
    if not script.statements:
        return ()
    last = script.statements[-1]
    return stage_output(last.stages[-1] if isinstance(last, Pipeline) else last)[0]


def _fed_by_process(step: Step) -> Iterator[Step]:
    """The command with `-` in the place of ``<(…)``, and what that prints on its input."""
    for index, word in enumerate(step.command.words):
        process = next((piece for piece in word.pieces if isinstance(piece, Process) and not piece.writes), None)
        if process is not None:
            front = word.prefix if word.pieces[0] is not process else ""
            words = (*step.command.words[:index], constant(f"{front}-"), *step.command.words[index + 1 :])
            read = step.with_words(words)
            printed = ANY_INPUT._replace(texts=printed_by_script(process.script), words=read.input.words)
            yield read._replace(input=printed)
