"""Which repository git would work in, seen from a folder (RULES.md S9).

Files named HEAD, config, objects and refs in any folder make git take that folder for a repository and run programs
that its config names, so known reading counts only in a repository of the workspace.
"""

from __future__ import annotations

import os
import re
import stat

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk


def strange_repository(folder: str, paths: PathJudge, *, known: bool) -> str | None:
    """Why git run in this folder may run something, or None.

    With ``known`` the repository must be the ``.git`` folder of the workspace or of a folder in it, and take no hook
    that reading runs from the work tree; without, only a folder that is itself taken for a repository is strange. Looks
    at the disk; what is not there is judged by the text.
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
        entry = disk.standing(os.path.join(real, ".git"))
        if not (isinstance(entry, int) and entry in disk.MISSING):
            if not known:
                return None
            if not inside:
                return "the repository lies outside the workspace"
            if not isinstance(entry, int) and entry.kind == stat.S_IFDIR:
                return _hook_of_reading(real, paths)
            return "its `.git` is not a folder"
        if real in {top, "/"} or not inside:
            return "there is no repository in the workspace" if known else None
        real = os.path.dirname(real)


def work_tree(folder: str, paths: PathJudge) -> str | None:
    """What ``git rev-parse --show-toplevel`` prints in this folder, if the repository is one of the workspace that
    names no work tree of its own; None if that is not known."""
    if disk.variable("GIT_DIR") or disk.variable("GIT_WORK_TREE") or strange_repository(folder, paths, known=True):
        return None
    real = paths.resolve(folder, cwd=paths.workspace).resolved
    while real is not None and real != "/":
        settings = f"{real}/.git/config"
        if disk.is_folder(f"{real}/.git"):
            text = disk.beginning(settings, _MOST_SETTINGS)
            plain = text is not None and len(text) < _MOST_SETTINGS and _MOVES_WORK_TREE.search(text) is None
            return real if plain else None
        real = os.path.dirname(real)
    return None


_MOST_SETTINGS = 100_000
_MOVES_WORK_TREE = re.compile(rb"worktree|include|\\", re.IGNORECASE)


def _hook_of_reading(folder: str, paths: PathJudge) -> str | None:
    """Why reading in this work tree runs a hook that lies in the workspace, or None.

    ``git status``, ``diff`` and ``describe --dirty`` write what they saw into the index, and then run the hook
    `post-index-change`. Those in ``.git`` are protected; `core.hooksPath` may name a folder that is not.
    """
    settings = (f"{folder}/.git/config", f"{folder}/.git/config.worktree")
    for path in (*settings, f"{paths.home}/.gitconfig", f"{paths.home}/.config/git/config"):
        text = disk.beginning(path, _MOST_SETTINGS)
        for found in _HOOKS_PATH.finditer(text or b""):
            value = _COMMENT.sub("", os.fsdecode(found[1])).replace('"', "").strip()
            if "\\" in value:
                return "its settings name a folder of hooks that is not read with certainty"
            place = os.path.join(folder, f"{paths.home}/{value[2:]}" if value.startswith("~/") else value)
            hook = os.path.normpath(f"{place}/post-index-change")
            inside = paths.inside_workspace(hook, cwd=folder) and not hook.startswith(f"{folder}/.git/")
            if inside and disk.can_run(hook):
                return "it runs the hook `post-index-change` of a folder in the workspace"
    return None


_HOOKS_PATH = re.compile(rb"hookspath[ \t]*=([^\n]*)", re.IGNORECASE)
_COMMENT = re.compile(r"[;#].*")


def _looks_bare(folder: str) -> bool:
    """Whether git may take the folder for a repository: by HEAD and any part of one; ``commondir`` names another place
    for the rest."""
    if os.path.basename(folder) == ".git" or not _stands(f"{folder}/HEAD"):
        return False
    return any(_stands(f"{folder}/{part}") for part in ("commondir", "objects", "refs"))


def _stands(path: str) -> bool:
    found = disk.standing(path)
    return not (isinstance(found, int) and found in disk.MISSING)
