"""Deny and ask rules whose own pattern leads through a symlink, said again of the place where the link leads (P1).

``Read(./keys/**)`` with ``keys`` a link to ``private`` forbids ``private/k`` as well: a rule names the file, not one
way to it. Only the leading literal segments of a pattern are followed; a wildcard in front of a link is not.
"""

from __future__ import annotations

import dataclasses
import stat
from collections.abc import Iterable, Iterator

from . import sight
from .pattern import PathPattern, escape_path, is_glob
from .resolve import resolve
from .roots import Folder, segments_of
from .rule import Rule


def where_links_lead(rules: Iterable[Rule], workspace: Folder, home: Folder) -> Iterator[Rule]:
    """For each rule whose pattern passes a symlink, the same rule at the link's target, counted from `/`."""
    bases = {"home": home.spellings[-1], "root": ""}
    links: dict[str, bool | None] = {}
    for rule in rules:
        pattern = rule.specifier
        if not isinstance(pattern, PathPattern):
            continue
        base = bases.get(pattern.root, workspace.spellings[-1])
        found = [_followed(variant, base, links) for variant in pattern.variants]
        moved = tuple(segments for segments in found if segments is not None)
        if moved:
            yield dataclasses.replace(rule, specifier=PathPattern(pattern.text, "root", moved, pattern.folder))


def _followed(variant: tuple[str, ...], base: str, links: dict[str, bool | None]) -> tuple[str, ...] | None:
    """The segments of one spelling of a pattern from `/`, its head as links lead; None if no link stands in it.
    ``links`` keeps which places were links, None for those where nothing stands."""
    # A name that counts at any depth is looked for at the top only.
    body = variant[1:] if variant[0] == "**" else variant
    here, passes = base, False
    for number, segment in enumerate(body):
        if is_glob(segment) or "\\" in segment:
            body, rest = body[:number], body[number:]
            break
        here = f"{here}/{segment}"
        if not passes:
            link = links[here] if here in links else links.setdefault(here, _is_link(here))
            if link is None:
                return None
            passes = link
    else:
        rest = ()
    if not passes:
        return None
    found = resolve("/".join((base, *body)), cwd="/", home="/")
    return None if found.resolved is None else (*map(escape_path, segments_of(found.resolved)), *rest)


def _is_link(path: str) -> bool | None:
    found = sight.standing(path)
    return None if isinstance(found, int) else found.kind == stat.S_IFLNK
