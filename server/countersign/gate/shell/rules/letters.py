"""How many characters the commands of a text hold and read: a variable of 40,000 may stand in 300 of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.syntax.tree import Substitution, Text, Variable, Word
from countersign.gate.shell.variables.bindings import Facts


def letters(steps: Sequence[Step], facts: Facts) -> int:
    """Return how many characters stand in their words, with the longest value of each variable, and in their input."""
    longest = {name: max([len(each or "") for each in values], default=0) for name, values in facts.values.items()}
    return sum(_of_step(each, longest) for each in steps)


def _of_step(step: Step, longest: Mapping[str, int]) -> int:
    command = step.command
    words = [*command.words, *step.input.words, *[each.target for each in command.redirects]]
    words += [each.value for each in command.assignments if each.value is not None]
    return sum([_of_word(word, longest) for word in words]) + sum(map(len, step.input.texts))


def _of_word(word: Word, longest: Mapping[str, int]) -> int:
    if word.value is not None:
        return len(word.value)
    return sum([_of_piece(piece, longest) for piece in word.pieces])


def _of_piece(piece: object, longest: Mapping[str, int]) -> int:
    match piece:
        case Text(text=text):
            return len(text)
        case Variable(name=name, words=words):
            return longest.get(name, 0) + sum([_of_word(word, longest) for word in words])
        case Substitution(constant=str(constant)):
            return len(constant)
        case _:
            return 0
