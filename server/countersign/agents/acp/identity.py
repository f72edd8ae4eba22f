"""Which version of an agent a command line starts, by what is installed and not by what the agent says of itself.

An npm package tells its name and version in its ``package.json``; a command line of ``npx`` may name an exact version,
of which a registry has one only. What lies in the workspace tells nothing: a repository can hold any name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from countersign.agents.acp.recipe import Recipe
from countersign.wire.base import Json

EXACT = re.compile(r"(?P<name>(?:@[\w.-]+/)?[\w.-]+)@(?P<version>\d+\.\d+\.\d+(?:-[\w.]+)?)")
PLATFORM = re.compile(r"-(?:linux|darwin|win32|windows)-(?:x64|arm64)(?:-\w+)*$")
LAUNCHERS = frozenset(("node", "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"))
"""Programs that start the agent which they are given."""
MOST_PARENTS = 12
"""Folders above a program in which its package is looked for."""
LARGEST_PACKAGE = 1 << 20
"""Bytes of a ``package.json`` that is read."""


def installed_version(recipe: Recipe, command: Sequence[str], path: str | None, workspace: str) -> str | None:
    """The version of the recipe's package that this command line starts, or None where that is not known. Reads the
    disk."""
    word = _started(command)
    if word is None:
        return None
    exact = EXACT.fullmatch(word)
    if exact is not None and word is not command[0]:
        return exact["version"] if exact["name"] in recipe.packages else None
    found = shutil.which(word, path=path) if os.sep not in word else word if os.path.isfile(word) else None
    return _version_of(Path(os.path.realpath(found)), recipe, workspace) if found is not None else None


def _started(command: Sequence[str]) -> str | None:
    """The program or package that the command line starts: its first word, or what a launcher is given first."""
    words = list(command)
    if words and os.path.basename(words[0]) in LAUNCHERS:
        words = [word for word in words[1:] if not word.startswith("-") and word not in ("exec", "x", "dlx")]
    return words[0] if words else None


def _version_of(program: Path, recipe: Recipe, workspace: str) -> str | None:
    if program.is_relative_to(os.path.realpath(workspace)):
        return None
    for folder in list(program.parents)[:MOST_PARENTS]:
        package = _package(folder / "package.json")
        name, version = package.get("name"), package.get("version")
        if isinstance(name, str) and isinstance(version, str) and PLATFORM.sub("", name) in recipe.packages:
            return version
    return None


def _package(path: Path) -> dict[str, Json]:
    try:
        if path.stat().st_size > LARGEST_PACKAGE:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
