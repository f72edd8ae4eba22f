"""MCP servers that a person set up in an agent's own settings: which of them a recipe switches off, and which run.

Only the names are read, to be shown. Countersign starts none of them and sends none to the agent; its own are in
``mcpServers``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator

from countersign.agents.acp.recipe import HOME, OwnServers, Recipe
from countersign.settings.jsonc import BrokenJson, parse_jsonc
from countersign.tools.visible import as_title

MOST_BYTES = 4 << 20
"""Of a settings file; some agents keep whole histories there."""
MOST_NAMES = 8


def blocking_servers(recipe: Recipe, workspace: str, home: str) -> str | None:
    """Return a sentence about the servers in an agent's own settings; None where there are none."""
    off: dict[str, None] = {}
    runs: dict[str, None] = {}
    for place in recipe.servers:
        path = os.path.join(workspace, place.file.replace(HOME, home))
        (runs if place.runs else off).update(dict.fromkeys(_names(place, path)))
    told = []
    if off:
        told.append(f"its own MCP servers are off here: {_listed(off)}")
    if runs:
        told.append(f"its own MCP servers run outside the gate: {_listed(runs)}")
    return "; ".join(told) or None


def _names(place: OwnServers, path: str) -> Iterator[str]:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MOST_BYTES:
            return
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8")
        found = tomllib.loads(text) if path.endswith(".toml") else _parsed(text)
    except (OSError, ValueError, BrokenJson, RecursionError):
        return  # it tells nothing, and the agent will say itself that its settings cannot be read
    servers = found.get(place.key) if isinstance(found, dict) else None
    yield from (as_title(name) for name in servers if isinstance(name, str)) if isinstance(servers, dict) else ()


def _parsed(text: str) -> object:
    root = parse_jsonc(text).root
    return None if root is None else root.value


def _listed(names: dict[str, None]) -> str:
    shown = ", ".join(f"`{name}`" for name in list(names)[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
