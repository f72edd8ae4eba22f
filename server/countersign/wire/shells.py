"""Shells: running commands, their output and how to stop them."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel

ShellState = Literal["running", "exited", "killed"]


class ShellView(WireModel):
    shell_id: str
    tool_call_id: str
    thread_id: str
    command: str
    state: ShellState
    exit_code: int | None = None
    background: bool


class ShellListResult(WireModel):
    shells: list[ShellView]


class ShellOutputParams(WireModel):
    """``from`` counts bytes of the command's whole output, from 0."""

    shell_id: str
    from_: int = 0

    model_config = WireModel.model_config | {"alias_generator": {"from_": "from", "shell_id": "shellId"}.__getitem__}


class ShellOutputResult(WireModel):
    text: str
    next: int
    state: ShellState
    truncated: bool | None = None


class ShellKillParams(WireModel):
    shell_id: str


class ShellKillResult(WireModel):
    state: ShellState


class ShellToBackgroundParams(WireModel):
    tool_call_id: str


class ShellToBackgroundResult(WireModel):
    shell_id: str
