"""Commits that git keeps for itself in files beside its refs: what was fetched, what a merge, a rebase or a pick that
stopped goes on with (`gitrepository-layout`, `gitrevisions`)."""

from __future__ import annotations

import re

from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import Repository

_STEPS = {
    "rebase-merge": (
        "amend", "autostash", "done", "git-rebase-todo", "git-rebase-todo.backup", "onto", "orig-head", "squash-onto",
        "stopped-sha", "update-refs",
    ),
    "rebase-apply": ("abort-safety", "autostash", "onto", "orig-head", "original-commit"),
    "sequencer": ("abort-safety", "done", "head", "todo"),
}  # fmt: skip
"""By folder the files that name the commits of what goes on in several steps."""

_HEAD = re.compile(r"[A-Z][A-Z_]*")
"""What git calls a file beside its refs that names commits."""
_NUMBER = re.compile(rb"^(?:[a-z-]+ +)?(?:-[cC] +)?([0-9a-f]{7,64})\b", re.MULTILINE)
_MOST_BYTES = 1 << 20
_MOST_COMMITS = 2_000
_MOST_TREES = 100


def commits_kept(repository: Repository) -> tuple[str, ...] | None:
    """Return the numbers that stand in such files, in those of all work trees; not each need name a commit. None where
    there are too many to look at."""
    trees = disk.names_in(f"{repository.shared}/worktrees")
    if len(trees) > _MOST_TREES:
        return None
    folders = (repository.own, repository.shared, *(f"{repository.shared}/worktrees/{tree}" for tree in trees))
    found: dict[str, None] = {}
    for folder in dict.fromkeys(folders):
        steps = (f"{folder}/{inner}/{name}" for inner, names in _STEPS.items() for name in names)
        heads = (f"{folder}/{name}" for name in disk.names_in(folder) if _HEAD.fullmatch(name))
        for file in (*heads, *steps):
            text = disk.beginning(file, _MOST_BYTES + 1) or b""
            if len(text) > _MOST_BYTES:
                return None
            found |= dict.fromkeys(number.decode() for number in _NUMBER.findall(text))
    return tuple(found) if len(found) <= _MOST_COMMITS else None
