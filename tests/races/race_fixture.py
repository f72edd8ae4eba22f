"""A real gate with real rules and tools for tests of races, and a person who reads every card."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from countersign.agents.drive import Drive
from countersign.agents.models.base import ToolMessage, WantedCall
from countersign.agents.models.demo import DemoModel
from countersign.tools.registry import BY_NAME
from countersign.tools.shell.processes import SHELLS_SERVICE
from countersign.tools.tool import ToolContext
from tests.agents.desk import Place

AGENT = "Countersign"


def submit(place: Place, tool: str, **arguments: Any) -> asyncio.Task[ToolMessage]:
    """One call of the built-in agent, on its way through the gate."""
    turn = place.turn(AGENT)
    drive = Drive(
        model=DemoModel(),
        system="",
        tools=BY_NAME,
        gate=place.gate,
        turn=turn,
        policy=lambda: place.policy,
        bench=lambda _: ToolContext(lambda: place.policy, lambda _: None, {SHELLS_SERVICE: place.shells}),
        keep=lambda _: None,
        waiting={},
    )
    return asyncio.ensure_future(drive.one_call(WantedCall(f"call-{turn.turn_id}", tool, arguments)))


def script(path: Path, word: str = "good") -> Path:
    """A program in any of the languages that the tests start: it leaves a file with this word beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {word} >> ran\n")
    path.chmod(0o755)
    return path


def rewritten(path: Path) -> None:
    path.write_text("#!/bin/sh\necho bad >> ran\n")


def replaced(path: Path) -> None:
    fresh = script(path.with_name("fresh"), "bad")
    fresh.replace(path)


def removed(path: Path) -> None:
    path.unlink()


def linked(path: Path) -> None:
    """A link to another script stands in its place."""
    script(path.with_name("other"), "bad")
    path.unlink()
    path.symlink_to("other")


def folder_swapped(path: Path) -> None:
    """Its folder is another one."""
    path.parent.rename(path.parent.with_name("away"))
    script(path, "bad")


def folder_linked(path: Path) -> None:
    """Its folder is a link to another one."""
    path.parent.rename(path.parent.with_name("away"))
    script(path.parent.with_name("elsewhere") / path.name, "bad")
    path.parent.symlink_to("elsewhere")


CHANGES: list[Callable[[Path], None]] = [rewritten, replaced, removed, linked, folder_swapped, folder_linked]
