"""MCP servers that a person set up in an agent's own settings: which of them a recipe switches off, and which run.

Only the names are read, to be shown, and nothing of a workspace that is not trusted. Countersign starts none of them
and sends none to the agent; its own are in ``mcpServers``.
"""

from __future__ import annotations

import json
import os
import tomllib
import unicodedata
from collections.abc import Iterator

from countersign.agents.acp.recipe import HOME, OwnServers, Recipe
from countersign.settings.jsonc import BrokenJson, parse_jsonc
from countersign.settings.regular_file import NotRegular, read_regular

MOST_BYTES = 256 << 10
"""Of a settings file of the workspace."""
MOST_OWN_BYTES = 16 << 20
"""Of one of the person's own; Claude Code keeps the histories of all projects in its."""
MOST_PARTS = 16
"""Of a dotted key in TOML: what its parser does with one grows with the square of its parts."""
MOST_NAMES = 8
LONGEST_NAME = 60
"""Characters of a name as it is shown."""

_PLAIN = frozenset("-_.@/:+~")


class _Unknown(Exception):
    """The file is not read; the message is why."""


def blocking_servers(recipe: Recipe, workspace: str, home: str, *, trusted: bool) -> str | None:
    """Return a sentence about the servers in an agent's own settings; None where there are none. ``trusted``: whether
    the workspace is, so that its files may be read."""
    off: dict[str, None] = {}
    runs: dict[str, None] = {}
    unknown: list[str] = []
    for place in recipe.servers:
        path = os.path.join(workspace, place.file.replace(HOME, home))
        foreign = _is_within(path, workspace)
        # INVARIANT (quiet before trust)
        if not trusted and foreign:
            continue
        most = MOST_BYTES if foreign or path.endswith(".toml") else MOST_OWN_BYTES
        try:
            (runs if place.runs else off).update(dict.fromkeys(_names(place, path, most)))
        except _Unknown as error:
            unknown.append(
                f"which MCP servers stand in `{_shown(place.file.replace(HOME, '~'))}` is not known, {error}"
            )
    told = []
    if off:
        told.append(f"its own MCP servers are off here: {_listed(off)}")
    if runs:
        told.append(f"its own MCP servers run outside the gate: {_listed(runs)}")
    return "; ".join((*told, *unknown)) or None


def _is_within(path: str, workspace: str) -> bool:
    tops = {os.path.abspath(workspace), os.path.realpath(workspace)}
    places = (os.path.abspath(path), os.path.realpath(path))
    return any(os.path.commonpath((place, top)) == top for place in places for top in tops)


def _names(place: OwnServers, path: str, most: int) -> Iterator[str]:
    try:
        text = _read(path, most)
        if text is None:
            return
        found = _parsed_toml(text) if path.endswith(".toml") else _parsed_json(text)
    except (OSError, ValueError, BrokenJson, RecursionError):
        return  # it tells nothing, and the agent will say itself that its settings cannot be read
    servers = found.get(place.key) if isinstance(found, dict) else None
    yield from (name for name in servers if isinstance(name, str)) if isinstance(servers, dict) else ()


def _read(path: str, most: int) -> str | None:
    """Return the text of a regular file of at most ``most`` bytes; None if it is no regular file."""
    try:
        data = read_regular(path, most + 1)
    except NotRegular:
        return None
    if len(data) > most:
        raise _Unknown(f"as it is larger than {most >> 10} KiB")
    return data.decode("utf-8")


def _parsed_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        pass  # with comments, perhaps
    root = parse_jsonc(text).root
    return None if root is None else root.value


def _parsed_toml(text: str) -> object:
    if any(_parts_of_keys(line) > MOST_PARTS for line in text.split("\n")):
        raise _Unknown("as keys in it are nested too deeply")
    return tomllib.loads(text)


def _parts_of_keys(line: str) -> int:
    """Return how many parts the longest key in a line of TOML has, or more. A line begins outside of strings, or it is
    within one of several lines, whose end is a line with three quotes; there every dot counts."""
    if line.count(".") < MOST_PARTS:
        return 1
    if '"""' in line or "'''" in line:
        return line.count(".") + 1
    most, dots, quote, escape = 0, 0, "", False
    for character in line:
        if quote:
            if escape:
                escape = False
            elif character == "\\" and quote == '"':
                escape = True
            elif character == quote:
                quote = ""
        elif character == "#":
            break
        elif character in "\"'":
            quote = character
        elif character in "=,{[":
            dots = 0
        elif character == ".":
            dots += 1
            most = max(most, dots)
    return most + 1


def _listed(names: dict[str, None]) -> str:
    shown = ", ".join(f"`{_shown(name)}`" for name in list(names)[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _shown(name: str) -> str:
    """Return a name in which nothing but letters, digits and a few signs stands for itself, so that it can neither end
    its backticks nor read as a sentence."""
    shown = ""
    for character in name:
        plain = _plain(character)
        if len(shown) + len(plain) >= LONGEST_NAME:
            return f"{shown}…"
        shown += plain
    return shown


def _plain(character: str) -> str:
    if character in _PLAIN or (character.isalnum() and unicodedata.bidirectional(character) in ("L", "EN")):
        return character
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
