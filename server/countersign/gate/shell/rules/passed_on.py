"""Deny and ask rules for a command that a program of no table may run: what its words could start (docs/gate.md S7).

The tables know some hundred programs that run others; there are more. Where a rule forbids or asks for a command, and
only a mode, bypass or a rule that names no program would allow one whose program is unknown or runs things in ways of
its own, that asks if the rule matches a command in its words or input (``graftcp curl …``, ``watchman-make --run
'cd a; curl …'``). A plug-in of a program that the tables know is unknown, too (``kubectl node-shell x -- curl …``).
Of a program that the tables know, the settings count that they call code (``mvn -Dexec.executable=curl``), and of every
command the variables that it passes on (``CC=curl make``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from countersign.gate.patterns import CommandPattern
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import RuleSet, evidence
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.effects.operand_code import RUNNING_NAMES, package_program
from countersign.gate.shell.effects.plug_ins import plug_in
from countersign.gate.shell.effects.unwrap import could_run, program
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.languages.git import READ_HERE, UNKNOWN_SUBCOMMAND
from countersign.gate.shell.programs.other_names import as_words
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, WRAPPERS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import any_rule
from countersign.gate.shell.rules.option_clusters import naming_clusters
from countersign.gate.shell.rules.possible_commands import names_in, possible_commands
from countersign.gate.shell.rules.rough_rules import rules_for_words
from countersign.gate.shell.syntax.rough_scan import pieces
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import is_own_name
from countersign.wire.verdicts import Evidence

_MOST = 12
"""Places in a setting where a command may begin."""
_LONGEST = 100
"""Words of one such command that are compared with the rules."""
_MOST_READ = 400
"""Words of such commands together; each may hold all of those behind it. Behind more, any rule may match."""
_MOST_VALUES = 20
"""Values of the text's own variables that one word is replaced by."""
_LOOKED_INTO = frozenset({*WRAPPERS, *INTERPRETERS, *SHELLS, ".", "source"})
"""Programs of which it is known which of their words run; the words behind a script are its own."""

_SETTING = re.compile(r"(?:--?)?[A-Za-z_][\w.-]*=")
_IN_A_SETTING = re.compile(r"[=!]+")
_HOLDS_OPTIONS = re.compile(r"(?i)(?:opts?|options?|flags|args|parameters|config|db)$")
"""How variables are called that hold options for a program."""
_IN_OPTIONS = re.compile(r"[=!('\"|;&]+\s*|\bshell\s+")
"""Where a command may begin in these."""


def passed_on(analyzed: AnalyzedCommand, rules: RuleSet, agent: str) -> Evidence | None:
    """Return a deny or ask rule that matches what this command may run."""
    for name, words in _started(analyzed):
        for listed in ("deny", "ask"):
            for rule in analyzed.candidates(words, rules, agent).get(listed, ()):
                if isinstance(rule.specifier, CommandPattern) and rule.specifier.touches(words):
                    return evidence(rule, f"`{rule.text}` could match what `{name}` runs")
    for text in _given(analyzed):
        candidates = analyzed.candidates(names_in(text.values, text.stdin_texts), rules, agent)
        by_letters = (rule for _, rule in naming_clusters(rules) if rule.serves(agent))
        for rule in dict.fromkeys((*candidates.get("deny", ()), *candidates.get("ask", ()), *by_letters)):
            pattern = rule.specifier
            if isinstance(pattern, CommandPattern) and any(
                words is None or pattern.touches(words)
                for words in possible_commands(pattern, text.values, text.stdin_texts, own_language=text.own_language)
            ):
                return evidence(rule, f"`{rule.text}` could match what `{text.name}` runs")
        for ruled in itertools.islice(_of_known_programs(text, rules, agent), 1):
            return ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what `{text.name}` runs"})
    return None


def _of_known_programs(text: _Given, rules: RuleSet, agent: str) -> Iterator[Evidence]:
    """Yield rules for what a program that the tables know would do if it began with one of these words
    (``graftcp git -c alias.p=push p``)."""
    words = tuple([constant(value) for value in text.values])
    commands = itertools.chain(
        (words[at:] for at in range(1, len(words)) if program(words[at].value or "") in _KNOWN),
        *(_known_inside(value) for value in (*text.values[1:], *text.stdin_texts) if " " in value),
    )
    read = 0
    for number, command in enumerate(commands):
        many = number > _MOST or read > _MOST_READ
        deny, ask = rules_for_words(text.name, command, rules, agent)
        found = deny or ask or (any_rule(rules, agent) if many else None)
        read += len(command)
        if found is not None:
            yield found


_KNOWN = frozenset({*RUNNING_NAMES, *READ_HERE})


@lru_cache(maxsize=8)
def _known_inside(text: str) -> tuple[tuple[Word, ...], ...]:
    """What in a text could be a command of these programs. Many commands may get the same text as their input."""
    return tuple(command for command in pieces(text) if program(command[0].value or "") in _KNOWN)


class _Given(NamedTuple):
    """What a program is given of which it is not known how it reads it: its words and its input."""

    name: str
    values: Sequence[str]
    stdin_texts: Sequence[str]
    own_language: bool


def _started(analyzed: AnalyzedCommand) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what this command may run, each with the name of who runs it."""
    command = analyzed.step.command
    for assignment in (*command.assignments, *command.declared):
        if not is_own_name(assignment.name):
            value = assignment.plain
            yield from ((assignment.name, words) for words in _first_words(value or ""))
            if value and _HOLDS_OPTIONS.search(assignment.name):
                ends = [found.end() for found in itertools.islice(_IN_OPTIONS.finditer(value), _MOST)]
                yield from ((assignment.name, words) for end in ends for words in _first_words(value[end:]))
    for name, known, layer in zip(analyzed.names, analyzed.known, analyzed.layers, strict=True):
        # Code in a language is no list of commands, and of its words only the language says what runs.
        if name not in INTERPRETERS:
            yield from ((name, words) for words in _in_settings(known, layer.words))
        # A program of a package that no table knows.
        operand = package_program(name, layer.words, known.arguments)
        if operand:
            yield name, tuple(word.value if word.value is not None else word.shape for word in operand)


def _given(analyzed: AnalyzedCommand) -> Iterator[_Given]:
    for index, (name, known, layer) in enumerate(zip(analyzed.names, analyzed.known, analyzed.layers, strict=True)):
        closed = known.program is not None and known.program.closed
        if known.git is not None and known.git.program is not UNKNOWN_SUBCOMMAND:
            continue  # but `git xargs curl` runs `git-xargs`
        stdin_texts = analyzed.step.input.texts if index == len(analyzed.names) - 1 else ()
        if known.git is None and known.program is not None and not closed:
            if stdin_texts and (known.program.reads_input or any(use.kind == "code" for use in known.uses)):
                yield _Given(name, (name,), stdin_texts, own_language=False)  # `make -f -`
            others = package_program(name, layer.words, known.arguments) or plug_in(name, layer.words, known.arguments)
            if others and not could_run(program(others[0].value or ""), others):
                for values in _values(analyzed, others):
                    yield _Given(name, values, (), own_language=False)
            continue
        own = analyzed.own_words(index) if name in WRAPPERS else ()
        if own and len(own) < len(layer.words) - 1:
            for values in _values(analyzed, layer.words[: len(own) + 1]):
                yield _Given(name, values, (), own_language=False)  # a value of an option may be run as well
        if name in _LOOKED_INTO or _is_own_script(layer.words[0].prefix):
            continue
        for values in _values(analyzed, layer.words):
            yield _Given(name, values, stdin_texts, closed and known.git is None)


def _is_own_script(path: str) -> bool:
    """Whether a program is named by a path in the workspace where no package installs its programs."""
    return "/" in path and path[0] != "/" and not _INSTALLED.search(path)


_INSTALLED = re.compile(r"(?:^|/)(?:\.bin|bin|\.\.)/")


def _values(analyzed: AnalyzedCommand, words: Sequence[Word]) -> Iterator[list[str]]:
    """The words as texts, then with the values that the text's own variables and patterns give to them."""
    values = [word.value if word.value is not None else word.shape for word in words]
    yield values
    # A program may run under a name that says what it does (`git-push`).
    spelled = [part for value in values for part in as_words((value,))]
    if spelled != values:
        yield spelled
    meant = {index: _meant(analyzed, word) for index, word in enumerate(words) if word.value is None}
    for at in range(max(map(len, meant.values()), default=0)):
        spelled = [meant[index][at : at + 1] if index in meant else [value] for index, value in enumerate(values)]
        yield [part for parts in spelled for text in parts for part in (text.split() or [text])]


def _meant(analyzed: AnalyzedCommand, word: Word) -> list[str]:
    """The values that one word may have, as far as the text tells."""
    meant = meaning(word, analyzed.facts, "~", None)
    found = [*meant.values, *meant.patterns]
    for text in meant.patterns[:_MOST]:
        if text.startswith("/"):
            found += disk.matching(text, "/", _MOST_VALUES) or ()
    return found[:_MOST_VALUES]


def _in_settings(known: ProgramReading, words: Sequence[Word]) -> Iterator[tuple[str, ...]]:
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
