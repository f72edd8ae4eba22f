"""Where a repository keeps its objects: outside the workspace they are no part of it (docs/gate.md "Outside the
workspace").

A link in `.git/objects`, or the file `alternates`, makes git show what another repository on this machine holds. The
objects of a linked worktree and of a submodule are its own wherever they lie (``git_folders.py``).
"""

from __future__ import annotations

import os

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

_MOST_STORES = 20
_MOST_BYTES = 10_000
"""Stores of objects that are followed, and bytes of a list of them that are read."""


def objects_lie_elsewhere(store: str, repository: str, paths: PathJudge) -> bool:
    """Whether git may take objects from a place outside the workspace and the folder of the repository itself, or it
    is not known from where."""
    waiting, seen = [store], set[str]()
    while waiting:
        store = waiting.pop()
        if store in seen:
            continue
        seen.add(store)
        if len(seen) > _MOST_STORES or _leads_out(store, repository, paths):
            return True
        others = _alternates(store, paths)
        if others is None:
            return True
        waiting += others
    return False


def _leads_out(store: str, repository: str, paths: PathJudge) -> bool:
    links = [f"{folder}/{name}" for folder in (store, f"{store}/pack") for name in disk.links_in(folder)]
    return not all(_is_inside(path, repository, paths) for path in (store, *links))


def _is_inside(path: str, repository: str, paths: PathJudge) -> bool:
    found = paths.resolve(path, cwd="/")
    if found.resolved is None:
        return False
    return paths.inside_workspace(path, cwd="/") or found.resolved.startswith(f"{repository}/")


def _alternates(store: str, paths: PathJudge) -> list[str] | None:
    """The other stores that this one names (`gitrepository-layout`), None where they are not known."""
    there = paths.resolve(store, cwd="/")
    if there.resolved is None or there.unclear is not None:
        return None
    if isinstance(disk.link_target(f"{store}/info"), str) or isinstance(
        disk.link_target(f"{store}/info/alternates"), str
    ):
        return None
    text = disk.beginning(f"{store}/info/alternates", _MOST_BYTES + 1) or b""
    if len(text) > _MOST_BYTES or b"\0" in text:
        return None
    lines = [os.fsdecode(line) for line in text.split(b"\n") if line and not line.startswith(b"#")]
    if any(line.startswith('"') for line in lines):
        return None  # quoted as in C
    # They count from where the store really lies, and behind a link `..` leads elsewhere than the text says.
    named = [os.path.join(there.resolved, line) for line in lines]
    return None if any(_climbs(path, paths) for path in named) else [os.path.normpath(path) for path in named]


def _climbs(path: str, paths: PathJudge) -> bool:
    """Whether this path means another place than its text, as ``a/../b`` does where `a` is a link."""
    found = paths.resolve(path, cwd="/")
    return found.resolved is None or found.unclear is not None or (".." in path.split("/") and bool(found.between))
