"""Options that a program takes from a variable: ``MAKEFLAGS=--eval=… make``, ``EXINIT='!evil' vi a``.

The command is also judged with these among its words. Nothing is allowed by such a reading.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.filled_words import filled
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_VARIABLES = {
    key[0]: tuple(name.partition("=")[::2] for name in names.split())
    for key, names in FACETS["option_variables"].items()
}
"""By program the variables whose words it reads like its own, each with the option whose value they are, if one is."""

_SETTING = re.compile(r"(?:--config-env=)?([\w.-]+\.[^=\s]+)=(\w+)")
"""A setting whose value stands in a variable."""


def with_options_from_variables(analyzed: AnalyzedCommand) -> Sequence[Step]:
    """Return the command with the options that its variables hold, as far as their values are known."""
    found: list[Step] = []
    if not analyzed.facts.values:
        return found
    for name, layer in zip(analyzed.names, analyzed.layers, strict=True):
        if layer.start is None:
            continue
        words = layer.words
        front = analyzed.step.command.words[: layer.start]
        for variable, option in _VARIABLES.get(name, ()):
            for value in _values(variable, analyzed):
                given = (constant(option), constant(value.lstrip(":"))) if option else _words(value)
                places = dict.fromkeys((1, min(2, len(words)), len(words)))
                found += [analyzed.step.with_words((*front, *words[:at], *given, *words[at:])) for at in places]
        for at, word in enumerate(words):
            setting = _SETTING.fullmatch(word.value or "")
            apart = at > 0 and words[at - 1].value == "--config-env"
            if setting is None or not (apart or (word.value or "").startswith("--config-env=")):
                continue
            for value in _values(setting[2], analyzed):
                given = (constant("-c"), constant(f"{setting[1]}={value}"))
                found.append(analyzed.step.with_words((*front, *words[: at - apart], *given, *words[at + 1 :])))
    return found


def _values(variable: str, analyzed: AnalyzedCommand) -> Iterator[str]:
    """What a variable is given in front of the command, or anywhere in the text."""
    given = dict.fromkeys(each.plain for each in analyzed.step.command.assignments if each.name == variable)
    given.update(dict.fromkeys(analyzed.facts.values.get(variable, ())))
    for assignment in analyzed.step.command.assignments:
        if assignment.name == variable and assignment.value is not None and assignment.value.value is None:
            given.update(dict.fromkeys(filled(assignment.value, analyzed.facts)))
    for word in analyzed.facts.words.get(variable, ()):
        given.update(dict.fromkeys(filled(word, analyzed.facts)))
    yield from (value for value in given if value)


def _words(value: str) -> tuple[Word, ...]:
    try:
        return tuple(map(constant, shlex.split(value)))
    except ValueError:
        return tuple(map(constant, value.split()))
