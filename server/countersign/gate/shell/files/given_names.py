"""What is worth a look among the names that a listing prints as the disk is now (docs/gate.md "Commands that only
read"): ``found_names.py`` for what find gives, and the like for git and rg.

A name stands here as whoever reads the listing opens it, and whether that is a name of an ordinary file is not judged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.files.found_names import PLAIN, Find, Unusual, found_names, is_special, may_be_secret
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.files.git_index import index_names
from countersign.gate.shell.files.listed_files import lists_index, rg_operands
from countersign.gate.shell.files.listed_names import MOST_INDEX, MOST_NAMES, MOST_TRACKED
from countersign.gate.shell.files.word_values import join
from countersign.gate.shell.languages.find_tests import find_tests
from countersign.gate.shell.variables.listings import FILTERS, LISTING, Listing


class Given(NamedTuple):
    """A name as it is opened. ``broken``: it stands for lines that together may be another name."""

    name: str
    broken: bool = False


class GivenNames(NamedTuple):
    """What is worth a look of the names that a listing prints. ``begins``: each begins with a folder that the listing's
    words name. ``nul`` stands between them, not a newline. ``quotes``: strange ones are printed in quotes."""

    names: tuple[Given, ...]
    begins: bool
    nul: bool
    quotes: bool = False


def given_names(listing: Listing, place: str, judge: PathJudge) -> GivenNames | None:
    """Return that for a listing which is made in this folder; None where it is not known, or too much."""
    first, *filters = listing
    if not _stands_alone(".", place, judge):
        return None
    reader = _READERS.get(LISTING.get(first[0], ""))
    found = reader(first, place, judge) if reader is not None else None
    if found is None:
        return None
    return found if all(_keeps_lines(words, nul=found.nul) for words in filters) else None


def printed_roots(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the folders that names in this listing begin with, one of which may be empty; None for
    a listing that is not read here."""
    match LISTING.get(words[0]):
        case "found":
            return find_roots(words)
        case "searched":
            operands = rg_operands(words)
            return None if operands is None else tuple(operands) or ("",)
        case "tracked":
            return ("",)
        case _:
            return None


def find_roots(words: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that find's words name."""
    tests = find_tests(words[1:])
    return tests.roots if tests is not None else ("",)


def _keeps_lines(words: Sequence[str], *, nul: bool) -> bool:
    """Whether a filter takes the same as a line as the listing does (``sort -z``, ``grep -z``)."""
    takes_nul = any(re.fullmatch(r"-[a-zA-Z]*z[a-zA-Z]*", word) for word in words[1:])
    return FILTERS.get(words[0]) in {"order", "ends", "lines"} and takes_nul == nul


def of_find(words: Sequence[str], place: str, judge: PathJudge, *, enters_links: bool = False) -> GivenNames | None:
    """The same for the words of find, in which ``RUNS`` stands for each command that it runs."""
    tests = find_tests(words[1:])
    if tests is None or ("-print" in words and "-print0" in words) or not _stands_alone(".", place, judge):
        return None
    names: list[Given] = []
    roots = _different(tests.roots)
    if len(roots) > _MOST_ROOTS:
        return None
    for root in roots:
        if not _stands_alone(root, place, judge):
            return None
        below = _look_below(root, tuple(words[1:]), place, judge)._replace(enters_links=enters_links)
        found = found_names(below) if disk.is_there(below.root) else None
        if found is None:
            return None
        names += _below(root, found)
    return GivenNames(tuple(names), begins=True, nul="-print0" in words)


def _different(roots: Sequence[str]) -> list[str]:
    """One spelling of each folder. Where ``..`` leads from, a link may say."""
    return list({root if ".." in root.split("/") else os.path.normpath(root): root for root in roots}.values())


_MOST_ROOTS = 8
"""Folders of one listing, each of which is looked through."""


def _stands_alone(path: str, place: str, judge: PathJudge) -> bool:
    """Whether no link is on the way to a path, so that it is where its name says."""
    found = judge.resolve(f"./{path}" if path.startswith("~") else path, cwd=place)
    return ".." not in path.split("/") and found.resolved == found.lexical


def _find(words: Sequence[str], place: str, judge: PathJudge) -> GivenNames | None:
    return of_find(words, place, judge)


def _look_below(root: str, words: tuple[str, ...], place: str, judge: PathJudge) -> Find:
    """What to look for below a folder: besides, our own places."""
    whole = join(place, f"./{root}" if root.startswith("~") else root, judge.home)
    resolved = judge.resolve(whole, cwd="/")
    fronts = {f"{fold(spelling)}/" for spelling in resolved.spellings()}
    own = {
        f"{fold(whole)}/{each[len(front) :]}"
        for each in judge.own_places()
        for front in fronts
        if each.startswith(front)
    }
    return Find(whole, root, words, MOST_NAMES, tuple(sorted(own)))


def _below(root: str, found: Sequence[Unusual]) -> Iterator[Given]:
    for each in found:
        yield Given(f"{root.rstrip('/')}/{each.path}" if each.path else root, each.broken)


# --- git -------------------------------------------------------------------------------------------------------------


def _git(words: Sequence[str], place: str, judge: PathJudge) -> GivenNames | None:
    """What the index holds: of ``git ls-files`` below this folder, of ``git diff --name-only`` in all of it."""
    listed, repository = lists_index(words), repository_above(place, judge)
    if listed is None or repository is None or (listed == "all" and repository.folder != place):
        return None
    names = disk.combined(_tracked, (repository.own, repository.folder, place))
    if names is None:
        return None
    return GivenNames(tuple(map(Given, names)), begins=False, nul="-z" in words, quotes="-z" not in words)


def _tracked(asked: tuple[str, str, str]) -> tuple[str, ...] | None:
    own, top, place = asked
    data = disk.beginning(f"{own}/index", MOST_INDEX + 1)
    names = index_names(data, MOST_TRACKED) if data is not None and len(data) <= MOST_INDEX else None
    if names is None:
        return None
    found: list[str] = []
    folders: dict[str, bool] = {}
    for path, _ in names:
        name = os.path.relpath(f"{top}/{path}", place)
        odd = not may_begin_an_operand(name) or not all(
            PLAIN.fullmatch(part) and not may_be_secret(part) for part in name.split("/")
        )
        if odd or _is_linked(f"{top}/{path}", top, folders) or is_special(f"{top}/{path}", path):
            found.append(name)
    return tuple(found) if not any(map(_holds_broken, folders)) else None


def _is_linked(path: str, top: str, folders: dict[str, bool]) -> bool:
    """Whether a path is a link, or one of the folders on the way to it is."""
    folder = os.path.dirname(path)
    if folder not in folders:
        folders[folder] = folder != top and _is_linked(folder, top, folders)
    return folders[folder] or disk.is_link(path)


def _holds_broken(folder: str) -> bool:
    return any("\n" in name for name in disk.names_in(folder))


# --- rg -------------------------------------------------------------------------------------------------------------


def _rg(words: Sequence[str], place: str, judge: PathJudge) -> GivenNames | None:
    """What lies below the searched folders, hidden files as well: an ignore file may bring them back."""
    operands = rg_operands(words)
    if operands is None:
        return None
    names: list[Given] = []
    roots = _different(operands or (".",))
    if len(roots) > _MOST_ROOTS:
        return None
    for root in roots:
        if not _stands_alone(root, place, judge):
            return None
        below = _look_below(root, (root,), place, judge)
        found = found_names(below) if disk.is_there(below.root) else None
        if found is None:
            return None
        names += _below(root, found)
    if not operands:
        names = [each._replace(name=each.name.removeprefix("./")) for each in names]
        names += [Given(name) for name in disk.names_in(place) if not may_begin_an_operand(name)]
    nul = any(re.fullmatch(r"-[a-zA-Z]*0[a-zA-Z]*|--null", word) for word in words)
    return GivenNames(tuple(names), begins=bool(operands), nul=nul)


def may_begin_an_operand(name: str) -> bool:
    """Whether no program takes a name for an option, an assignment or a list of names."""
    return _OPERAND.match(name) is not None


_OPERAND = re.compile(r"(?![A-Za-z_]\w*=)[\w.]")

_READERS = {"found": _find, "tracked": _git, "searched": _rg}
