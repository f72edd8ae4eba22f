"""The command line that probes a configured agent, for a terminal of the editor.

It starts nothing: the program asks in that terminal before it starts the agent (``commands/probe.py``). The server
builds the line, because it knows which settings count here, which recipe is the agent's and where results are kept.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from countersign.settings.policy import Policy
from countersign.wire.errors import InvalidAnswer, UnknownAgent


def blocking_probe_command(policy: Policy, agent: str, storage: Path) -> list[str]:
    """Return the program and its arguments. Writes a recipe of the settings to a file, because the program reads none.

    Raises:
        UnknownAgent: there is no such agent.
        InvalidAnswer: it is the built-in agent, or its recipe cannot be used.
    """
    # Loaded when an agent is probed: they bring the models of recipes with them.
    from countersign.agents.acp.recipe import STRANGER  # noqa: PLC0415
    from countersign.agents.acp.recipe_file import known_recipes  # noqa: PLC0415
    from countersign.agents.acp.recipes import agent_folder, recipe_for  # noqa: PLC0415

    config = policy.agents.get(agent)
    if config is None:
        raise UnknownAgent(f"there is no agent {agent}")
    if config.type != "acp" or not config.command:
        raise InvalidAnswer(f"{agent} is no hosted agent with a command, so there is nothing to probe")
    recipe = recipe_for(config, policy.recipes)
    if recipe.name == STRANGER.name and recipe is not STRANGER:
        raise InvalidAnswer(recipe.caveat)
    named = recipe.name
    if recipe is not STRANGER and recipe not in known_recipes():
        path = storage / "agents" / "probed-recipes" / f"{recipe.name}.json"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        entry = policy.recipes[recipe.name]
        path.write_text(json.dumps({**(entry if isinstance(entry, dict) else {}), "name": recipe.name}), "utf-8")
        named = str(path)
    word = config.command
    program = os.path.join(agent_folder(config, policy.workspace), word) if os.sep in word else word
    return [
        *(sys.executable, "-I", "-X", "utf8", "-m", "countersign", "probe"),
        *("--pause", "--storage", str(storage), "--recipe", named, "--", program, *config.args),
    ]
