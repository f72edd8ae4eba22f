"""The folders where a command may run: the moves before it, followed on the disk as it is now.

bash goes by the text: ``cd ..`` leads to the folder above by name. Where there is no such folder it goes as the kernel
does, through links, and so does ``cd -P``; where the two ways lead to different folders, the place counts as not known.
A ``cd`` into a folder that is there, before which
nothing in the text can have removed one, counts as sure to succeed where the text that runs ends if it does not after
all. Elsewhere both ends count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_repository import work_tree
from countersign.gate.shell.files.word_values import join, kernel_path, literal
from countersign.gate.shell.flow.moves import MAX_PLACES, Move, Places
from countersign.gate.shell.syntax.tree import Word


class Standpoint(NamedTuple):
    """Where a shell is, where it was before (``cd -``), and where ``popd`` leads, the last first; None where that is
    not known."""

    folder: str | None
    before: str | None = None
    pushed: tuple[str | None, ...] = ()


def folders(places: Places, start: str, judge: PathJudge, entered: set[Word] | None = None) -> list[str] | None:
    """The absolute folders where a command may run, None if they are not known.

    ``entered`` is given where a move into a folder that is there counts as sure to succeed: the word of each such move
    is added, and what runs must see to it that nothing follows one that fails (``printing/guarded_moves.py``). Without
    it, both ends of every move count.
    """
    if places is None:
        return None
    found: set[str] = set()
    for place in places:
        for each in _reached(place, start, judge, entered):
            if each.folder is None:
                return None
            found.add(each.folder)
    return sorted(found) if len(found) <= MAX_PLACES else None


def _reached(place: Iterable[Move], start: str, judge: PathJudge, entered: set[Word] | None) -> set[Standpoint]:
    states = {Standpoint(start)}
    for move in place:
        states = {after for state in states for after in _after(state, move, judge, entered)}
        if len(states) > MAX_PLACES:
            return {Standpoint(None)}
    return states


def _after(state: Standpoint, move: Move, judge: PathJudge, entered: set[Word] | None) -> Iterator[Standpoint]:
    """Where one move may lead from one standpoint."""
    here = state.folder
    if move.way == "lost":
        yield Standpoint(None)
    elif move.way == "back":
        yield Standpoint(state.before, here, state.pushed)
    elif move.way == "popd":
        yield Standpoint(state.pushed[0] if state.pushed else None, here, state.pushed[1:])
    elif move.way == "top":
        # Where git finds no repository, the shell stays.
        yield Standpoint(None if here is None else work_tree(here, judge), here, state.pushed)
        yield state
        yield Standpoint(here, here, state.pushed)
    elif move.word is not None:
        path = literal(move.word)
        there = _leads_to(here, path, judge, physical=move.way == "physical")
        if move.end != "done":
            if entered is not None and there is not None and _can_enter(path, there):
                entered.add(move.word)
            else:
                yield state
        if move.end != "failed":
            pushed = (here, *state.pushed) if move.way == "pushd" else state.pushed
            yield Standpoint(there, here, pushed)


def _leads_to(here: str | None, path: str, judge: PathJudge, *, physical: bool) -> str | None:
    """The folder that a move leads to by name; None if it may be another by the kernel's way, or is not known."""
    if here is None and not path.startswith(("/", "~/")):
        return None
    by_name = join(here or "/", path, judge.home)
    if not physical and ".." not in path.split("/"):
        return by_name
    by_kernel = kernel_path(here or "/", path, judge)
    return by_name if by_kernel == (by_name if physical else judge.resolve(by_name, cwd="/").resolved) else None


def _can_enter(path: str, there: str) -> bool:
    """Whether ``cd path``, which leads there by name, is sure to succeed: `a/..` needs `a` as well."""
    return _NO_WAY_BACK.fullmatch(path) is not None and disk.is_folder(there) and disk.can_run(there)


_NO_WAY_BACK = re.compile(r"(?:\.\.?/+)*(?:\.\.?|(?:(?!\.\.(?:/|\Z))[^/]*(?:/+|\Z))*)")
