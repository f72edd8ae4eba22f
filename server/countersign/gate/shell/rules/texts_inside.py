"""Texts that a command runs in turn: those that a shell reads, those fed to it, and commands that escapes run;
and whether it runs them more than once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.effects.wrapper_readers import peculiar
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import Coverage
from countersign.gate.shell.syntax.words import constant

_ONCE = frozenset("builtin command eval exec time timeout".split()).union(SHELLS)
"""Programs that run a text no more than once; any other may be like ``find`` and ``xargs``."""


def may_run_again(step: Step) -> bool:
    """Whether a command may run the same text several times."""
    return any(program(layer.words[0].value or "") not in _ONCE for layer in step.unwrapped.layers)


def runs_in_turn(step: Step) -> bool:
    """Whether a command runs several others one after the other, as ``find`` does for each file."""
    layers = pairwise(step.unwrapped.layers[1:])
    return any(before.words[-len(after.words) :] != after.words for before, after in layers)


def texts_with_coverage(
    analyzed: AnalyzedCommand, covered: Coverage | None, coverage: Coverage
) -> Iterator[tuple[str, Coverage | None]]:
    """Yield each text with what covers it: only a rule that says the whole to the letter covers what a shell reads;
    where a rule covers an escape, it names what that runs."""
    whole = covered or (coverage if coverage.whole else None)
    texts = dict.fromkeys(_shell_texts(analyzed), whole)
    for text in _fed_languages(analyzed):
        texts.setdefault(text, None)
    for use in analyzed.uses:
        if use.text:
            texts.setdefault(use.text, covered or (coverage if coverage.evidence is not None else None))
    yield from texts.items()


def _shell_texts(analyzed: AnalyzedCommand) -> tuple[str, ...]:
    fed = analyzed.step.unwrapped.reads_stdin and not feeds_an_interpreter(analyzed)
    return (*analyzed.step.unwrapped.texts, *(analyzed.step.input.texts if fed else ()))


def texts_inside(analyzed: AnalyzedCommand) -> Iterator[str]:
    """Yield each text, whatever covers it."""
    if analyzed.uses or analyzed.step.unwrapped.texts or analyzed.step.input.texts:
        yield from dict.fromkeys(
            (*_shell_texts(analyzed), *_fed_languages(analyzed), *[use.text for use in analyzed.uses if use.text])
        )


def _fed_languages(analyzed: AnalyzedCommand) -> Iterator[str]:
    """Commands for a shell in what is fed to a program with a language of its own (``psql <<< '\\! x'``)."""
    for name in analyzed.names if analyzed.step.input.texts else ():
        for text in analyzed.step.input.texts:
            for inner in peculiar(name, (constant(name), constant(text))) or ():
                if inner.text:
                    yield " ".join(word.value or "" for word in inner.words)


def feeds_an_interpreter(analyzed: AnalyzedCommand) -> bool:
    """Whether what comes in on the input is code in another language than a shell's."""
    return bool(analyzed.names) and analyzed.names[-1] in INTERPRETERS
