"""The environment of a hosted agent's process: what commands get, what the settings add, and its recipe."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from countersign.agents.acp.recipes import Launch
from countersign.settings.policy import AgentConfig


def agent_environment(clean: Mapping[str, str], config: AgentConfig, launch: Launch, folder: str) -> dict[str, str]:
    """What the agent's process sees: the filtered environment, its own ``env`` and what its recipe sets (that wins)."""
    shell = shutil.which("bash", path=clean.get("PATH"))
    # The gate reads commands as bash does, so agents that run them in the person's shell are given bash.
    shells = {"SHELL": shell} if shell else {}
    return {**clean, **shells, "PWD": folder, **config.env, **launch.env}
