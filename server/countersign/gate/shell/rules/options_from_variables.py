"""Options that a program takes from a variable: ``MAKEFLAGS=--eval=… make``, ``EXINIT='!evil' vi a``, scripts that it
runs first (``PYTHONSTARTUP=x.py python3``), and settings that git does (``git --config-env=alias.x=VARIABLE``).

The command is also judged with these among its words. Nothing is allowed by such a reading.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.filled_words import MOST_READINGS, filled
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_VARIABLES = {
    key[0]: tuple(name.partition("=")[::2] for name in names.split())
    for key, names in FACETS["option_variables"].items()
}
"""By program the variables whose words it reads like its own, each with the option whose value they are, if one is."""

_SCRIPTS = {
    key[0]: tuple(name.partition("=")[::2] for name in names.split())
    for key, names in FACETS["script_variables"].items()
}
"""By program the variables that name a script which it runs first, each with what stands in front of the name."""

_SETTING = re.compile(r"(?:--config-env=)?([\w.-][\w-]*\.[^=\s]+)=(\w+)")
"""A setting whose value stands in a variable."""


def with_options_from_variables(analyzed: AnalyzedCommand) -> Sequence[Step] | None:
    """Return the command with the options that its variables hold, as far as their values are known; None if there are
    too many."""
    found: list[Step] = []
    if not analyzed.facts.values and len(analyzed.layers) == 1:
        return found
    for name, layer in zip(analyzed.names, analyzed.layers, strict=True):
        if layer.start is None:
            continue
        words = layer.words
        front = analyzed.step.command.words[: layer.start]
        for variable, option in _VARIABLES.get(name, ()):
            values = _values(variable, analyzed, front)
            if values is None or len(values) > MOST_READINGS:
                return None
            for value in values:
                given = (constant(option), constant(value.lstrip(":"))) if option else _words(value)
                places = dict.fromkeys((1, min(2, len(words)), len(words)))
                found += [analyzed.step.with_words((*front, *words[:at], *given, *words[at:])) for at in places]
        for variable, mark in _SCRIPTS.get(name, ()):
            values = _values(variable, analyzed, front)
            if values is None or len(values) > MOST_READINGS:
                return None
            named = [constant(value.removeprefix(mark)) for value in values if value.startswith(mark)]
            found += [analyzed.step.with_words((*front, words[0], script, *words[1:])) for script in named]
        for at, word in enumerate(words):
            setting = _SETTING.fullmatch(word.value or "")
            apart = at > 0 and words[at - 1].value == "--config-env"
            if setting is None or not (apart or (word.value or "").startswith("--config-env=")):
                continue
            values = _values(setting[2], analyzed, front)
            if values is None:
                return None
            for value in values:
                given = (constant("-c"), constant(f"{setting[1]}={value}"))
                found.append(analyzed.step.with_words((*front, *words[: at - apart], *given, *words[at + 1 :])))
    return found


def _values(variable: str, analyzed: AnalyzedCommand, front: Sequence[Word]) -> list[str] | None:
    """What a variable is given in front of the command, by a wrapper as well (``env``), or anywhere in the text."""
    facts = analyzed.facts
    said = [word for word in front if word.prefix.startswith(f"{variable}=")]
    if any(word.value is None for word in said):
        return None
    given = [
        each.value for each in analyzed.step.command.assignments if each.name == variable and each.value is not None
    ]
    texts = [filled(word, facts) for word in (*given, *facts.words.get(variable, ()))]
    if None in texts or variable in facts.too_many:
        return None
    wrapped = [(word.value or "").partition("=")[2] for word in said]
    known = dict.fromkeys(
        (*wrapped, *facts.values.get(variable, ()), *(text for found in texts for text in found or ()))
    )
    return [value for value in known if value]


def _words(value: str) -> tuple[Word, ...]:
    try:
        return tuple(map(constant, shlex.split(value)))
    except ValueError:
        return tuple(map(constant, value.split()))
