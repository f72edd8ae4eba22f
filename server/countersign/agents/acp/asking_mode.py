"""The mode and options in which an agent asks: set when a session is opened, compared with what the agent reports."""

from __future__ import annotations

from collections.abc import Mapping

from countersign.agents.acp.agent_process import Link
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.recipe import Recipe
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, ModelError


async def hold_mode(link: Link, recipe: Recipe, session_id: str, offered: Offered) -> str | None:
    """Put a session into the mode and options of its recipe; return the sentence that says which it refused, if any.

    Raises:
        AgentExit: the agent ended meanwhile.
    """
    wanted: list[tuple[str, dict[str, Json]]] = [
        ("session/set_config_option", _config_option(key, value)) for key, value in recipe.config.items()
    ]
    if recipe.mode is not None:
        wanted.append(("session/set_mode", {"modeId": recipe.mode}))
    refused = None
    for method, params in wanted:
        try:
            offered.hear_set(method, params, await link.ask_soon(method, {"sessionId": session_id, **params}))
        except ModelError as error:
            refused = refused or f"{link.name} could not be put into its asking mode: {error}"
        except ConnectionError:
            raise AgentExit(f"the agent {link.name} ended while its session was opened") from None
    return refused


def changed_options(recipe: Recipe, options: Mapping[str, str | bool]) -> str:
    """Return what the agent changed of the options that are held, for a sentence; empty if nothing."""
    changed = [key for key, value in recipe.config.items() if key in options and options[key] != value]
    return ", ".join(f"`{key}` to `{options[key]}`" for key in changed)


def _config_option(key: str, value: Json) -> dict[str, Json]:
    """The params that set an option: the protocol takes the value of a switch only with its type."""
    switch: dict[str, Json] = {"type": "boolean"} if isinstance(value, bool) else {}
    return {"configId": key, "value": value, **switch}
