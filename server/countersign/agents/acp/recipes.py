"""Launch recipes in use: which one is an agent's, and what is started by it.

A recipe (``recipe.py``) says how to launch and what was measured with it; the label that follows is ``label.py``'s.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from countersign.agents.acp.line_filter import NAME as FILTER
from countersign.agents.acp.line_filter import filter_script
from countersign.agents.acp.recipe import GATE, HOME, HOOK, STRANGER, Brought, Recipe
from countersign.agents.acp.recipe_file import BadRecipe, known_recipes, own_recipes
from countersign.settings.jsonc import BrokenJson, parse_jsonc
from countersign.settings.policy import AgentConfig
from countersign.wire.base import Json


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: the whole command line and what the recipe adds to the environment. ``folder`` is the private
    one that stands for ``{gate}``."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    folder: str = ""


def agent_folder(config: AgentConfig, workspace: str) -> str:
    """Return the folder that this agent is started in; a relative ``cwd`` starts at the workspace."""
    return os.path.normpath(os.path.join(workspace, os.path.expanduser(config.cwd or "")))


def recipe_for(config: AgentConfig, own: Mapping[str, Json] = MappingProxyType({})) -> Recipe:
    """Return the recipe that ``recipe`` names, else the one that program or package tell, else the one for strangers.

    ``own`` are the recipes of the settings; they come first.
    """
    read = own_recipes(own)
    if config.recipe is not None:
        found = read.get(config.recipe)
        if isinstance(found, BadRecipe):
            return replace(STRANGER, caveat=f"its recipe in the settings cannot be used: {found}")
        known = (recipe for recipe in known_recipes() if recipe.name == config.recipe)
        return found or next(known, STRANGER)
    told = {part for word in (config.command or "", *config.args) for part in _parts(word)}
    usable = [recipe for recipe in read.values() if isinstance(recipe, Recipe)]
    return next((recipe for recipe in (*usable, *known_recipes()) if recipe.marks & told), STRANGER)


def prepare_launch(
    recipe: Recipe,
    config: AgentConfig,
    gate_folder: Path,
    environment: Mapping[str, str],
    hook: str = "",
    filtered: Sequence[str] = (),
) -> Launch:
    """Write the recipe's files (0600, in a 0700 folder for this agent) and say what to start. Blocking, small.

    ``environment`` is what the agent would get without a recipe, ``hook`` the command line of its pre-tool hook,
    ``filtered`` that of its inner program with our filter before it.

    Raises:
        OSError: the gate folder cannot be written; the agent must not be started then.
    """
    gate = gate_folder / f"agent-{quote(config.name, safe='')}"
    for name, text in recipe.files.items():
        # Within a string of JSON or TOML.
        _put(gate / name, text.replace(HOOK, json.dumps(hook)[1:-1]))
    beside: dict[str, str] = {}
    if recipe.filter is not None:
        _put(gate / FILTER, filter_script(filtered), 0o700)
        beside[recipe.filter.variable] = str(gate / FILTER)
    home = environment.get("HOME") or os.path.expanduser("~")
    for brought in recipe.brought:
        _bring(brought, gate, os.path.join(environment.get(brought.variable) or os.path.join(home, brought.folder)))
    # The recipe's arguments come last, so that they win over the person's own.
    command = (config.command or "", *config.args, *recipe.args)
    return Launch(
        command=tuple(word.replace(GATE, str(gate)) for word in command),
        env={name: value.replace(GATE, str(gate)).replace(HOME, home) for name, value in recipe.env.items()} | beside,
        folder=str(gate),
    )


def _bring(brought: Brought, gate: Path, folder: str) -> None:
    """Put a file of the person's own into the gate folder. A link, so that what the agent renews there is renewed for
    the person; a file that is not there is not brought."""
    source, target = Path(folder) / brought.file, gate / brought.name
    if brought.keys or brought.added:
        try:
            root = parse_jsonc(source.read_text(encoding="utf-8")).root
            found = root.value if root is not None else None
        except (OSError, UnicodeDecodeError, BrokenJson):
            found = None
        given = found if isinstance(found, dict) else {}
        kept = {key: given[key] for key in brought.keys if key in given}
        _put(target, json.dumps({**kept, **brought.added}, indent=2))
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if source.exists():
        target.symlink_to(source.resolve())


def _put(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file whole or not at all: another window may start the same agent at this moment and read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


def is_refused(recipe: Recipe, names: Sequence[str], title: str) -> bool:
    """Return true if the recipe rejects this tool. Some agents name the tool only at the head of the title."""
    return bool(recipe.refuse & {*names, title.partition(":")[0].strip()})


def runs_bash(recipe: Recipe, environment: Mapping[str, str]) -> bool:
    """Return true if this agent is known to run commands with bash. Where its way is not known, both the variable and
    the user's login shell must name bash. Reads the password database."""
    if recipe.shell == "bash":
        return True
    named = [environment.get("SHELL", "")]
    if recipe.shell == "unknown":
        try:
            named.append(pwd.getpwuid(os.getuid()).pw_shell)
        except KeyError:
            return False
    return all(os.path.basename(shell) == "bash" for shell in named)


def _parts(word: str) -> list[str]:
    """The names in one word of a command line: path parts and package names, without versions and endings; a package of
    a scope also with it."""
    parts = [part for part in re.split(r"[\\/]", word) if part]
    bare = [re.sub(r"(?<=.)@[^@]*$", "", re.sub(r"\.(?:exe|cmd|js|mjs)$", "", part)) for part in parts]
    return [*bare, *(f"{scope}/{name}" for scope, name in pairwise(bare) if scope.startswith("@"))]
