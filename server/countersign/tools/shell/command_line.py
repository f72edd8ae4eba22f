"""A command line that is ready to be started, and how each shell is told to run a text and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from countersign.gate import DEFAULT_PATH, BadArguments
from countersign.tools.shell.environment import inside
from countersign.tools.visible import visible

SHELLS: dict[str, tuple[str, ...]] = {
    "bash": ("--norc", "--noprofile", "-c"),
    "sh": ("-c",),
    "dash": ("-c",),
    "ksh": ("-c",),
    "zsh": ("-f", "-c"),
    "fish": ("--no-config", "-c"),
}
"""What each shell is given before the text. No start-up file is read: bash reads one even for ``-c`` when its standard
input is a socket, and then something else runs than was shown."""


Sandbox = Literal["none", "writable", "readOnly", "readOnlyIfAny"]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What is to be started. ``shown`` is its text for people, ``cwd`` absolute and resolved, ``environment`` whole.

    ``by_person``: a person let this very command run. ``takes_input``: standard input is a pipe for
    ``ShellRegistry.write``; else it is at its end from the start.
    ``sandbox``: the sandbox that it runs in, one where its folders can be written or one where nothing can.
    ``readOnlyIfAny``: outside where this machine has none; a second line behind the reading of the command.
    ``may_reach`` says, while it runs, whether it may reach a host; called in threads.
    """

    argv: tuple[str, ...]
    shown: str
    cwd: str
    environment: Mapping[str, str]
    tool_call_id: str
    thread_id: str
    background: bool = False
    takes_input: bool = False
    by_person: bool = False
    sandbox: Sandbox = "none"
    may_reach: Callable[[str], bool] = lambda _host: False


def shell_line(shell: str, text: str, environment: Mapping[str, str], workspace: str) -> tuple[str, ...]:
    """The words that run this text in this shell. The shell is never one from inside the workspace.

    Raises:
        BadArguments: there is no such shell.
    """
    if shell not in SHELLS:
        raise BadArguments(f"there is no shell `{visible(shell[:40])}`; use one of {', '.join(SHELLS)}")
    program = _find_program(shell, environment.get("PATH", ""), workspace)
    if program is None:
        raise BadArguments(f"`{shell}` is not installed; use bash")
    return (program, *SHELLS[shell], "--", text) if shell == "bash" else (program, *SHELLS[shell], text)


def _find_program(name: str, path: str, workspace: str) -> str | None:
    outside = [entry for entry in path.split(os.pathsep) if entry and not inside(entry, workspace)]
    return shutil.which(name, path=os.pathsep.join([*outside, *DEFAULT_PATH.split(":")]))
