"""The deny and ask rules that name a program, by what a command must hold for one of them to mean it.

INVARIANT (no rule is missed): ``NamedRules.candidates`` gives each rule that ``same_commands.py`` finds to mean the
command. It is an index and judges nothing: what it gives is compared word by word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from countersign.gate.patterns import WILD, CommandPattern
from countersign.gate.rules.rule_set import Rule, RuleSet
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.languages.git import AS_SUBCOMMAND
from countersign.gate.shell.programs.other_names import as_words, family
from countersign.gate.shell.programs.other_subcommands import with_first_name
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.syntax.words import constant


class Named(NamedTuple):
    """A deny or ask rule that names its program. ``words`` are the rule's, ``known`` what the tables make of them,
    ``name`` the program's without a folder, ``plain`` all words behind it that are no options."""

    rule: Rule
    pattern: CommandPattern
    words: tuple[str, ...]
    known: ProgramReading | None
    name: str
    plain: tuple[str, ...]


class Spelled:
    """A command's words: with its program's name ``apart`` from a subcommand that it stands for, and as it is
    ``written`` with the first of its subcommand's names in front; ``renamed`` where that says it otherwise. ``family``
    is the name under which rules for its program are kept."""

    __slots__ = ("_known", "apart", "family", "renamed", "written")

    def __init__(self, words: tuple[str, ...]) -> None:
        self.apart = as_words(words)
        self.family = family(base_name(self.apart[0]))
        self.written = with_first_name(self.family, self.apart)
        self.renamed = self.written is not words
        self._known: ProgramReading | None = None

    @property
    def known(self) -> ProgramReading:
        """What the tables know of it as it is written."""
        if self._known is None:
            self._known = look_up(program(self.written[0]), tuple(map(constant, self.written)))
        return self._known

    def names_of(self, word: str) -> tuple[str, ...]:
        """A word, and what it is called first if it is the subcommand."""
        return (word, *with_first_name(self.family, (self.apart[0], word))[1:])


def base_name(word: str) -> str:
    return word.rpartition("/")[2]


class NamedRules:
    """The rules of one family of programs, in their order.

    A command is meant by a rule only if it holds each word that the rule's way of meaning it compares. So a rule hangs
    under one word for each of the ways that are open to it, the rarest; under ``_always`` where a way compares none.
    """

    __slots__ = ("_always", "_behind", "_held", "_of_program", "_renamed", "all")

    def __init__(self, rules: Sequence[Named]) -> None:
        self.all = rules
        self._always: list[int] = []
        self._held: dict[str, list[int]] = {}
        self._behind: dict[str, list[int]] = {}
        self._of_program: dict[str, list[int]] = {}
        self._renamed: dict[tuple[str, str], dict[int, int]] = {}
        common = Counter(word for each in rules for word in set(each.words[1:]))

        def rarest(words: Collection[str]) -> str:
            return min(words, key=lambda word: (common[word], word))

        for place, each in enumerate(rules):
            for words in _compared(each):
                (self._held.setdefault(rarest(words), []) if words else self._always).append(place)
            if each.plain:
                self._behind.setdefault(rarest(each.plain), []).append(place)
            if each.known is not None:
                self._of_program.setdefault(program(each.words[0]), []).append(place)
            self._renamed.setdefault((each.name, each.pattern.loose_words[0]), {})[id(each.rule)] = place

    def candidates(self, command: Spelled, rules: RuleSet, agent: str) -> Iterable[Named]:
        """The rules that may mean this command of the family, in order."""
        apart, written = command.apart, command.written
        found = {*self._always}
        for word in written[1:]:
            if word in self._held:
                found.update(self._held[word])
        # A rule's words stand behind options only where there are some.
        if self._behind and any(word[:1] == "-" or "=" in word for word in apart[1:]):
            for each in apart[1:]:
                for word in command.names_of(each):
                    found.update(self._behind.get(word, ()))
        # Which words are a subcommand is the same for a rule and a command only if their program is.
        for name, places in self._of_program.items():
            if name != program(written[0]):
                found.update(places)
        for (name, first), renamed in self._renamed.items():
            if name != base_name(written[0]) or command.renamed:
                found.update(_matching((first, *written[1:]), renamed, rules, agent))
        return [self.all[place] for place in sorted(found)]


def _matching(words: tuple[str, ...], places: Mapping[int, int], rules: RuleSet, agent: str) -> Iterator[int]:
    """Where those of these rules stand that may match the words as they are, given by their identity."""
    by_list = rules.commands_by_list(words, agent)
    length = len(" ".join(words))
    for listed in ("deny", "ask"):
        for rule in by_list.get(listed, ()):
            pattern = rule.specifier
            if isinstance(pattern, CommandPattern) and pattern.least <= length and id(rule) in places:
                yield places[id(rule)]


def _compared(each: Named) -> Iterator[Collection[str]]:
    """The words of which a command holds all, for each way: those that it begins with, where the rule itself spells
    them otherwise; its subcommand and operands, where the same options make it the same command."""
    if each.words != each.pattern.loose_words:
        yield each.words[1:]
    if each.known is not None:
        operands = [word.value or "" for _, word in each.known.arguments.operands]
        git = each.known.git
        if git is None:
            _, start = find_program(program(each.words[0]), tuple(map(constant, each.words)))
            yield [*each.words[1:start], *operands]
        elif git.subcommand is not None:
            spelled_by_option = git.subcommand in AS_SUBCOMMAND.values()
            yield operands if spelled_by_option else [git.subcommand, *operands]


def by_family(rules: RuleSet) -> Mapping[str, NamedRules]:
    """All such rules, by the families of their programs."""
    return rules.derived((by_family,), lambda: _by_family(rules))


def _by_family(rules: RuleSet) -> Mapping[str, NamedRules]:
    found: dict[str, list[Named]] = {}
    for listed in ("deny", "ask"):
        for rule in rules.commands_of(listed, None, ""):
            pattern = rule.specifier
            if isinstance(pattern, CommandPattern) and pattern.loose_words and WILD not in pattern.loose_words[0]:
                said = Spelled(pattern.loose_words)
                words = said.written
                wild = any(WILD in word for word in words)
                known = None if wild else said.known
                plain = tuple([word for word in words[1:] if not word.startswith("-")])
                named = Named(rule, pattern, words, known, base_name(words[0]), plain)
                found.setdefault(said.family, []).append(named)
    return {name: NamedRules(named) for name, named in found.items()}
