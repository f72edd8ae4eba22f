"""Whether something that is only known at run time decides which program runs: ``git rebase -x "$q"``.

The command is read once more, with a name that no program has in the place of all that is not known. Where that name is
then the program of a command which runs in turn, or a part of its name, any program may run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.flow.parse_cache import Followed, follow
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.texts_inside import texts_inside
from countersign.gate.shell.syntax.tree import Arithmetic, Assignment, Glob, Piece, Text, Variable, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts

STAND_IN = "countersign-stand-in"
"""Stands for an unknown value that could be a name."""

_DIGIT = "1"
"""Stands for a number that is not known."""

_DEEPEST = 3
"""How deep texts inside of texts are looked into."""


def decides_program(analyzed: AnalyzedCommand) -> bool:
    """Whether a word or an assigned value that is not known names a program which the command runs in turn. What runs
    the program that its own first word names is left out."""
    step = analyzed.step
    if analyzed.plain or step.command.kind != "command":
        return False
    read = _with_stand_ins(step, analyzed.facts)
    return read is not None and any(map(_runs_it, _inside(AnalyzedCommand(read, analyzed.facts), _DEEPEST)))


def _with_stand_ins(step: Step, facts: Facts) -> Step | None:
    """The command with its stand-ins; None if all of it is known."""
    command = step.command
    words = tuple(word if word.value is not None else _filled(word, facts) for word in command.words)
    assigned = [_with_value(each, facts) for each in (*command.assignments, *command.declared)]
    known = words == command.words and assigned == [*command.assignments, *command.declared]
    return None if known else step.with_words(words).with_assigned(assigned)


def _with_value(assignment: Assignment, facts: Facts) -> Assignment:
    value = assignment.value
    if value is None or value.value is not None or assignment.appends or assignment.items is not None:
        return assignment
    return replace(assignment, value=_filled(value, facts))


def _filled(word: Word, facts: Facts) -> Word:
    return constant("".join(_text(piece, facts) for piece in word.pieces)) if word.pieces else word


def _text(piece: Piece, facts: Facts) -> str:
    match piece:
        case Text(text=text) | Glob(text=text):
            return text
        case Arithmetic():
            return _DIGIT
        case Variable(held=str(name)) if facts.numeric(name):
            return _DIGIT
        case Variable(held=str(name)) if (values := facts.values.get(name)) and None not in values:
            return next(iter(sorted(value for value in values if value is not None)))
        case _:
            return STAND_IN


def _inside(analyzed: AnalyzedCommand, depth: int) -> Iterator[Sequence[Word]]:
    """The words of each command that it runs in turn."""
    yield from (layer.words for layer in analyzed.layers[1:])
    for text in texts_inside(analyzed):
        found = follow(text) if STAND_IN in text and depth else None
        if not isinstance(found, Followed):
            continue
        for step in found.course.steps:
            inner = AnalyzedCommand(step, found.course.facts)
            yield from (layer.words for layer in inner.layers[:1])
            yield from _inside(inner, depth - 1)


def _runs_it(words: Sequence[Word]) -> bool:
    return bool(words) and STAND_IN in words[0].prefix and words[0].prefix[:1] != "-"
