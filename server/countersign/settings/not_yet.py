"""Settings that this version knows by name and does nothing with: each is said where it stands, none is passed over.

What such a setting does instead, where it must be on the safe side, is decided elsewhere: the gate asks for every
command while a sandbox is wanted (``gate/decisions/sandbox.py``), and a hook that could deny makes the mode `ask`
(``merge.py``). An entry goes when the issue that builds its setting lands.
"""

from __future__ import annotations

from collections.abc import Iterator

from countersign.settings.layers import Layers
from countersign.settings.policy import Problem
from countersign.wire.base import Json

_OFF: tuple[Json, ...] = (None, {}, [], "off")
NOT_YET: dict[tuple[str, ...], str] = {
    ("sandbox", "mode"): "not yet available: nothing is confined, so every command asks; set it to `off`",
    ("sandbox", "network"): "not yet available: there is no sandbox, so it does nothing; take it out",
    ("mcpServers",): "not yet available: no tool server is started; take it out",
    ("hooks", "beforeTool"): (
        "not yet available: hooks are not run; until it is taken out, every call that no rule allows asks"
    ),
    ("hooks", "afterTool"): "not yet available: it is not run; take it out",
    ("hooks", "notification"): "not yet available: it is not run; take it out",
}
"""Each setting and what is said of it. A value that turns it off is nothing to speak of."""

_SANDBOX_WORDS = ("workspace", "commands", "all", "hosts")
"""Other values of the sandbox's settings are reported as mistakes."""
UNBUILT_PROVIDERS = ("openai", "anthropic", "google")


def not_yet(layers: Layers) -> Iterator[Problem]:
    """Name every setting of every layer that says something and does nothing yet."""
    for layer in layers.all():
        for path, words in NOT_YET.items():
            value = layer.get(*path)
            if layer.scope != "default" and value not in _OFF and (path[0] != "sandbox" or value in _SANDBOX_WORDS):
                yield layer.place(*path).problem(f"`{'.'.join(path)}` is {words}")
        models = layer.get("models")
        for name, model in models.items() if isinstance(models, dict) else ():
            if isinstance(model, dict) and model.get("provider") in UNBUILT_PROVIDERS:
                words = f"the provider `{model['provider']}` is not yet available; use `ollama` or `demo`"
                yield layer.place("models", name).problem(words)
