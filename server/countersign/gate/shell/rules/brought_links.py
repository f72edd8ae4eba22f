"""Symlinks that a command of a text brings to places where later commands of the text touch files.

A copy that keeps links, a move of a folder that holds links, and an archive can put a symlink where nothing stands
while the text is judged. What is copied or moved is looked at on disk, so its links are known; what an archive or a
repository holds is not. ``paths/path_judge.py`` takes both into account for later paths (``PathJudge.expect_links``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from countersign.gate.probes import disk
from countersign.gate.shell.files.file_use import Touch
from countersign.gate.shell.files.word_paths import MAX_MATCHES, moved_places
from countersign.gate.shell.files.word_values import join, literal, meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import Circumstances

_MOST_BELOW = 5_000
"""Names below a folder that are looked at; with more, any of them may be a link."""


class BroughtLinks(NamedTuple):
    """Absolute paths. ``links`` are symlinks once the command has run; below each of ``filled`` any name may be one."""

    links: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()

    def with_those(self, others: BroughtLinks) -> BroughtLinks:
        return BroughtLinks(self.links | others.links, self.filled | others.filled)


NO_LINKS = BroughtLinks()


def brought_links(around: Circumstances, case: AnalyzedCommand, places: Sequence[str] | None) -> BroughtLinks:
    """What this command brings, as the disk is now."""
    links: set[str] = set()
    filled: set[str] = set()
    for index, (layer, known) in enumerate(zip(case.layers, case.known, strict=True)):
        touches = case.touches(index)
        targets = [touch for touch in touches if touch.deed == "write"]
        if not targets:
            continue
        there = moved_places(places, layer.carried.folders, around.paths)
        copies = known.copies or case.names[index] == "rsync"
        sources = [touch for touch in touches if touch.deed in ("read", "move") and not touch.runs]
        fetches = _fetches(case, index)
        for place in there if there is not None else (around.start,):
            ends = {end for touch in targets for end in _ends(around, case, touch, place)}
            if fetches:
                filled |= ends
            elif not copies:
                filled.update(end for touch in targets if touch.spills for end in _ends(around, case, touch, place))
            for source in sources:
                if not (copies or _may_hold_links(around, source, place)):
                    continue
                found = _links_of(around, case, source, place)
                for end in ends:
                    if found is None:
                        filled.update((end, os.path.dirname(end)) if copies else ())
                    else:
                        links.update(os.path.normpath(f"{end}/{path}") for path in found)
    return BroughtLinks(frozenset(links), frozenset(filled)) if links or filled else NO_LINKS


_FETCHING = frozenset({"gh", "glab", "hg", "svn", "wget", "scp", "sftp"})
_FETCHING_OF_GIT = frozenset({"clone", "submodule", "subtree", "worktree"})


def _fetches(case: AnalyzedCommand, index: int) -> bool:
    """Whether what the command writes comes from elsewhere, links among it."""
    git = case.known[index].git
    if git is not None:
        return git.subcommand in _FETCHING_OF_GIT
    name = case.names[index]
    return name in _FETCHING or (name == "rsync" and any(":" in word.prefix for word in case.layers[index].words[1:]))


def _ends(around: Circumstances, case: AnalyzedCommand, touch: Touch, place: str) -> Iterator[str]:
    """The paths that a target may have, as far as the text tells."""
    for value in meaning(touch.word, case.facts, around.paths.home, place).values:
        if value:
            yield around.paths.resolve(value, cwd=place).lexical


def _may_hold_links(around: Circumstances, source: Touch, place: str) -> bool:
    """Whether it is a link or a folder, of a program of which it is not known that it copies."""
    if source.word.value is None:
        return False
    found = disk.standing(join(place, literal(source.word), around.paths.home))
    return not isinstance(found, int) and (found.kind == stat.S_IFLNK or (source.below and found.kind == stat.S_IFDIR))


def _links_of(around: Circumstances, case: AnalyzedCommand, source: Touch, place: str) -> list[str] | None:
    """The links of a source by the paths that they may have below the target; None if they are not known."""
    meant = meaning(source.word, case.facts, around.paths.home, place)
    if not meant.complete:
        return None
    paths = list(meant.values)
    for pattern in meant.patterns:
        matches = disk.matching(pattern, place, MAX_MATCHES)
        if matches is None:
            return None
        paths += matches
    found: list[str] = []
    for path in paths:
        below = _links_below(around, path, place)
        if below is None:
            return None
        name = os.path.basename(path.rstrip("/"))
        fronts = dict.fromkeys(("", name, "" if path.startswith(("/", "~")) else path))
        found += (f"{front}/{link}" if front else link for link in below for front in fronts)
    return found


def _links_below(around: Circumstances, path: str, place: str) -> Sequence[str] | None:
    """The links in what stands at a path, itself as ``"."``; None if they are not known."""
    resolved = around.paths.resolve(path, cwd=place)
    if around.paths.expects_links(resolved) or around.paths.holds_expected_links(resolved):
        return None
    found = disk.standing(resolved.lexical)
    if isinstance(found, int):
        return ()
    itself = ["."] if found.kind == stat.S_IFLNK else []
    folder = resolved.resolved or resolved.lexical
    if not disk.is_folder(folder):
        return itself
    below = disk.unusual_below(folder, _MOST_BELOW)
    return None if below is None else [*itself, *(name for name, is_link in below if is_link)]


def moved_into(around: Circumstances, places: Sequence[str] | None) -> Iterator[str]:
    """The folders where a command would run, of which one may be reached by a link that was brought."""
    for place in places or ():
        if place != around.start and around.paths.expects_links(around.paths.resolve(place, cwd="/"), exactly=True):
            yield place
