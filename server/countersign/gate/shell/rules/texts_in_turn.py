"""The texts that a command hands to a shell, or to a program with a language of its own, and what covers each."""

from __future__ import annotations

from collections.abc import Iterator

from countersign.gate.shell.effects.wrapper_readers import peculiar
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.judge_one import feeds_an_interpreter
from countersign.gate.shell.rules.match import Coverage
from countersign.gate.shell.syntax.words import constant


def texts_in_turn(
    case: AnalyzedCommand, covered: Coverage | None, coverage: Coverage
) -> Iterator[tuple[str, Coverage | None]]:
    """Texts that the command runs in turn, each with what covers it: only a rule that says the whole to the letter
    covers what a shell reads; where a rule covers an escape, it names what that runs."""
    unwrapped = case.step.unwrapped
    whole = covered or (coverage if coverage.whole else None)
    shell = unwrapped.fed and not feeds_an_interpreter(case)
    texts = dict.fromkeys((*unwrapped.texts, *(case.step.fed if shell else ())), whole)
    for text in _fed_languages(case):
        texts.setdefault(text, None)
    for use in case.uses:
        if use.text:
            texts.setdefault(use.text, covered or (coverage if coverage.evidence is not None else None))
    yield from texts.items()


def _fed_languages(case: AnalyzedCommand) -> Iterator[str]:
    """Commands for a shell in what is fed to a program with a language of its own (``psql <<< '\\! x'``)."""
    for name in case.names if case.step.fed else ():
        for text in case.step.fed:
            for inner in peculiar(name, (constant(name), constant(text))) or ():
                if inner.text:
                    yield " ".join(word.value or "" for word in inner.words)
