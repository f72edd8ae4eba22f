"""Symlinks that a command of a text brings to places where later commands of the text touch files.

A copy that keeps links, a move of a folder that holds links, an archive and a repository can put a symlink where
nothing, or something else, stands while the text is judged. What is copied or moved is looked at on disk, so its links
are known; what an archive or a repository holds is not, and where that may land is a fact of a program's row
(``Program.brings``). ``paths/path_judge.py`` takes all of it into account for later paths (``PathJudge.expect_links``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.git_contents import checked_out
from countersign.gate.shell.files.git_repository import work_tree
from countersign.gate.shell.files.word_paths import MAX_MATCHES, moved_places
from countersign.gate.shell.files.word_values import join, literal, matching_paths, meaning, plain_path
from countersign.gate.shell.flow.control_flow import ANY
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.programs.row import Brings
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.moved_paths import COPIERS, arranges, entries, moved_paths
from countersign.gate.shell.rules.unsettled_paths import Kept
from countersign.gate.shell.syntax.tree import Word

_MOST_BELOW = 5_000
"""Names below a folder that are looked at; with more, any of them may be a link."""

_MOST_BROUGHT = 2_000
"""Places where the links of one source may lie that are looked at one by one."""


class BroughtLinks(NamedTuple):
    """Absolute paths. ``links`` are symlinks once the command has run; below each of ``filled`` any name may be one,
    and so may each of ``replaced`` itself and any name below it. ``made`` (folded) may be folders by then. What stands
    at and below ``moved`` (folded) may be another than before, and so at and below ``carried`` (folded), where all
    links are among ``links``; ``gone`` (folded) may no longer be there. Of ``made``,
    ``files`` (folded) are plain files, and ``grown`` may be folders."""

    links: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    grown: frozenset[str] = frozenset()

    def with_those(self, others: BroughtLinks) -> BroughtLinks:
        return BroughtLinks(
            *(mine if theirs <= mine else mine | theirs for mine, theirs in zip(self, others, strict=True))
        )

    @property
    def leads(self) -> bool:
        """Whether a path may lead elsewhere by them."""
        return bool(self.links or self.filled or self.replaced or self.moved or self.carried)


NO_LINKS = BroughtLinks()


class Earlier(NamedTuple):
    """What the commands of a text did that may run before others which stand in front of them, in loops and beside each
    other: what each command ``brought``, by its text and its pipeline, which command ``made`` what, and the names that
    were ``given`` to what a pattern matched. ``again``: each command may run again behind any other; ``looped``: the
    text itself has the loop, not a program that runs others."""

    brought: frozenset[tuple[str, int, BroughtLinks]]
    made: frozenset[Kept]
    given: frozenset[str]
    again: bool
    looped: bool

    def before(self, source: str, beside: int, brought: BroughtLinks) -> BroughtLinks:
        """What may have been brought before a command runs, with ``brought``, which certainly was."""
        for by, pipeline, links in self.brought:
            together = ANY in (beside, pipeline) or (beside == pipeline and beside != 0)
            if self.again or (together and by != source):
                brought = brought.with_those(links)
        return brought


def brought_links(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None, before: BroughtLinks
) -> BroughtLinks:
    """What this command brings, as the disk is now; ``before``: what those did that ran earlier."""
    changed = before.gone | {fold(path.rstrip("/")) for path in before.filled | before.replaced}
    moved, carried, gone = moved_paths(context, analyzed, places, changed, before.files - before.grown)
    links: set[str] = set()
    filled: set[str] = set()
    replaced: set[str] = set()
    made: set[str] = set()
    ends_of_files: set[str] = set()
    for index, (layer, known) in enumerate(zip(analyzed.layers, analyzed.known, strict=True)):
        file_uses = analyzed.file_uses(index)
        targets = [file_use for file_use in file_uses if file_use.operation == "write"]
        brings = _brings(known, layer.words)
        if brings == "nothing" and not targets:
            continue
        there = moved_places(places, layer.carried.folders, context.paths)
        if brings == "below" or (brings == "tree" and _checked_out_by(analyzed, index) is None):
            # The top of a work tree stays a folder.
            filled |= _reached(context, analyzed, index, brings, there)
        elif brings != "nothing":
            replaced |= _reached(context, analyzed, index, brings, there)
        if not targets:
            continue
        copies = known.copies or analyzed.names[index] in COPIERS
        sources = [file_use for file_use in file_uses if file_use.operation in ("read", "move") and not file_use.runs]
        climbing = _makes_climbing_links(known)
        for place in there if there is not None else (context.start,):
            if climbing:
                links.update(link for each in targets for link in _laid(context, analyzed, each, place))
            ends = {end for file_use in targets for end in _ends(context, analyzed, file_use, place)}
            made.update(fold(folder) for end in ends for folder in _not_yet(end))
            if sources and arranges(analyzed, index) and not (moved or carried):
                ends_of_files.update(map(fold, ends))
            if brings == "nothing" and not copies:
                filled.update(
                    end
                    for file_use in targets
                    if file_use.unknown_names
                    for end in _ends(context, analyzed, file_use, place)
                )
            for source in sources:
                if not (copies or _may_hold_links(context, source, place)):
                    continue
                found = _links_of(context, analyzed, source, place)
                too_many = found is not None and len(found) * len(ends) > _MOST_BROUGHT
                for end in ends:
                    if found is None or too_many:
                        filled.update((end, os.path.dirname(end)) if copies or too_many else ())
                    else:
                        links.update(os.path.normpath(f"{end}/{path}") for path in found)
    if not (links or filled or replaced or made or moved or carried or gone):
        return NO_LINKS
    files = made & ends_of_files
    return BroughtLinks(
        *map(frozenset, (links, filled, replaced, made, moved, carried, gone, files, made - ends_of_files))
    )


def _makes_climbing_links(known: ProgramReading) -> bool:
    """Whether a command makes links whose targets lead upwards: what such a link means depends on where it lies, and a
    later command of the text may move it, or go through it."""
    row = known.program
    if row is None or not (row.operands == "link" or (row.links and known.arguments.may_have(*row.links))):
        return False
    return any(word.value is None or ".." in word.value.split("/") for _, word in known.arguments.operands)


def _laid(context: JudgingContext, analyzed: AnalyzedCommand, file_use: FileUse, place: str) -> Iterator[str]:
    """Where a link lies that is made at this target, or in it if that is a folder."""
    for end in _ends(context, analyzed, file_use, place) if file_use.into is not None else ():
        if not disk.is_folder(end):
            yield end
        if file_use.into:
            yield f"{end}/{file_use.into}"


def _brings(known: ProgramReading, words: Sequence[Word]) -> Brings:
    """Where this form of a program's command may put links that are not known."""
    row = known.program
    if row is None or row.brings == "nothing":
        return "nothing"
    found = known.arguments
    if row.brings == "fetched":
        return "named" if any(":" in word.prefix for word in words[1:]) else "nothing"
    names = {option.name for option in found.options}
    if found.holes or any(_is_short_for(name, row.anyway) for name in names):
        return row.brings
    start = known.git.start if known.git is not None else 1
    first = next((word.value for index, word in found.operands if index == start), None)
    if "*" in row.stays or not row.stays.isdisjoint(names) or first in row.stays:
        return "nothing"
    alone = bool(row.stays_alone) and not found.operands and bool(names) and names <= row.stays_alone
    return "nothing" if alone else row.brings


def _is_short_for(name: str, options: Collection[str]) -> bool:
    return name in options or (len(name) > 2 and any(option.startswith(name) for option in options))


def _checked_out_by(analyzed: AnalyzedCommand, index: int) -> tuple[Word, ...] | None:
    """The words by which a layer names what git takes out of another commit; None where it names nothing."""
    git = analyzed.known[index].git
    return checked_out(analyzed.layers[index].words, git) if git is not None else None


def _reached(
    context: JudgingContext, analyzed: AnalyzedCommand, index: int, brings: Brings, places: Sequence[str] | None
) -> set[str]:
    """The paths which such a command may make links, with all that lies below them, or below which it may make some."""
    if places is None:
        return {"/"}
    git, specs = analyzed.known[index].git, _checked_out_by(analyzed, index)
    found: set[str] = set()
    for place in places:
        touched = [
            file_use for file_use in analyzed.file_uses(index) if file_use.operation in ("write", "move", "delete")
        ]
        if specs is not None:
            touched = [FileUse("write", word) for word in specs]
        elif brings == "here":
            found.update(context.paths.resolve(".", cwd=place).spellings())
        elif brings == "tree":
            found.add(_top(context, git, place))
        ends = {end for file_use in touched for end in _ends(context, analyzed, file_use, place)}
        found |= ends
        if brings == "here":
            found.update(os.path.dirname(end) for end in ends)
    return found


def _top(context: JudgingContext, git: Git | None, place: str) -> str:
    """The work tree of the repository that a command works in; the root where it is not known."""
    if git is None or git.before.has("--git-dir", "--work-tree", "--bare"):
        return "/"
    for word in git.folders:
        if word.value is None:
            return "/"
        place = join(place, literal(word), context.paths.home)
    return work_tree(place, context.paths) or "/"


def _not_yet(path: str) -> Iterator[str]:
    """A path and the folders above it that are none now."""
    names = [path, *(path[:index] for index in range(len(path) - 1, 0, -1) if path[index] == "/")]
    # Everything above a folder is a folder, so the first one is found by growing steps, and then by halves.
    low, high, step = -1, 0, 1
    while high < len(names) and not disk.is_folder(names[high]):
        low, high, step = high, high + step, 2 * step
    high = min(high, len(names))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if disk.is_folder(names[middle]) else (middle, high)
    yield from names[:high]


def _ends(context: JudgingContext, analyzed: AnalyzedCommand, file_use: FileUse, place: str) -> Iterator[str]:
    """The paths that a target may have, as far as the text tells: as they are spelled, and as the kernel finds them."""
    meant = meaning(file_use.word, analyzed.facts, context.paths.home, place)
    values = [*meant.values]
    for pattern in meant.patterns:
        matches = matching_paths(pattern, place, MAX_MATCHES, context.spent)
        if matches is None:
            yield "/"
        values += matches or (plain_path(pattern),)
    for value in values:
        if value:
            yield from dict.fromkeys(entries(context.paths, value, place))


def _may_hold_links(context: JudgingContext, source: FileUse, place: str) -> bool:
    """Whether it is a link or a folder, of a program of which it is not known that it copies."""
    if source.word.value is None:
        return False
    found = disk.path_stat(join(place, literal(source.word), context.paths.home))
    return not isinstance(found, int) and (found.kind == stat.S_IFLNK or (source.below and found.kind == stat.S_IFDIR))


def _links_of(context: JudgingContext, analyzed: AnalyzedCommand, source: FileUse, place: str) -> list[str] | None:
    """The links of a source by the paths that they may have below the target; None if they are not known."""
    meant = meaning(source.word, analyzed.facts, context.paths.home, place)
    if not meant.complete:
        return None
    paths = list(meant.values)
    for pattern in meant.patterns:
        matches = matching_paths(pattern, place, MAX_MATCHES, context.spent)
        if matches is None:
            return None
        paths += matches
    found: list[str] = []
    for path in paths:
        below = _links_below(context, path, place)
        if below is None:
            return None
        name = os.path.basename(path.rstrip("/"))
        fronts = dict.fromkeys(("", name, "" if path.startswith(("/", "~")) else path))
        found += [f"{front}/{link}" if front else link for link in below for front in fronts]
    context.spent.names += len(found)
    return found


def _links_below(context: JudgingContext, path: str, place: str) -> Sequence[str] | None:
    """The links in what stands at a path, itself as ``"."``; None if they are not known."""
    resolved = context.paths.resolve(path, cwd=place)
    if context.paths.expects_links(resolved) or context.paths.holds_expected_links(resolved):
        return None
    found = disk.path_stat(resolved.lexical)
    if isinstance(found, int):
        return ()
    itself = ["."] if found.kind == stat.S_IFLNK else []
    folder = resolved.resolved or resolved.lexical
    if not disk.is_folder(folder):
        return itself
    below = disk.unusual_below(folder, _MOST_BELOW)
    return None if below is None else [*itself, *[name for name, is_link in below if is_link]]


def moved_into(context: JudgingContext, places: Sequence[str] | None) -> Iterator[str]:
    """The folders where a command would run, of which one may be reached by a link that was brought."""
    for place in places or ():
        if place != context.start and context.paths.expects_links(context.paths.resolve(place, cwd="/"), exactly=True):
            yield place
