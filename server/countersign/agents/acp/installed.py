"""Which programs of the recipes are installed on this machine, found by looking at files alone: nothing is executed.

A program is looked for in ``PATH`` and in the ``bin`` folders of npm's usual prefixes, because an editor that was
started from a desktop often has a shorter ``PATH`` than a terminal. Nothing that lies in the workspace is found. All of
it reads the disk.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from countersign.agents.acp.identity import PLATFORM, package_of
from countersign.agents.acp.recipe import Recipe

SYSTEM_PREFIXES = ("/usr/local", "/opt/homebrew")
"""Where npm installs global packages besides the person's own folders."""
MOST_FOLDERS = 200
MOST_NODES = 20
"""Versions of Node.js whose global packages are looked at, the newest."""
LARGEST_NPMRC = 1 << 16


def blocking_programs(
    recipes: Sequence[Recipe],
    environment: Mapping[str, str],
    workspace: str,
    system: Sequence[str] = SYSTEM_PREFIXES,
) -> dict[str, str]:
    """Return the path of each recipe's program that is installed, by the recipe's name.

    A program that belongs to an npm package counts only for recipes of that package. One without a package counts where
    one recipe alone has a program of that name.
    """
    shared = Counter(recipe.program for recipe in recipes)
    folders = _folders(environment, workspace, system)
    found: dict[str, str] = {}
    for recipe in recipes:
        if not recipe.program:
            continue
        paths = (os.path.join(folder, recipe.program) for folder in folders)
        path = next((path for path in paths if _is_its(recipe, path, workspace, shared[recipe.program] == 1)), None)
        if path is not None:
            found[recipe.name] = path
    return found


def missing_programs(recipe: Recipe, environment: Mapping[str, str]) -> list[str]:
    """Return the programs that the recipe's package runs with and that are not in ``PATH``."""
    folders = [folder for folder in environment.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    return [name for name in recipe.requires if not any(_runs(os.path.join(folder, name)) for folder in folders)]


def _is_its(recipe: Recipe, path: str, workspace: str, only: bool) -> bool:
    if not _runs(path) or _inside(path, workspace):
        return False
    package = package_of(Path(os.path.realpath(path)))
    return only if package is None else PLATFORM.sub("", package[1]) in recipe.packages


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _inside(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, by its text or by where its links lead."""
    return any(
        Path(one).is_relative_to(other)
        for one in (os.path.abspath(path), os.path.realpath(path))
        for other in (os.path.abspath(folder), os.path.realpath(folder))
    )


def _folders(environment: Mapping[str, str], workspace: str, system: Sequence[str]) -> list[str]:
    """The folders to look into, those of ``PATH`` first."""
    home = environment.get("HOME") or os.path.expanduser("~")
    own = [environment.get(name, "") for name in ("npm_config_prefix", "NPM_CONFIG_PREFIX")]
    prefixes = [*own, _npmrc_prefix(home), os.path.join(home, ".npm-global"), os.path.join(home, ".local")]
    prefixes += [*_node_versions(environment.get("NVM_DIR") or os.path.join(home, ".nvm")), *system]
    path = environment.get("PATH", "").split(os.pathsep)
    wanted = [*path, *(os.path.join(prefix, "bin") for prefix in prefixes if prefix)]
    usable = [folder for folder in wanted if os.path.isabs(folder) and not _inside(folder, workspace)]
    return list(dict.fromkeys(usable))[:MOST_FOLDERS]


def _npmrc_prefix(home: str) -> str:
    """The prefix that the person's ``.npmrc`` names, or an empty text."""
    try:
        with open(os.path.join(home, ".npmrc"), encoding="utf-8") as file:
            text = file.read(LARGEST_NPMRC)
    except (OSError, UnicodeDecodeError):
        return ""
    named = re.search(r"^[ \t]*prefix[ \t]*=[ \t]*[\"']?([^\"'\r\n]+)", text, re.MULTILINE)
    if named is None:
        return ""
    return re.sub(r"^~(?=/)|\$\{HOME\}", lambda _: home, named[1].strip())


def _node_versions(nvm: str) -> list[str]:
    """The prefixes of the versions that nvm has installed, the newest first."""
    folder = os.path.join(nvm, "versions", "node")
    try:
        names = [name for name in os.listdir(folder) if re.fullmatch(r"v\d+\.\d+\.\d+", name)]
    except OSError:
        return []
    names.sort(key=lambda name: tuple(int(part) for part in name[1:].split(".")), reverse=True)
    return [os.path.join(folder, name) for name in names[:MOST_NODES]]
