"""Settings that this version knows by name and does nothing with: each is said where it stands, none is passed over.

What such a setting does instead, where it must be on the safe side, is decided elsewhere: a hook that could deny makes
the mode `ask` (``merge.py``). An entry goes when the issue that builds its setting lands.
"""

from __future__ import annotations

from collections.abc import Iterator

from countersign.settings.layers import Layers
from countersign.settings.policy import Problem
from countersign.wire.base import Json

_OFF: tuple[Json, ...] = (None, {}, [], "off")
NOT_YET: dict[tuple[str, ...], str] = {
    ("mcpServers",): "not yet available: no tool server is started; take it out",
    ("hooks", "beforeTool"): (
        "not yet available: hooks are not run; until it is taken out, every call that no rule allows asks"
    ),
    ("hooks", "afterTool"): "not yet available: it is not run; take it out",
    ("hooks", "notification"): "not yet available: it is not run; take it out",
}
"""The message about each setting. A value that turns it off gets no message."""


def not_yet(layers: Layers) -> Iterator[Problem]:
    """Name every setting of every layer that says something and does nothing yet."""
    for layer in layers.all():
        for path, words in NOT_YET.items():
            value = layer.get(*path)
            if layer.scope != "default" and value not in _OFF:
                yield layer.place(*path).problem(f"`{'.'.join(path)}` is {words}")
        hooks = layer.get("hooks")
        if hooks not in _OFF and not isinstance(hooks, dict):
            yield layer.place("hooks").problem(
                "`hooks` is not an object and does not count; hooks are not yet available"
            )
