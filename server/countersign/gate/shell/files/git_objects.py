"""Where a repository keeps its objects: outside the workspace they are no part of it (docs/gate.md "Outside the
workspace").

The file `alternates` makes git show what another repository on this machine holds. The objects of a linked worktree and
of a submodule are its own wherever they lie (``git_folders.py``).
"""

from __future__ import annotations

import os

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_links import store_holds_link

_MOST_STORES = 20
_MOST_BYTES = 10_000
"""Stores of objects that are followed, and bytes of a list of them that are read."""


def objects_lie_elsewhere(store: str, repository: str, paths: PathJudge) -> bool:
    """Whether git may take objects from a place outside the workspace and the folder of the repository itself, or it
    is not known from where. ``store``: a resolved folder."""
    waiting, seen = [store], set[str]()
    while waiting:
        store = waiting.pop()
        if store in seen:
            continue
        seen.add(store)
        if len(seen) > _MOST_STORES or not _is_inside(store, repository, paths) or store_holds_link(store):
            return True
        others = _alternates(store, paths)
        if others is None:
            return True
        waiting += others
    return False


def _is_inside(store: str, repository: str, paths: PathJudge) -> bool:
    return paths.inside_workspace(store, cwd="/") or store.startswith(f"{repository}/")


def _alternates(store: str, paths: PathJudge) -> list[str] | None:
    """The other stores that this one names (`gitrepository-layout`), None where they are not known or a link lies on
    the way to one."""
    text = disk.beginning(f"{store}/info/alternates", _MOST_BYTES + 1) or b""
    if len(text) > _MOST_BYTES or b"\0" in text:
        return None
    lines = [os.fsdecode(line) for line in text.split(b"\n") if line and not line.startswith(b"#")]
    if any(line.startswith('"') for line in lines):
        return None  # quoted as in C
    named = [os.path.normpath(os.path.join(store, line)) for line in lines]
    found = [paths.resolve(os.path.join(store, line), cwd="/") for line in lines]
    straight = all(
        there.unclear is None and there.resolved == path and not there.between
        for there, path in zip(found, named, strict=True)
    )
    return named if straight else None
