"""The names of all settings, and the problem that is reported for an unknown one.

One table, which a test compares with the extension's manifest. A key that nobody reads is reported where it stands
with the nearest name that there is; it changes nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from countersign.settings.escape_text import escaped
from countersign.settings.layers import Layer, Layers
from countersign.settings.policy import Problem
from countersign.settings.rules import KNOWN_KEYS
from countersign.settings.tree import Path, setting_name
from countersign.wire.base import Json


@dataclass(frozen=True, slots=True)
class Named:
    """An object whose keys a person chooses, such as agents by name; ``entry`` are the keys of each."""

    entry: Mapping[str, None]


Shape = Named | Mapping[str, "Shape"] | None
"""The keys of an object; None for a value that is read elsewhere, as a whole."""


def _keys(*names: str) -> dict[str, None]:
    return dict.fromkeys(names)


CLIENT_KEYS = frozenset({"interpreter", "serverPath", "trace", "log"})
"""Settings that only the client reads."""
KNOWN: Mapping[str, Shape] = {
    "agents": Named(_keys("type", "command", "args", "env", "cwd", "recipe", "model", "bypassPermissions")),
    "defaultAgent": None,
    "mode": None,
    "recipes": None,
    "models": Named(_keys("provider", "api", "model", "baseUrl", "apiKeyEnv", "contextTokens", "options")),
    "permissions": None,  # ``rules.py`` names its unknown keys
    "approvals": _keys("timeout"),
    "notificationSound": None,
    "notifications": None,
    "systemNotifications": None,
    "limits": _keys("writesPerTurn", "stepsPerTurn", "callsPerMessage"),
    "shell": {"timeout": None, "maxBackground": None, "env": _keys("pass")},
    "sandbox": _keys("mode", "network", "hosts", "autoAllow", "writable"),
    "mcpServers": None,
    "hooks": _keys("beforeTool", "afterTool", "notification"),
    **dict.fromkeys(CLIENT_KEYS),
}
MOST = 100
"""Unknown keys of one layer that are reported: a hostile repository may write any number."""
_LONGEST_KEY = 100
"""Characters of a key that are compared with the names that there are and shown."""


def unknown_keys(layers: Layers) -> Iterator[Problem]:
    """Name every key of every layer that is no setting."""
    for layer in layers.all():
        if layer.scope != "default":
            yield from _unknown_of(layer)


def dotted_names() -> tuple[str, ...]:
    """Return the path of every setting, without those inside an entry that a person names."""
    names = [".".join(path) for path in _paths((), KNOWN)]
    return tuple(sorted([*(name for name in names if name != "permissions"), *_PERMISSIONS]))


_PERMISSIONS = tuple(f"permissions.{key}" for key in sorted(KNOWN_KEYS))


def _unknown_of(layer: Layer) -> Iterator[Problem]:
    for found, (path, siblings) in enumerate(_unknown((), dict(layer.values), KNOWN)):
        if found >= MOST:
            words = f"more than {MOST} keys under `countersign` are no settings; take them out"
            yield layer.place().problem(words)
            return
        *parents, name = path
        nearest = _nearest(name, tuple(parents), siblings)
        advice = "correct or remove it" if nearest is None else f"the nearest is `{nearest}`"
        key = escaped(setting_name(path), 2 * _LONGEST_KEY)
        yield layer.place(*path).problem(f"`{key}` is no setting and does not count; {advice}")


def _unknown(path: Path, values: Mapping[str, Json], shape: Shape) -> Iterator[tuple[Path, Iterable[str]]]:
    """Each key that is no setting, with those that could stand in its place."""
    if isinstance(shape, Named):
        for name, entry in values.items():
            if isinstance(entry, dict):
                yield from _unknown((*path, name), entry, shape.entry)
        return
    for name, value in values.items() if shape is not None else ():
        if name not in (shape or {}):
            if path or not name.startswith("$"):  # such as the `$schema` of a file that is ours alone
                yield (*path, name), shape or ()
        elif isinstance(value, dict):
            yield from _unknown((*path, name), value, (shape or {})[name])


def _nearest(name: str, parents: Path, siblings: Iterable[str]) -> str | None:
    name = name[:_LONGEST_KEY]
    for close in difflib.get_close_matches(name, siblings, 1):
        return setting_name((*parents, close))
    if parents:
        return None
    names = dotted_names()
    last = [path for path in names if path.rpartition(".")[2] == name]
    for close in (*last, *difflib.get_close_matches(name, names, 1)):
        return setting_name((close,))
    return None


def _paths(path: Path, shape: Mapping[str, Shape]) -> Iterator[Path]:
    for name, inner in shape.items():
        if inner is None or isinstance(inner, Named):
            yield (*path, name)
        else:
            yield from _paths((*path, name), inner)
