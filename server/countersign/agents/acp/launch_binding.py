"""What a key of an agent is bound to: all that decides which program is started with it, and how.

A person sees one line and enters the key for it. Whatever changes afterwards, in a workspace's settings for example,
is another launch, and the key has to be entered again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from dataclasses import asdict

from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.recipe_file import known_recipes
from countersign.settings.policy import AgentConfig

_DIGITS = 32
_ONE_SECRET = re.compile(r"\$\{secret:[^}]*\}")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def launch_binding(config: AgentConfig, recipe: Recipe, folder: str) -> str:
    """Return the line: the command, the names of the variables of ``env`` (and its addresses as they were written),
    the folder where that may decide what runs, and a digest of all this with every value as it was written.

    No variable of the environment is filled in, so that nothing of it is shown and a new value of one changes nothing.
    Looks for the program on PATH.
    """
    parts = [shlex.join((config.command or "", *config.args))]
    if config.written_env:
        parts.append("with " + ", ".join(_shown(*item) for item in sorted(config.written_env.items())))
    own_recipe = recipe != STRANGER and recipe not in known_recipes()
    if own_recipe:
        parts.append(f"by the recipe {shlex.quote(recipe.name)} of the settings")
    bound_folder = None if _is_same_everywhere(config, recipe, folder) else folder
    if bound_folder is not None:
        parts.append(f"in {shlex.quote(folder)}")
    whole = {
        "command": config.command,
        "args": config.args,
        "env": dict(config.written_env),
        "folder": bound_folder,
        "recipe": asdict(recipe) if own_recipe else recipe.name,
    }
    text = json.dumps(whole, sort_keys=True, default=_plain)
    return f"{' '.join(parts)} · {hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else dict(value)  # type: ignore[call-overload]


def _shown(variable: str, value: str) -> str:
    return f"{variable}={shlex.quote(value)}" if _ADDRESS.match(value) and "@" not in value else variable


def _is_same_everywhere(config: AgentConfig, recipe: Recipe, folder: str) -> bool:
    """Whether no file of the folder can be what is started: the program of a recipe of ours, found outside of the
    folder, with the arguments of the recipe, and with no variables but whole secrets and addresses."""
    if recipe not in known_recipes() or not recipe.program:
        return False
    command = config.command or ""
    if os.path.basename(command) != recipe.program or config.args not in ((), recipe.program_args):
        return False
    values = config.written_env.values()
    if not all(_ONE_SECRET.fullmatch(value) or _ADDRESS.match(value) for value in values):
        return False
    found = shutil.which(command) if command == recipe.program or os.path.isabs(command) else None
    if found is None or not os.path.isabs(found):
        return False
    places = (os.path.dirname(found), os.path.realpath(found))
    return not any(_is_within(place, top) for place in places for top in {folder, os.path.realpath(folder)})


def _is_within(path: str, folder: str) -> bool:
    return os.path.commonpath((path, folder)) == folder
