"""The real Claude adapter, with its own binary, against a scripted model on loopback.

What is looked at is the disk, whole, and what the model was told; never the agent's own account of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from . import fake_llm
from .desk import Place, make_place
from .recipes_under_test import CLAUDE, SEED

pytestmark = pytest.mark.agents

STARTING = 60.0
"""Seconds that a turn may take which also starts the agent."""


class Stage:
    """A place with Claude on it and a scripted model behind it."""

    def __init__(self, place: Place, url: str, log: Path) -> None:
        self.place = place
        self.agent = place.agent(CLAUDE.config(url, Path(place.policy.home)))
        self._log = log

    async def play(self, scenario: str, mode: str = "default") -> str:
        turn = self.place.turn("claude", mode)
        async with asyncio.timeout(STARTING):
            return await self.agent.prompt(f"[[{scenario}]] Do what this task says.", turn)

    def told(self) -> list[tuple[str, bool, str]]:
        """The tool results that the model was told last: tool, whether as an error, text."""
        rows = [row for line in self._log.read_text().splitlines() if not (row := json.loads(line)).get("aux")]
        return [(found["name"], found["is_error"], found["text"]) for found in rows[-1]["tool_results"]]

    def said(self) -> list[str]:
        """Everything that a person is supposed to have said, as the model was told last."""
        return [json.loads(line) for line in self._log.read_text().splitlines()][-1]["user_texts"]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    place = make_place(tmp_path)
    (place.workspace / "seed.txt").write_text(SEED)
    (place.workspace / "sub").mkdir()
    log = tmp_path / "model.jsonl"
    server, port = fake_llm.serve(0, CLAUDE.script(place.workspace), log)
    try:
        yield Stage(place, f"http://127.0.0.1:{port}", log)
    finally:
        await place.close()
        server.shutdown()
        server.server_close()


async def test_a_write_that_was_allowed_is_on_disk_and_the_model_knows(stage: Stage):
    stage.place.person.decide = lambda card: {"option": "allow_once"}
    assert await stage.play("write") == "end_turn"
    print(stage.place.events, stage.place.person.shown)
    assert (stage.place.workspace / "made.txt").read_text() == "made by the agent\nline two\n"
