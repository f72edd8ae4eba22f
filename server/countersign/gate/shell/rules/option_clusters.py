"""Deny and ask rules that name options by letters (``Bash(rm -rf:*)``), with the same letters spelled otherwise.

``rm -fr`` and ``rm -r -f`` do what ``rm -rf`` does. Whether letters behind a dash are options at all depends on the
program, so such a rule asks and does not deny.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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


def spelled_otherwise(pattern: CommandPattern, words: Sequence[str]) -> bool:
    """Whether a command has the words in front of such options, and their letters anywhere behind these."""
    at = len(pattern.loose_words) - _tail(pattern)
    behind = words[at - 1 :]
    if "--" in behind:
        behind = behind[: behind.index("--")]
    first = words[0].rpartition("/")[2]
    same = (first, *words[1:at]) == (pattern.loose_words[0].rpartition("/")[2], *pattern.loose_words[1:at])
    return same and letters_of(behind) >= letters_of(pattern.loose_words[at - 1 :])


def _tail(pattern: CommandPattern) -> int:
    """How many options by letters a pattern ends in; 0 where it holds a wildcard or nothing in front of them."""
    words = pattern.loose_words
    if not pattern.prefix or any(WILD in word for word in words):
        return 0
    count = 0
    while count < len(words) - 1 and CLUSTER.fullmatch(words[-1 - count]):
        count += 1
    return count
