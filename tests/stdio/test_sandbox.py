"""The sandbox over the wire: its status, what its cards say, and what a command in it can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.tools.sandbox.support import needs_sandbox

Json = Any


def sandboxed(**more: Json) -> dict[str, Json]:
    return {"settings": {"user": {"sandbox": {"mode": "commands", **more}}}}


async def result_of(desk: Desk, text: str, *, option: str = "allow_once") -> tuple[Json, Json]:
    """The card of a command and the event of its result."""
    thread = await desk.thread()
    turn = desk.prompt(thread, text)
    card = await desk.card()
    await desk.answer(card, option)
    await turn
    results = [event for event in await desk.ended_events(thread) if event["type"] == "toolResult"]
    return card, results[0]


@pytest.mark.parametrize("mode", ["off", "commands", "all"])
async def test_the_status_is_told(tmp_path: Path, mode: str) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed(mode=mode)) as desk:
        status = await desk.peer.request("sandbox/status", {})
    assert status["mode"] == mode
    if status["available"]:
        assert status["backend"] == "bubblewrap"
        assert {"no network", "processes end with the command"} <= set(status["holds"])
        assert any("memory" in sentence for sentence in status["holds"])
    else:
        assert (status["backend"], status["holds"], bool(status["reason"])) == ("none", [], True)


@needs_sandbox
async def test_a_command_runs_in_it_and_its_card_says_so(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", **sandboxed()) as desk:
        assert (await desk.peer.request("sandbox/status", {}))["available"]
        (desk.workspace / ".env").write_text("KEY=TOPSECRET")
        outside = tmp_path / "made"
        card, result = await result_of(desk, f"run touch inside; touch {outside}; grep -h TOP .env; true")
        assert card["preview"]["sandbox"] == {"mode": "commands", "network": "none", "hosts": []}
        assert (desk.workspace / "inside").exists()
        assert not outside.exists()
        assert "TOPSECRET" not in result["output"]
        (finished,) = [row for row in desk.rows() if row["phase"] == "finished"]
        assert finished["outcome"]["sandbox"]["backend"] == "bubblewrap"
