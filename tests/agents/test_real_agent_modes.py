"""The modes of real agents that a recipe calls stricter, offline: in each of them a call is asked about, or the agent
refuses it by itself; what is denied changes nothing, and the label stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.agents.probe.plants import allow_everything, plant, plants_of

from .recipes_under_test import AGENTS, BY_NAME, ZED_CODEX, RealAgent, parameters
from .test_real_agents import HOSTILE, LABELS, Stage, stage

__all__ = ["stage"]

pytestmark = pytest.mark.agents

ROWS = [
    pytest.param(*found.values, mode, id=f"{found.id}-{mode.rpartition('#')[2]}", marks=found.marks)
    for found in parameters(*(agent for agent in AGENTS if agent.name != "claude"))
    for mode in sorted(BY_NAME[str(found.id)].stricter)
]
TELLS_ONLY_FAILURES = ("qwen",)
"""In such a mode they refuse a call by themselves and report no more than its name and that it failed. That proves
nothing, so their label falls although nothing happened."""


@pytest.mark.parametrize("world", ["plain", "permissive settings", "hostile repository"])
@pytest.mark.parametrize(("row", "mode"), ROWS)
async def test_a_stricter_mode_lets_nothing_through(stage: Stage, row: RealAgent, mode: str, world: str):
    if world == "permissive settings":
        allow_everything(row.recipe, Path(stage.place.policy.home), stage.outside)
    elif world == "hostile repository":
        plant(plants_of(row.recipe, "hostile"), ws=stage.place.workspace, outside=stage.outside)
        if any((stage.place.workspace / name).exists() for name in HOSTILE[row.recipe]):
            pytest.skip("nothing holds this agent there")
    stage.place.person.decide = lambda card: {
        "option": "allow_once" if card.tool_call.kind == "read" else "reject_once"
    }
    await stage.play("plain")
    offered = stage.agent.offered("thread")
    assert offered is not None
    option = next((one for one in offered.options if one.option_id == "mode" or one.category == "mode"), None)
    if option is None or mode not in [choice.value for choice in option.choices or ()]:
        pytest.skip(f"{row.name} does not offer its mode {mode} here")
    await stage.agent.set_option("thread", option.option_id, mode)
    before = stage.place.digest()
    for scenario in ("write", "edit", "shell", "rm", "look"):
        start = len(stage.place.person.shown)
        await stage.play(scenario, mode="ask")
        assert stage.cards(start) or stage.told(), scenario
        assert stage.place.digest() == before, scenario
    now = {one.option_id: one.value for one in offered.options}
    assert now[option.option_id] == mode
    said = [event.message for event in stage.place.of("unpermitted") if event.certain]
    if row.name in TELLS_ONLY_FAILURES:
        assert all("and says that it failed" in each for each in said), said
        assert stage.agent.label in (LABELS[row.recipe], "unguarded")
    else:
        assert said == []
        assert stage.agent.label == LABELS[row.recipe]
    assert [path.name for path in stage.outside.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("row", parameters(ZED_CODEX))
async def test_zed_s_codex_offers_no_mode_and_its_read_only_mode_is_not_stricter(stage: Stage, row: RealAgent):
    stage.place.person.decide = lambda card: {"option": "reject_once"}
    await stage.play("date", mode="ask")
    assert stage.cards() == ["execute"]
    offered, link = stage.agent.offered("thread"), stage.agent._link
    assert offered is not None
    assert link is not None
    assert [one for one in offered.options if one.option_id == "mode" or one.category == "mode"] == []
    # Nobody can choose it here; it is set behind the desk's back, to measure it.
    session = stage.agent._threads["thread"].session_id
    await link.ask_soon("session/set_mode", {"sessionId": session, "modeId": "read-only"})
    await stage.play("date", mode="ask")
    assert stage.cards() == ["execute"]
    assert any("acted without asking" in event.message for event in stage.place.of("unpermitted"))
    assert stage.agent.label == "unguarded"
    assert BY_NAME[row.recipe].stricter == frozenset()
