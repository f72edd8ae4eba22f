"""Scripts and settings that a program takes from its input: ``sed -f - a <<< 'w x'``, ``curl -K <(echo output=x) URL``.

The command is also judged with the text among its words. Nothing is allowed by such a reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.argv import Option
from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Text, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts

_OPTIONS = {
    key[0]: dict(option.split("=", 1) for option in options.split())
    for key, options in FACETS["scripts_on_input"].items()
}
"""By program its options that name the file of a script, each with the option that takes the script itself, with
`operand` where that is its first operand, or with `lines` where each line of the file is an option."""

_INPUT = re.compile(r"-|/dev/stdin|(?:/dev/fd|/proc/self/fd)/0")


def with_scripts_on_input(step: Step, facts: Facts) -> Iterator[Step]:
    """Yield the command with each text that may come in on its input in the place of the file."""
    if not step.input.texts:
        return
    analyzed = AnalyzedCommand(step, facts)
    for name, layer, known in zip(analyzed.names, analyzed.layers, analyzed.known, strict=True):
        how = _OPTIONS.get(name, {})
        for option in known.arguments.options if how else ():
            value = option.value.value if option.value is not None else None
            if option.name in how and value is not None and _INPUT.fullmatch(value):
                for given in _given(how[option.name], step):
                    yield step.with_words(_replaced(layer.words, option, given))


def _given(how: str, step: Step) -> Iterator[tuple[Word, ...]]:
    open_words = [
        word for word in step.input.words if not any(isinstance(each, Text) and each.text for each in word.pieces)
    ]
    for text in step.input.texts:
        if how == "lines":
            yield tuple(word for line in text.splitlines() for word in _as_option(line))
        else:
            yield (constant(text),) if how == "operand" else (constant(how), constant(text))
    for word in open_words if how != "lines" else ():
        yield (word,) if how == "operand" else (constant(how), word)


def _as_option(line: str) -> tuple[Word, ...]:
    """The option that a line of settings is: ``output = "x"``, ``-o x``."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        return ()
    name, value = found[1], found[2].strip("\"'")
    return (constant(name if name[0] == "-" else f"--{name}"), *((constant(value),) if value else ()))


_LINE = re.compile(r"(-?-?\w[\w-]*)[\s=:]*(.*)")


def _replaced(words: Sequence[Word], option: Option, given: Sequence[Word]) -> tuple[Word, ...]:
    behind = option.index + (1 if option.attached else 2)
    return (*words[: option.index], *given, *words[behind:])
