"""The mode and options in which an agent asks: set when a session is opened, and put back (``held.py`` judges them)."""

from __future__ import annotations

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
    wanted += offered.put_back()
    refused = None
    for method, params in wanted:
        try:
            offered.hear_set(method, params, await link.ask_soon(method, {"sessionId": session_id, **params}))
        except ModelError as error:
            refused = refused or f"{link.name} could not be put into its asking mode: {error}"
        except ConnectionError:
            raise AgentExit(f"the agent {link.name} ended while its session was opened") from None
    # The answers are judged together: until the last one, a mode that is yet to be set is no change.
    offered.held.judge()
    return refused


def _config_option(key: str, value: Json) -> dict[str, Json]:
    """The params that set an option: the protocol takes the value of a switch only with its type."""
    switch: dict[str, Json] = {"type": "boolean"} if isinstance(value, bool) else {}
    return {"configId": key, "value": value, **switch}
