"""Which path rules might match something below a folder, without asking every rule.

A pattern's head is its leading literal segments. It can match below a folder only if its head lies below the folder
(found in a sorted list), or if the folder lies below its head (found by each of the folder's ancestors).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from countersign.gate.patterns import PathPattern, Root, fold
from countersign.gate.rules.rule import Rule

Head = tuple[str, ...]
Place = Sequence[str] | Literal["holds", "apart"]
"""A folder relative to a root: its segments below the root; ``holds`` if the root lies below it; else ``apart``."""


@dataclass(slots=True)
class Reach:
    """Path rules of one tool and list by where their heads are."""

    whole: list[Rule]
    roots: dict[Root, tuple[list[Head], dict[Head, list[Rule]]]]

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.whole, self.roots = [], {}
        heads: dict[Root, dict[Head, list[Rule]]] = {}
        for rule in rules:
            if not isinstance(rule.specifier, PathPattern) or rule.specifier.root == "anywhere":
                self.whole.append(rule)
                continue
            for variant in rule.specifier.variants:
                heads.setdefault(rule.specifier.root, {}).setdefault(_head(variant), []).append(rule)
        for root, by_head in heads.items():
            self.roots[root] = (sorted(by_head), by_head)

    def rules(self, places: Mapping[Root, Place]) -> Iterator[Rule]:
        """The rules that might match below the folder that lies at these places."""
        yield from self.whole
        for root, (heads, by_head) in self.roots.items():
            place = places.get(root, "apart")
            if place == "apart":
                continue
            if place == "holds":
                for head in heads:
                    yield from by_head[head]
                continue
            folder = tuple(fold(segment) for segment in place)
            start = bisect_left(heads, folder)
            while start < len(heads) and heads[start][: len(folder)] == folder:
                yield from by_head[heads[start]]
                start += 1
            for length in range(len(folder)):
                for rule in by_head.get(folder[:length], ()):
                    if isinstance(rule.specifier, PathPattern) and rule.specifier.may_touch_below(place):
                        yield rule


def _head(segments: Sequence[str]) -> Head:
    head: list[str] = []
    for segment in segments:
        if any(char in segment for char in "*?[\\"):
            break
        head.append(fold(segment))
    return tuple(head)
