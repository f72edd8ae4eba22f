"""Which repository git would work in, seen from a folder (docs/gate.md S9).

Files named HEAD, config, objects and refs in any folder make git take that folder for a repository and run programs
that its config names, so known reading counts only in a repository of the workspace.
"""

from __future__ import annotations

import os
import re
import stat

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import Repository, is_whole, repository_above, repository_at
from countersign.gate.shell.files.git_settings import (
    MOST_SETTINGS,
    is_surely_taken,
    leads_into_work_tree,
    may_be_on,
    may_fetch,
)
from countersign.gate.shell.languages.git import Git


def strange_repository(folder: str, paths: PathJudge, *, known: bool, activated: bool = False) -> str | None:
    """Why git run in this folder may run something, or None.

    With ``known`` the repository must be that of the workspace or of a folder in it (``git_folders``), and its settings
    must lead to nothing in the work tree (``git_settings``), and with ``activated`` start nothing; without, only a
    folder that is itself taken for a repository is strange. Looks at the disk; a missing path is judged by its text.
    """
    if not disk.is_folder(folder):
        if known and not disk.is_folder(paths.workspace):
            return None if paths.inside_workspace(folder, cwd=paths.workspace) else "it lies outside the workspace"
        return "the folder is not there" if known else None
    real = paths.resolve(folder, cwd=paths.workspace).resolved
    top = paths.resolve(paths.workspace, cwd="/").resolved
    if real is None or top is None:
        return "the folder cannot be read"
    while True:
        if _looks_bare(real):
            return "the folder has the form of a git repository, whose settings name programs to run"
        inside = real == top or real.startswith(f"{top}/")
        entry = disk.path_stat(os.path.join(real, ".git"))
        if not (isinstance(entry, int) and entry in disk.MISSING):
            if known:
                if not inside:
                    return "the repository lies outside the workspace"
                found = repository_at(real, paths)
                if not isinstance(found, Repository):
                    return found
                return leads_into_work_tree(found, paths, activated=activated)
            if isinstance(entry, int) or entry.kind != stat.S_IFDIR or is_whole(f"{real}/.git"):
                return None
        if real in {top, "/"} or not inside:
            return "there is no repository in the workspace" if known else None
        real = os.path.dirname(real)


def may_compare_files(git: Git, folder: str, paths: PathJudge) -> bool:
    """Whether ``git diff`` of two paths may compare the files themselves, as with ``--no-index``: git does so where it
    finds no repository that it takes, and where one of them lies outside the work tree by its text. Further operands
    are then patterns for what lies below these two (since git 2.50)."""
    operands = [word.value for _, word in git.arguments.operands]
    compared = operands[:2]
    if git.arguments.has("--no-index"):
        return True
    if git.subcommand != "diff" or len(operands) <= 1:
        return False
    real, repository = paths.resolve(folder, cwd=paths.workspace).resolved, repository_above(folder, paths)
    missing = (
        value not in {None, "-"} and not disk.is_there(os.path.join(real or "/", value or "")) for value in compared
    )
    if any(missing):
        return False  # then it compares nothing
    if real is None or repository is None:
        return True
    below = os.path.relpath(real, repository.folder)
    if ".git" in below.split("/") or not is_whole(repository.shared) or not is_surely_taken(repository, paths):
        return True
    return any(_leaves(value, below, repository.folder) for value in compared if value is not None)


def may_be_refused(folder: str, paths: PathJudge) -> bool:
    """Whether git, run in this folder, may find a repository there and not take it."""
    repository = repository_above(folder, paths)
    return repository is not None and not is_surely_taken(repository, paths)


def _leaves(path: str, below: str, folder: str) -> bool:
    """Whether git takes a path for one outside the work tree: by its text, even where that comes back again."""
    if path.startswith("/"):
        return not f"{os.path.normpath(path)}/".startswith(f"{folder}/")
    return os.path.normpath(f"{below}/{path}").split("/")[0] == ".."


def work_tree(folder: str, paths: PathJudge) -> str | None:
    """What ``git rev-parse --show-toplevel`` prints in this folder, if the repository is one of the workspace that
    names no work tree of its own; None if that is not known."""
    if disk.variable("GIT_DIR") or disk.variable("GIT_WORK_TREE") or strange_repository(folder, paths, known=True):
        return None
    found = repository_above(folder, paths)
    if found is None:
        return None
    text = disk.beginning(f"{found.shared}/config", MOST_SETTINGS)
    plain = text is not None and len(text) < MOST_SETTINGS and _MOVES_WORK_TREE.search(text) is None
    return found.folder if plain else None


def is_partial(folder: str, paths: PathJudge) -> bool:
    """Whether the repository in which git runs here may lack objects, which git fetches when they are read."""
    found = repository_above(folder, paths)
    return found is not None and may_fetch(found, paths)


def may_be_set(setting: str, folder: str, paths: PathJudge) -> bool:
    """Whether a setting (``section.key``, in small letters) may be on for git that runs in this folder."""
    found = repository_above(folder, paths)
    return found is not None and may_be_on(setting, found, paths)


_MOVES_WORK_TREE = re.compile(rb"worktree|include|\\", re.IGNORECASE)


def _looks_bare(folder: str) -> bool:
    """Whether git may take the folder for a repository: by HEAD and any part of one; ``commondir`` names another place
    for the rest."""
    if os.path.basename(folder) == ".git" or not _stands(f"{folder}/HEAD"):
        return False
    return any(_stands(f"{folder}/{part}") for part in ("commondir", "objects", "refs"))


def _stands(path: str) -> bool:
    found = disk.path_stat(path)
    return not (isinstance(found, int) and found in disk.MISSING)
