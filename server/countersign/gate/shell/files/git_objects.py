"""Where a repository keeps its objects: outside the workspace they are no part of it (docs/gate.md "Outside the
workspace").

The file `alternates` makes git show what another repository on this machine holds. The objects of a linked worktree and
of a submodule are its own wherever they lie (``git_folders.py``).
"""

from __future__ import annotations

import os
from itertools import pairwise

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
        if disk.combined(_names_packs_elsewhere, store):
            return True
        others = _alternates(store, paths)
        if others is None:
            return True
        waiting += others
    return False


def _names_packs_elsewhere(store: str) -> bool:
    """Whether an index over several packs names one in another folder, or that is not known (`gitformat-pack`)."""
    if disk.names_in(f"{store}/pack/multi-pack-index.d"):
        return True  # not read here; git takes these where it does not take the one file
    data = disk.beginning(f"{store}/pack/multi-pack-index", _MOST_INDEXED + 1)
    if data is None:
        return False
    if len(data) > _MOST_INDEXED or data[:4] != b"MIDX" or len(data) < _HEAD:
        return True
    table = [data[at : at + _ENTRY] for at in range(_HEAD, _HEAD + _ENTRY * (data[6] + 1), _ENTRY)]
    chunks = [(entry[:4], int.from_bytes(entry[4:], "big")) for entry in table]
    named = [data[start:end] for (name, start), (_, end) in pairwise(chunks) if name == b"PNAM"]
    return len(named) != 1 or b"/" in named[0]


_HEAD, _ENTRY = 12, 12
_MOST_INDEXED = 64 << 20


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
