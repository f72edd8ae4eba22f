"""Deny and ask rules that name options by letters (``Bash(rm -rf:*)``), with the same letters spelled otherwise.

``rm -fr`` and ``rm -r -f`` do what ``rm -rf`` does. Whether letters behind a dash are options at all depends on the
program, so such a rule asks and does not deny.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from countersign.gate.patterns import WILD, CommandPattern
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet

CLUSTER = re.compile(r"-[A-Za-z0-9]+")
"""Short options that share a dash."""


def letters_of(words: Sequence[str]) -> frozenset[str]:
    """The letters of all short options among these words."""
    return frozenset(letter for word in words[1:] if CLUSTER.fullmatch(word) for letter in word[1:])


def naming_clusters(rules: RuleSet) -> Sequence[tuple[ListName, Rule]]:
    """The deny and ask rules that end in such options."""
    return rules.derived((naming_clusters,), lambda: tuple(_naming_clusters(rules)))


def _naming_clusters(rules: RuleSet) -> Iterator[tuple[ListName, Rule]]:
    listed: ListName
    for listed in ("deny", "ask"):
        for rule in rules.commands_of(listed, None, ""):
            pattern = rule.specifier
            if isinstance(pattern, CommandPattern) and _tail(pattern):
                yield listed, rule


def first_spelled_otherwise(commands: Iterable[Sequence[str]], rules: RuleSet, agent: str) -> Rule | None:
    """The first rule of which a command has the words in front of such options, and their letters anywhere behind."""
    by_front = rules.derived((first_spelled_otherwise,), lambda: _by_front(rules))
    found: list[tuple[int, Rule]] = []
    for words in commands if by_front else ():
        for at, fronts in by_front.items():
            named = fronts.get(_front(words, at), ())
            given = letters_of(_options_behind(words, at)) if named else frozenset[str]()
            found += [(place, rule) for place, rule, letters in named if given >= letters and rule.serves(agent)][:1]
    return min(found, key=itemgetter(0))[1] if found else None


_Fronts = Mapping[tuple[str, ...], Sequence[tuple[int, Rule, frozenset[str]]]]


def _by_front(rules: RuleSet) -> Mapping[int, _Fronts]:
    """These rules with their letters, in order, by how many words stand in front of these and by the words."""
    found: dict[int, dict[tuple[str, ...], list[tuple[int, Rule, frozenset[str]]]]] = {}
    for place, (_, rule) in enumerate(naming_clusters(rules)):
        pattern = rule.specifier
        assert isinstance(pattern, CommandPattern)
        words = pattern.loose_words
        at = len(words) - _tail(pattern)
        same = found.setdefault(at, {}).setdefault(_front(words, at), [])
        same.append((place, rule, letters_of(words[at - 1 :])))
    return found


def _front(words: Sequence[str], at: int) -> tuple[str, ...]:
    return (words[0].rpartition("/")[2], *words[1:at]) if words else ()


def _options_behind(words: Sequence[str], at: int) -> Sequence[str]:
    behind = words[at - 1 :]
    return behind[: behind.index("--")] if "--" in behind else behind


def _tail(pattern: CommandPattern) -> int:
    """How many options by letters a pattern ends in; 0 where it holds a wildcard or nothing in front of them."""
    words = pattern.loose_words
    if not pattern.prefix or any(WILD in word for word in words):
        return 0
    count = 0
    while count < len(words) - 1 and CLUSTER.fullmatch(words[-1 - count]):
        count += 1
    return count
