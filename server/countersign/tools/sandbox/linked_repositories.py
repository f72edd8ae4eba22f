"""What the sandbox shows of the repositories of linked worktrees and submodules, which lie outside of its folders.

The gate says which these are (``repository_at``): git linked them, and no rule forbids reading them. The folder is
shown read-only. So that commits work, what a commit changes is writable: objects, refs, their logs, and the folder of
this work tree alone, but for what says where settings and hooks are. Other work trees stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from countersign.gate import PathJudge, Repository, repository_at
from countersign.tools.sandbox.boundary import SandboxRoot
from countersign.tools.sandbox.git_folders import blocking_git_locks, blocking_links_out

_SHARED = ("objects", "refs", "logs")
"""What a commit changes in the folder that all work trees share."""


def blocking_repositories(folders: Sequence[str], judge: PathJudge) -> tuple[Repository, ...]:
    """The repositories of those of these resolved folders that are work trees and have them elsewhere."""
    found = (repository_at(folder, judge) for folder in folders)
    elsewhere = (each for each in found if isinstance(each, Repository) and not _is_within(each.shared, folders))
    # A folder of the sandbox that lies in it could not be shown as what it is.
    return tuple(each for each in elsewhere if not any(_is_within(folder, (each.shared,)) for folder in folders))


def blocking_writable(repositories: Iterable[Repository], judge: PathJudge) -> tuple[SandboxRoot, ...]:
    """What a command may change of them; nothing of one that a rule for editing is about, or that lies on another
    filesystem than its work tree, where no sandbox could be made for both."""
    roots: dict[str, SandboxRoot] = {}
    for each in repositories:
        locks = blocking_git_locks(each.own)
        kept = [] if each.shared == each.own else [os.path.join(each.shared, name) for name in _SHARED]
        paths = [path for path in (each.own, *kept) if os.path.isdir(path)]
        if any(os.path.realpath(path) != path or not _same_filesystem(path, each.folder) for path in paths):
            continue
        if any(_is_limited(path, judge) for path in paths):
            continue
        for path in paths:
            roots[path] = SandboxRoot(path, of_git=True, protected=tuple(blocking_links_out(path)))
        roots[each.own] = SandboxRoot(
            each.own,
            read_only=tuple(path for path in locks.read_only if _is_within(path, (each.own,))),
            missing_folders=locks.missing_folders,
            missing_files=locks.missing_files,
            protected=roots[each.own].protected,
            of_git=True,
            closed=locks.closed,
            open=locks.open,
        )
    return tuple(roots.values())


def _is_limited(path: str, judge: PathJudge) -> bool:
    """Whether a rule denies writing there or asks first."""
    found = [judge.judge_write(place, cwd="/") for place in (path, os.path.join(path, "x"))]
    return any(each.deny is not None or each.ask is not None for each in found)


def _same_filesystem(path: str, other: str) -> bool:
    return os.stat(path).st_dev == os.stat(other).st_dev


def _is_within(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
