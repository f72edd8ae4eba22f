"""Secrets of a hosted agent: its process alone gets them, and without them it is not started."""

from __future__ import annotations

import pytest

from countersign.settings.policy import AgentConfig
from countersign.wire.errors import AgentExit, ModelError

from .desk import Place
from .scripted_agent_fixture import Player

SECRET = "sk-agent-0123456789"


def started_with(player: Player) -> dict[str, str]:
    (started,) = [row["started"] for row in player.told() if "started" in row]
    return started["env"]


async def test_only_the_agents_process_gets_them(place: Place, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[AgentConfig, str]] = []

    async def secrets(config: AgentConfig, binding: str) -> dict[str, str]:
        asked.append((config, binding))
        return {"MY_KEY": SECRET, "PWD": "/elsewhere"}

    player = Player(place, [], env={"PLAIN": "1"}, secrets=secrets)
    assert await player.play() == "end_turn"
    found = started_with(player)
    assert (found["MY_KEY"], found["PLAIN"]) == (SECRET, "1")
    assert asked == [(player.agent.config, player.agent.binding())]
    assert SECRET not in place.shells.environment().values()
    assert SECRET not in str([event.model_dump() for event in place.events])


async def test_it_is_not_started_without_them(place: Place):
    async def secrets(config: AgentConfig, binding: str) -> dict[str, str]:
        raise ModelError("`${secret:K}` has no value yet")

    player = Player(place, [], secrets=secrets)
    with pytest.raises(AgentExit, match="has no value yet"):
        await player.play()
    assert player.told() == []
    assert player.agent.state == "failed"
    assert "has no value yet" in player.agent.detail
