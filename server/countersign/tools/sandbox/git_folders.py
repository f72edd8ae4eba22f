"""What of a git folder a command may not change: that from which git, run by anybody later, takes programs to run.

The rest of a git folder stays writable, so that add, commit, branch, rebase, stash and merge work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from countersign.settings.regular_file import read_regular

_LOCKED = ("config", "config.worktree", "commondir", "hooks")
_BACK = "gitdir"
"""By this the folder of a linked worktree names the `.git` file that leads to it, which the gate goes by."""
_INNER = ("modules", "worktrees")
"""Folders of further git folders, of submodules and of linked worktrees. A new one would have settings of whoever made
it, and `git submodule update` takes it for that of the submodule of its name."""
_HOOKS_PATH = re.compile(
    r"(?:^|\])[ \t]*hookspath[ \t]*=[ \t]*\"?([^\"\n]*[^\"\s])\"?[ \t\r]*$", re.IGNORECASE | re.MULTILINE
)
_MOST_CONFIG = 1 << 20
_MOST_BACK = 5000


@dataclass(frozen=True, slots=True)
class GitLocks:
    """Paths below one git folder: those that are read-only, and those that cannot be made."""

    read_only: tuple[str, ...]
    missing_folders: tuple[str, ...] = ()
    missing_files: tuple[tuple[str, str], ...] = ()
    closed: tuple[str, ...] = ()
    """Folders in which nothing new can be made."""
    open: tuple[str, ...] = ()
    """Those in closed ones that can be changed."""


_REPOSITORY = frozenset({"HEAD", "objects", "refs"})


def is_bare(names: Iterable[str]) -> bool:
    """Whether git takes a folder that holds these names for a repository, whatever its own name is. One that a command
    makes has settings of that command's, which git obeys wherever somebody works in there later."""
    return _REPOSITORY.issubset(names)


def obeyed_in(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names in a repository's folder that a command may not change."""
    return tuple(name for name in names if name in _LOCKED)


def locks_in_git(below: Sequence[str]) -> bool:
    """Whether a path of these segments below a `.git` folder is one that a command may not change."""
    if not below or below[0] in _LOCKED:
        return True
    return below[0] in _INNER and not {*_LOCKED, _BACK}.isdisjoint(below[1:])


def blocking_git_locks(folder: str) -> GitLocks:
    """What to lock of a git folder, of its submodules' and worktrees' folders too, as it is now."""
    read_only: list[str] = []
    missing_folders: list[str] = []
    missing_files: list[tuple[str, str]] = []
    closed: list[str] = []
    opened: list[str] = []
    for place in _git_folders(folder):
        if any(place.startswith(f"{other}/") for other in read_only):
            continue
        if _is_of_work_tree_elsewhere(place, folder):
            # git would take that work tree for removed and forget it (`git worktree prune`, `git gc`).
            read_only.append(place)
            continue
        if place != folder:
            opened.append(place)
        for name in _INNER:
            path = os.path.join(place, name)
            if os.path.isdir(path) and not os.path.islink(path):
                closed.append(path)
            elif not os.path.lexists(path):
                missing_folders.append(path)
        present = [
            os.path.join(place, name) for name in (*_LOCKED, _BACK) if os.path.lexists(os.path.join(place, name))
        ]
        read_only += present
        for name in _LOCKED:
            path = os.path.join(place, name)
            if path in present:
                continue
            if name == "hooks":
                missing_folders.append(path)
            elif name == "commondir":
                # With this text git goes on to find everything where it stands.
                missing_files.append((path, ".\n"))
            elif name == "config.worktree":
                missing_files.append((path, ""))
        read_only += _custom_hooks(place)
    return GitLocks(tuple(read_only), tuple(missing_folders), tuple(missing_files), tuple(closed), tuple(opened))


def blocking_links_out(folder: str) -> Iterator[str]:
    """The links in a git folder that lead out of it: git outside would write its logs, refs and messages there. The
    folders of loose objects are passed over: there are many, and git writes only whole objects there."""
    real = os.path.realpath(folder)
    for place, names, files in os.walk(folder):
        for name in (*names, *files):
            path = os.path.join(place, name)
            if os.path.islink(path) and not f"{os.path.realpath(path)}/".startswith(f"{real}/"):
                yield path
        if os.path.basename(place) == "objects":
            names[:] = [name for name in names if len(name) > 2]


def _is_of_work_tree_elsewhere(place: str, folder: str) -> bool:
    """Whether this is the folder of a linked worktree that does not lie beside this git folder."""
    if place == folder or os.path.basename(os.path.dirname(place)) != "worktrees":
        return False
    try:
        text = os.fsdecode(read_regular(os.path.join(place, _BACK), _MOST_BACK))
        named = os.path.realpath(os.path.join(place, text.rstrip("\r\n")))
    except (OSError, ValueError):
        return False
    return not named.startswith(f"{os.path.realpath(os.path.dirname(folder))}/")


def _git_folders(folder: str) -> Iterator[str]:
    """The folder itself, if git takes it for one, and those of its submodules and linked worktrees."""
    if os.path.lexists(os.path.join(folder, "HEAD")):
        yield folder
    for inner in _INNER:
        for path, names, files in os.walk(os.path.join(folder, inner)):
            if "HEAD" in files:
                yield path
                names[:] = [name for name in names if name in _INNER]


def _custom_hooks(place: str) -> Iterator[str]:
    """Folders that the configuration names as those of the hooks."""
    try:
        text = os.fsdecode(read_regular(os.path.join(place, "config"), _MOST_CONFIG))
    except OSError:
        return
    for found in _HOOKS_PATH.finditer(text):
        path = os.path.normpath(os.path.join(os.path.dirname(place), os.path.expanduser(found[1])))
        if os.path.lexists(path):
            yield path
