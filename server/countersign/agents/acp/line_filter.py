"""A filter between an agent and the inner program that it starts: what is put into the agent's private folder for it.

Some agents are adapters: they start the true agent and choose for it, whatever the person or we want. Where such an
adapter takes the program from a variable, the recipe puts ``filter_program.py`` there, with the changes as data.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from countersign.agents.acp import filter_program
from countersign.agents.acp.identity import started_program
from countersign.agents.acp.recipe import Filter
from countersign.wire.errors import AgentExit

NAME = "filter"
"""Its name in the private folder."""


def filter_command(
    told: Filter, agent: str, command: Sequence[str], environment: Mapping[str, str], folder: str
) -> tuple[str, ...]:
    """Return the command line of the filter for the agent that this command line starts in ``folder``. The program is
    the one that belongs to the agent, whatever the variable held before: that one was measured. Reads the disk.

    Raises:
        AgentExit: that program cannot be found; the agent must not be started then.
    """
    started = started_program(command, environment, folder)
    bases = () if started is None else started.parents
    inner = next((found for base in bases if (found := base / "node_modules" / told.program).is_file()), None)
    node = shutil.which("node", path=environment.get("PATH")) if told.program.endswith(".js") else ""
    if inner is None or node is None:
        missing = "node" if inner is not None else told.program
        raise AgentExit(f"the agent {agent} is not started, because `{missing}`, which it needs, was not found")
    changes = json.dumps([dict(each) for each in told.changes])
    ours = (os.path.realpath(sys.executable), "-I", "-S", str(Path(filter_program.__file__).resolve()), changes)
    return (*ours, *([node] if node else []), str(inner))


def filter_script(command: Sequence[str]) -> str:
    """Return the text of the program that the agent starts."""
    return f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'
