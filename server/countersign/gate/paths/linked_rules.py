"""Deny and ask rules whose own pattern leads through a symlink, restated for the place where the link leads (P1).

``Read(./keys/**)`` with ``keys`` a link to ``private`` forbids ``private/k`` as well: a rule names the file, not one
way to it. Only the leading literal segments of a pattern, its head, are followed; a wildcard before a link is not.

The heads of all rules form one tree of segments for each anchor, made once. A decision walks it only where something
stands, so that its cost grows with what is there and not with the number of rules.
"""

from __future__ import annotations

import dataclasses
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from countersign.gate.paths.resolve import resolve
from countersign.gate.paths.roots import Folder, segments_of
from countersign.gate.patterns import PathPattern, Root, escape_path, is_glob
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import Rule

MOST_SINGLE = 16
"""Up to so many names of one folder are probed one by one; for more, the folder is listed once."""


@dataclass(slots=True)
class _Node:
    """One segment of heads. ``ends`` are the rules whose head ends here: (position, rule, the pattern's spelling)."""

    children: dict[str, _Node] = field(default_factory=dict)
    ends: list[tuple[int, Rule, tuple[str, ...]]] = field(default_factory=list)

    def below(self) -> Iterator[tuple[int, Rule, tuple[str, ...]]]:
        """The rules whose head ends here or deeper."""
        yield from self.ends
        for child in self.children.values():
            yield from child.below()


Heads = Mapping[Root, _Node]


def heads_of(rules: Iterable[Rule]) -> Heads:
    """Gather the heads of the rules' patterns."""
    found: dict[Root, _Node] = {}
    for position, rule in enumerate(rules):
        pattern = rule.specifier
        if not isinstance(pattern, PathPattern):
            continue
        for variant in pattern.variants:
            head, _ = _head_and_rest(variant)
            if head:
                node = found.setdefault(pattern.root, _Node())
                for segment in head:
                    node = node.children.setdefault(segment, _Node())
                node.ends.append((position, rule, variant))
    return found


def where_links_lead(heads: Heads, workspace: Folder, home: Folder) -> Iterator[Rule]:
    """For each rule whose pattern passes a symlink, the same rule at the link's target, counted from `/`."""
    bases = {"home": home.spellings[-1], "root": ""}
    moved: dict[int, tuple[Rule, list[tuple[str, ...]]]] = {}
    for root, node in heads.items():
        base = bases.get(root, workspace.spellings[-1])
        for position, rule, variant in _behind_links(node, base):
            segments = _followed(variant, base)
            if segments is not None:
                moved.setdefault(position, (rule, []))[1].append(segments)
    for _, (rule, variants) in sorted(moved.items()):
        pattern = rule.specifier
        assert isinstance(pattern, PathPattern)
        yield dataclasses.replace(rule, specifier=PathPattern(pattern.text, "root", tuple(variants), pattern.folder))


def _behind_links(node: _Node, folder: str) -> Iterator[tuple[int, Rule, tuple[str, ...]]]:
    for name in _names_to_probe(node, folder):
        path, child = f"{folder}/{name}", node.children[name]
        found = disk.path_stat(path)
        if isinstance(found, int):
            continue
        if found.kind == stat.S_IFLNK:
            yield from child.below()
        elif child.children:
            yield from _behind_links(child, path)


def _names_to_probe(node: _Node, folder: str) -> Iterable[str]:
    """The segments below this node that may stand in the folder; all of them where it cannot be listed."""
    if len(node.children) <= MOST_SINGLE:
        return node.children
    there = disk.listing(folder or "/")
    return node.children if there is None else [name for name in there if name in node.children]


def _head_and_rest(variant: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The leading literal segments of one spelling of a pattern, and what comes after them."""
    # A name that counts at any depth is looked for at the top only.
    body = variant[1:] if variant[0] == "**" else variant
    for number, segment in enumerate(body):
        if is_glob(segment) or "\\" in segment:
            return body[:number], body[number:]
    return body, ()


def _followed(variant: tuple[str, ...], base: str) -> tuple[str, ...] | None:
    """The segments of one spelling of a pattern from `/`, its head as links lead."""
    head, rest = _head_and_rest(variant)
    found = resolve("/".join((base, *head)), cwd="/", home="/")
    return None if found.resolved is None else (*map(escape_path, segments_of(found.resolved)), *rest)
