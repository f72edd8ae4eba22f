"""Commands that get words from an input: it may be empty (``xargs cp a .vscode/x`` then runs as it stands there), and
its words may stand in the text (``echo @args | xargs ld``)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.effects.unwrap import replaced_text
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.rules.analyzed_command import GIVE_INPUT, AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import UNKNOWN, constant

_NOT_RUN = ("-r", "--no-run-if-empty", "-I", "-i", "--replace")
"""Options with which nothing runs for an empty input."""


def with_empty_input(analyzed: AnalyzedCommand) -> Sequence[Step]:
    """Return the commands without the words that come in on the input, where something is left to judge."""
    found: list[Step] = []
    for layer in analyzed.layers[1:]:
        above = layer.above
        if above is not None and analyzed.names[above] in GIVE_INPUT and layer.start is not None:
            mark = replaced_text(analyzed.names[above], analyzed.known[above].arguments)
            if mark is not None and not _ONLY_A_MARK.fullmatch(mark):
                # A further option may take the replacing back, and then it is a word like any other.
                found.append(analyzed.step.with_words(analyzed.layers[0].words[layer.start :]))
        if above is None or len(layer.words) < _FEWEST or layer.words[-1] is not UNKNOWN:
            continue
        if analyzed.names[above] in GIVE_INPUT and not analyzed.known[above].arguments.may_have(*_NOT_RUN):
            found.append(analyzed.step.with_words(layer.words[:-1]))
    return found


_ONLY_A_MARK = re.compile(r"\{\w*\}|[%@+]{1,2}|[A-Za-z]", re.ASCII)
"""A mark that is hardly the name of a file, nor one of a folder (``..``)."""

_FEWEST = 3
"""Words of a command with a name, an operand, and what is given to it."""


def with_given_words(analyzed: AnalyzedCommand) -> Sequence[Step] | None:
    """Return the commands with the words that the text itself writes to their input; None if these are too many."""
    found: list[Step] = []
    for layer in analyzed.layers[1:] if analyzed.step.input.texts else ():
        above = layer.above
        if above is None or analyzed.names[above] not in GIVE_INPUT:
            continue
        instead = replaced_text(analyzed.names[above], analyzed.known[above].arguments)
        for text in analyzed.step.input.texts:
            if instead is None and layer.words[-1] is UNKNOWN:
                given = [constant(word) for word in _words(text)]
                found.append(analyzed.step.with_words((*layer.words[:-1], *given)))
                found += [analyzed.step.with_words((*layer.words[:-1], each)) for each in given if len(given) > 1]
            elif instead is not None and layer.start is not None:
                written = analyzed.layers[0].words[layer.start :]
                found += [analyzed.step.with_words(_replacing(written, instead, line)) for line in _lines(text)]
            if len(found) > _MOST:
                return None
    return found


_MOST = 60
"""Commands that are made of one input."""


def _words(text: str) -> list[str]:
    return [_unquoted(word) for word in _WORD.findall(text)]


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(_unquoted(line.strip()) for line in _END.split(text) if line.strip()))


def _unquoted(text: str) -> str:
    return _QUOTING.sub("", text)


_WORD = re.compile(r"(?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s'\"\\\0])+", re.DOTALL)
_END = re.compile(r"[\n\0]")
_QUOTING = re.compile(r"['\"]|\\(?=.)", re.DOTALL)


def _replacing(words: Sequence[Word], instead: str, line: str) -> tuple[Word, ...]:
    return tuple(
        constant(word.value.replace(instead, line)) if word.value is not None and instead in word.value else word
        for word in words
    )
