"""Real agents in the sandbox, offline: each starts there, asks, does what is allowed, and is labeled sandboxed."""

from __future__ import annotations

import pytest

from countersign.agents.probe.plants import plant, plants_of
from countersign.tools.sandbox.confiner import Confiner
from tests.tools.sandbox.support import needs_sandbox

from .recipes_under_test import RealAgent, parameters
from .test_real_agents import HOSTILE, LABELS, Stage, deny_all_but_reads, stage

pytestmark = [pytest.mark.agents, needs_sandbox]
__all__ = ["stage"]  # the fixture
INSIDE = {"gated": "gated", "asksOnly": "asks only"}


@pytest.mark.parametrize("world", ["plain", "hostile repository"])
@pytest.mark.parametrize("row", parameters())
async def test_it_starts_asks_and_works_in_the_sandbox(stage: Stage, row: RealAgent, world: str):
    place = stage.place
    storage = place.folder / "storage"
    storage.mkdir()
    if world == "hostile repository":
        # Its files cannot be seen there: nothing of them runs, and none keeps the agent from starting.
        plant(plants_of(row.recipe, "hostile"), ws=place.workspace, outside=stage.outside)
    # Its scripted model is a server of this machine, which the proxy reaches only where it is listed.
    place.change(sandbox_mode="all", sandbox_available=True, sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    stage.agent = place.agent(stage.config, changes=stage.watch, confiner=Confiner(storage))
    deny_all_but_reads(stage)
    before = place.digest()
    for scenario in ("write", "shell"):
        start = len(place.person.shown)
        await stage.play(scenario, mode="ask")
        assert stage.cards(start), scenario
        assert place.digest() == before, scenario
    assert [path.name for path in stage.outside.iterdir()] == ["secret.txt"]
    place.person.decide = lambda card: {"option": "allow_once"}
    await stage.play("write")
    assert (place.workspace / "made.txt").read_text().rstrip() == "made by the agent\nline two"
    await stage.play("look")
    assert "seed.txt" in stage.told()
    assert stage.agent.label == "sandboxed"
    # What the sandbox hides from it silences nothing there.
    assert f"What it does inside: {INSIDE[LABELS[row.recipe]]}" in stage.agent.detail
    hidden = any((place.workspace / name).exists() for name in HOSTILE[row.recipe])
    assert ("the sandbox hides" in stage.agent.detail) == hidden
