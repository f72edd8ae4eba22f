"""Whether starting an agent would run what a workspace holds: before the workspace is trusted, such an agent is not
started.

INVARIANT (quiet before trust): a package runner looks into the folder that it is started in, for packages, programs and
settings, before it fetches anything; and a program may lie there itself.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence

from countersign.agents.acp.confinement import INTERPRETERS
from countersign.agents.acp.identity import LAUNCHERS
from countersign.tools.shell.environment import inside

RUNNERS = (LAUNCHERS - {"node"}) | {
    "asdf", "corepack", "deno", "hatch", "mise", "pdm", "pipenv", "pipx", "poetry", "uv", "uvx",
}  # fmt: skip
"""Programs that run another one, and find it by files of the folder that they are started in."""
_PYTHON = re.compile(r"python(?:[0-9.]+)?")
_WORDS = re.compile(r"[\s'\";&|()]+")


def blocking_obeys_workspace(
    command: Sequence[str], environment: Mapping[str, str], folder: str, workspace: str
) -> str | None:
    """Return why this command line, started in ``folder``, may run something that the workspace holds; None if nothing
    says so. Reads the disk."""
    starts_there = inside(folder, workspace)
    for word in (each for text in command for each in _WORDS.split(text)):
        name = re.sub(r"\.(?:exe|cmd)$", "", os.path.basename(word))
        if starts_there and name in RUNNERS:
            return f"`{name}` obeys files of the workspace"
    words = [command[0]]
    if os.path.basename(command[0]) in INTERPRETERS or _PYTHON.fullmatch(os.path.basename(command[0])):
        options = [each for each in command[1:] if each.startswith("-")]
        python = _PYTHON.fullmatch(os.path.basename(command[0])) is not None
        if starts_there and python and "-m" in options and not {"-I", "-P"} & {*options}:
            return "Python looks for modules in the workspace first"
        words += [each for each in command[1:] if not each.startswith("-")][:1]
    for place, word in enumerate(words):
        named = os.sep not in word and place == 0
        found = shutil.which(word, path=environment.get("PATH")) if named else os.path.join(folder, word)
        if found is not None and os.path.lexists(found) and inside(found, workspace):
            return "its program lies in the workspace"
    return None
