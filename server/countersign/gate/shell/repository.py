"""Which repository git would work in, seen from a folder (RULES.md S9).

Files named HEAD, config, objects and refs in any folder make git take that folder for a repository and run programs
that its config names, so known reading counts only in a repository of the workspace.
"""

from __future__ import annotations

import os

from ..paths import PathJudge


def strange_repository(folder: str, paths: PathJudge, *, known: bool) -> str | None:
    """Why git run in this folder may run something, or None.

    With ``known`` the repository must be the ``.git`` folder of the workspace or of a folder in it; without, only a
    folder that is itself taken for a repository is strange. Looks at the disk; what is not there is judged by the text.
    """
    if not os.path.isdir(folder):
        if known and not os.path.isdir(paths.workspace):
            return None if paths.inside_workspace(folder, cwd=paths.workspace) else "it lies outside the workspace"
        return "the folder is not there" if known else None
    real = os.path.realpath(folder)
    top = os.path.realpath(paths.workspace)
    while True:
        if _looks_bare(real):
            return "the folder has the form of a git repository, whose settings name programs to run"
        inside = real == top or real.startswith(f"{top}/")
        entry = os.path.join(real, ".git")
        if os.path.lexists(entry):
            if not known:
                return None
            if not inside:
                return "the repository lies outside the workspace"
            if os.path.isdir(entry) and not os.path.islink(entry):
                return None
            return "its `.git` is no folder"
        if real in {top, "/"} or not inside:
            return "there is no repository in the workspace" if known else None
        real = os.path.dirname(real)


def _looks_bare(folder: str) -> bool:
    return (
        os.path.lexists(f"{folder}/HEAD") and os.path.isdir(f"{folder}/objects") and os.path.isdir(f"{folder}/refs")
    ) and os.path.basename(folder) != ".git"
