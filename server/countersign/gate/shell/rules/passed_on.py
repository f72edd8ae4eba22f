"""Deny and ask rules for a command that a program of no table may run: what its words could start (RULES.md S7).

The tables know some hundred programs that run others; there are more. Where a rule forbids or asks for a command, and
only a mode or bypass would allow one whose program is unknown or runs things in ways of its own, that asks if the rule
matches its words from any of them on (``graftcp curl …``, ``watchman-make --run 'curl …'``), or a line that it is fed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.patterns import CommandPattern
from countersign.gate.rules.rule_set import RuleSet, evidence
from countersign.gate.shell.programs.rows_wrappers import INTERPRETERS, SHELLS, WRAPPERS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.wire.verdicts import Evidence

_MOST = 12
"""Words from each of which on a command may begin, and lines that are looked at."""
_LONGEST = 100
"""Words of one such command that are compared with the rules."""
_LOOKED_INTO = frozenset({*WRAPPERS, *INTERPRETERS, *SHELLS, ".", "source"})
"""Programs of which it is known which of their words run; the words behind a script are its own."""


def passed_on(case: AnalyzedCommand, rules: RuleSet, agent: str) -> Evidence | None:
    """Return a deny or ask rule that matches what this command may run."""
    for index, (name, known, layer) in enumerate(zip(case.names, case.known, case.layers, strict=True)):
        closed = known.program is not None and known.program.closed
        if known.git is not None or (known.program is not None and not closed):
            continue
        if name in _LOOKED_INTO or "/" in layer.words[0].prefix:
            continue
        values = [word.value if word.value is not None else word.shape for word in layer.words]
        fed = case.step.fed if closed and index == len(case.names) - 1 else ()
        for words in _beginnings(values, fed):
            for listed in ("deny", "ask"):
                for rule in case.candidates(words, rules, agent).get(listed, ()):
                    if isinstance(rule.specifier, CommandPattern) and rule.specifier.touches(words):
                        return evidence(rule, f"`{rule.text}` could match what `{name}` runs")
    return None


def _beginnings(values: Sequence[str], fed: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for index in range(1, min(len(values), _MOST + 1)):
        value = values[index]
        yield tuple(values[index : index + _LONGEST])
        if value.startswith("-") and "=" in value:
            value = value.partition("=")[2]
            yield (value, *values[index + 1 : index + _LONGEST])
        if re.search(r"\s", value):
            yield tuple(value.split(maxsplit=_LONGEST)[:_LONGEST])
    for line in [line for text in fed for line in text.splitlines()[:_MOST]][:_MOST]:
        words = line.split(maxsplit=_LONGEST)[:_LONGEST]
        yield from (tuple(words[index:]) for index in range(min(len(words), _MOST)))
