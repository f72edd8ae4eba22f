"""Files that make a folder a repository of git, or that git obeys in one that has no `.git` (docs/gate.md P4).

Git takes any folder with a file `HEAD` and folders `objects` and `refs` for a repository, and runs programs that its
`config` names as soon as somebody, or a person's editor or prompt, asks for the state of it. None of these names is
remarkable by itself, so the one that no repository can do without asks, and in a repository what git obeys.
"""

from __future__ import annotations

from countersign.gate.paths.resolve import Resolved
from countersign.gate.paths.roots import segments_of
from countersign.gate.patterns import folded_segments
from countersign.gate.probes import disk

HEAD = "a file of this name can make its folder a repository, whose settings name programs that git runs"
OBEYED = "git runs hooks and programs named there"
_SETTINGS = frozenset({"config", "config.worktree", "commondir"})
_PARTS = ("HEAD", "objects", "refs")
_MOST_HOOKS = 16
"""Folders called ``hooks`` on one path that are looked at; with more it counts as obeyed."""


def repository_reason(resolved: Resolved) -> str | None:
    """Why writing this path may decide what git runs in a folder that has no `.git`, or None."""
    for spelling in resolved.spellings():
        segments = segments_of(spelling)
        folded = folded_segments(segments)
        if not segments:
            continue
        if folded[-1] == "head" and resolved.kind != "folder":
            return HEAD
        if folded[-1] in _SETTINGS and _is_repository(segments[:-1]):
            return OBEYED
        if "hooks" in folded:
            hooks = [index for index, segment in enumerate(folded) if segment == "hooks"]
            if len(hooks) > _MOST_HOOKS or any(_is_repository(segments[:index]) for index in hooks):
                return OBEYED
    return None


def _is_repository(folder: tuple[str, ...]) -> bool:
    path = "/" + "/".join(folder)
    return all(disk.is_there(f"{path.rstrip('/')}/{part}") for part in _PARTS)
