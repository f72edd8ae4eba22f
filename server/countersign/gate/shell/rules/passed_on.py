"""Deny and ask rules for a command that a program of no table may run: what its words could start (RULES.md S7).

The tables know some hundred programs that run others; there are more. Where a rule forbids or asks for a command, and
only a mode or bypass would allow one whose program is unknown or runs things in ways of its own, that asks if the rule
matches its words from any of them on (``graftcp curl …``, ``watchman-make --run 'curl …'``), or a line that it is fed.
Of a program that the tables know, the settings count that they call code (``mvn -Dexec.executable=curl``), and of every
command the variables that it passes on (``CC=curl make``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.patterns import CommandPattern
from countersign.gate.rules.rule_set import RuleSet, evidence
from countersign.gate.shell.effects.escape_use import Known
from countersign.gate.shell.programs.rows_wrappers import INTERPRETERS, SHELLS, WRAPPERS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import is_own_name
from countersign.wire.verdicts import Evidence

_MOST = 12
"""Words from each of which on a command may begin, and lines that are looked at."""
_LONGEST = 100
"""Words of one such command that are compared with the rules."""
_LOOKED_INTO = frozenset({*WRAPPERS, *INTERPRETERS, *SHELLS, ".", "source"})
"""Programs of which it is known which of their words run; the words behind a script are its own."""


_SETTING = re.compile(r"(?:--?)?[A-Za-z_][\w.-]*=")
_IN_A_SETTING = re.compile(r"[=!]+")


def passed_on(case: AnalyzedCommand, rules: RuleSet, agent: str) -> Evidence | None:
    """Return a deny or ask rule that matches what this command may run."""
    for name, words in _started(case):
        for listed in ("deny", "ask"):
            for rule in case.candidates(words, rules, agent).get(listed, ()):
                if isinstance(rule.specifier, CommandPattern) and rule.specifier.touches(words):
                    return evidence(rule, f"`{rule.text}` could match what `{name}` runs")
    return None


def _started(case: AnalyzedCommand) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what this command may run, each with the name of who runs it."""
    command = case.step.command
    for assignment in (*command.assignments, *command.declared):
        if not is_own_name(assignment.name):
            value = assignment.plain
            yield from ((assignment.name, words) for words in _first_words(value or ""))
    for index, (name, known, layer) in enumerate(zip(case.names, case.known, case.layers, strict=True)):
        # Code in a language is no list of commands, and of its words only the language says what runs.
        if name not in INTERPRETERS:
            yield from ((name, words) for words in _in_settings(known, layer.words))
        closed = known.program is not None and known.program.closed
        if known.git is not None or (known.program is not None and not closed):
            continue
        if name in _LOOKED_INTO or "/" in layer.words[0].prefix:
            continue
        values = [word.value if word.value is not None else word.shape for word in layer.words]
        fed = case.step.fed if closed and index == len(case.names) - 1 else ()
        yield from ((name, words) for words in _beginnings(values, fed))


def _in_settings(known: Known, words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """What the values of settings name: of options that run or load something, and of ``NAME=value`` where the tables
    do not say what the program makes of it."""
    texts = [text for use in known.uses if use.kind in ("runs", "code") for names in use.names for text in names]
    if known.program is None or known.program.closed or known.uses:
        texts += [word.value for word in words[1:] if word.value is not None and _SETTING.match(word.value)]
    for text in dict.fromkeys(texts[:_LONGEST]):
        for found in (None, *list(_IN_A_SETTING.finditer(text))[:_MOST]):
            yield from _first_words(text[found.end() :] if found is not None else text)


def _first_words(text: str) -> Iterator[tuple[str, ...]]:
    """The command that a value holds: its words, quoted or not, or the first part of a list."""
    words = tuple(part.strip("'\"") for part in text.split(maxsplit=_LONGEST)[:_LONGEST])
    if words and words[0]:
        yield words
        first = words[0].partition(",")[0]
        if first and first != words[0]:
            yield (first,)


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
