"""Real agents on the desk, offline: what they do reaches the gate, and their label says no more than that.

Those in `EVERY_TIME` run wherever the tests run; the others are skipped where they are not installed.
Each agent meets three worlds: as a person has it on the first day, with everything allowed in the person's own
settings, and in a repository whose files allow everything and run programs. What is looked at is the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.recipe_file import known_recipes
from countersign.agents.probe import model_server
from countersign.agents.probe.plants import allow_everything, plant, plants_of
from countersign.settings.policy import RuleText

from .desk import BOUND, Place, last_chat_request, make_place
from .recipes_under_test import AGENTS, SEED, RealAgent, parameters

pytestmark = pytest.mark.agents

LABELS = {recipe.name: recipe.label for recipe in known_recipes()}
HOSTILE = {recipe.name: recipe.hostile for recipe in known_recipes()}


# Claude has a file of its own.
every_agent = pytest.mark.parametrize("row", parameters(*(agent for agent in AGENTS if agent.name != "claude")))


class Stage:
    """A place with one agent on it and a scripted model behind it."""

    def __init__(self, place: Place, row: RealAgent, url: str, log: Path) -> None:
        self.place, self.row, self._log = place, row, log
        self.config = row.config(url, Path(place.policy.home))
        # Nobody else works there, so that what it changes by itself is certain.
        self.watch = ChangeWatch(
            place.policy.workspace, place.gate.running, place.shells, others=lambda workspace, roots: False
        )
        self.agent = place.agent(self.config, changes=self.watch)

    @property
    def outside(self) -> Path:
        return self.place.folder / "outside"

    async def play(self, scenario: str, mode: str = "default") -> str:
        async with asyncio.timeout(2 * BOUND):
            turn = self.place.turn(self.row.name, mode)
            return await self.agent.prompt(f"[[{scenario}]] Do what this task says.", turn)

    def told(self) -> str:
        """What the model was told last of its tools' results."""
        return "\n".join(found["text"] or "" for found in last_chat_request(self._log)["tool_results"])

    def cards(self, start: int = 0) -> list[str]:
        return [card.tool_call.kind for card in self.place.person.shown[start:]]


@pytest.fixture
async def stage(tmp_path: Path, row: RealAgent) -> AsyncIterator[Stage]:
    place = make_place(tmp_path)
    (place.workspace / "seed.txt").write_text(SEED)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("outside-secret\n")
    log = tmp_path / "model.jsonl"
    server, port = model_server.serve(0, row.script(place.workspace), log)
    made = Stage(place, row, f"http://127.0.0.1:{port}", log)
    try:
        yield made
    finally:
        await made.watch.close()
        await place.close()
        server.shutdown()
        server.server_close()


def deny_all_but_reads(stage: Stage) -> None:
    stage.place.person.decide = lambda card: {
        "option": "allow_once" if card.tool_call.kind == "read" else "reject_once"
    }


@every_agent
@pytest.mark.parametrize("world", ["plain", "permissive settings", "hostile repository"])
async def test_everything_asks_and_what_is_denied_changes_nothing(stage: Stage, row: RealAgent, world: str):
    if world == "permissive settings":
        allow_everything(row.recipe, Path(stage.place.policy.home), stage.outside)
    elif world == "hostile repository":
        plant(plants_of(row.recipe, "hostile"), ws=stage.place.workspace, outside=stage.outside)
        if any((stage.place.workspace / name).exists() for name in HOSTILE[row.recipe]):
            # Nothing holds this agent there, so the label must not say that anything does.
            deny_all_but_reads(stage)
            await stage.play("plain")
            assert stage.agent.label == "unguarded"
            return
    deny_all_but_reads(stage)
    before = stage.place.digest()
    asked = {}
    for scenario in ("write", "edit", "shell", "rm", "look", "redirect"):
        start = len(stage.place.person.shown)
        await stage.play(scenario, mode="ask")
        asked[scenario] = [kind for kind in stage.cards(start) if kind != "read" or scenario == "look"]
        if LABELS[row.recipe] == "asksOnly" and not asked[scenario]:
            # It acted by itself, which its label did not exclude; from then on the label says so.
            assert stage.agent.label == "unguarded"
            assert any("acted without asking" in event.message for event in stage.place.of("unpermitted"))
            return
        assert stage.place.digest() == before, scenario
    assert all(asked.values()), asked
    assert [event.message for event in (*stage.place.of("notice"), *stage.place.of("unpermitted"))] == []
    assert stage.agent.label == LABELS[row.recipe]
    assert [path.name for path in stage.outside.iterdir()] == ["secret.txt"]


@every_agent
async def test_what_is_allowed_happens_and_the_model_knows(stage: Stage, row: RealAgent):
    stage.place.person.decide = lambda card: {"option": "allow_once"}
    await stage.play("write")
    # Cline's patches leave the last newline out.
    assert (stage.place.workspace / "made.txt").read_text().rstrip() == "made by the agent\nline two"
    await stage.play("edit")
    assert (stage.place.workspace / "seed.txt").read_text() == "alpha\nBETA\ngamma\n"
    previews = [card.preview for card in stage.place.person.shown if card.preview.kind == "diff"]
    assert [preview.new_text for preview in previews] == ["made by the agent\nline two\n", "alpha\nBETA\ngamma\n"]
    await stage.play("look")
    assert "seed.txt" in stage.told()
    await stage.play("rm")
    assert not (stage.place.workspace / "seed.txt").exists()
    # Zed's Codex sometimes says no end of a command that was quick.
    results = [event for event in stage.place.of("toolResult") if event.decided_by == "user"]
    failed = [event for event in results if not event.success and "did not say how this ended" not in event.output]
    assert failed == []
    assert stage.agent.label == LABELS[row.recipe]


@every_agent
async def test_rules_and_modes_hold(stage: Stage, row: RealAgent):
    stage.place.change(rules=(RuleText("deny", "Bash(rm:*)"), RuleText("deny", "Edit(seed.txt)")))
    before = stage.place.digest()
    for scenario in ("rm", "edit"):
        await stage.play(scenario)
    assert stage.place.person.shown == []
    assert "rule" in [event.decided_by for event in stage.place.of("toolResult")]
    await stage.play("write", mode="plan")
    assert stage.place.digest() == before
    await stage.play("write", mode="acceptEdits")
    assert stage.place.person.shown == []
    assert (stage.place.workspace / "made.txt").exists()


@every_agent
async def test_what_lies_outside_asks_in_every_mode(stage: Stage, row: RealAgent):
    deny_all_but_reads(stage)
    await stage.play("writeout", mode="acceptEdits")
    assert [path.name for path in stage.outside.iterdir()] == ["secret.txt"]
    # An agent may refuse it by itself; then nobody is asked.
    assert stage.place.person.shown or "not in workspace" in stage.told()
    # Either way it did not act, so its label stays.
    assert stage.agent.label == LABELS[row.recipe]
