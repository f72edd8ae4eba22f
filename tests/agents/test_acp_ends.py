"""How a hosted agent's turn ends: stopped, died, returned too early; nothing stays open and nobody is left behind."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from countersign.agents.acp import host
from countersign.settings.policy import AgentConfig
from countersign.wire.approvals import ApprovalResolved
from countersign.wire.errors import AgentExit, ModelError
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import Place, until_gone

COMMAND = {"kind": "execute", "title": "make", "rawInput": {"command": "make"}}
CANCELLED = {"stop": "cancelled"}


async def test_a_stop_answers_every_open_request_with_cancelled_and_takes_the_cards_away(place: Place):
    both = [ask("a", nowait=True, **COMMAND), ask("b", 2, nowait=True, **COMMAND)]
    player = Player(place, [*both, {"await": 1}, {"await": 2}, {"until": "cancel"}, CANCELLED])
    playing = asyncio.ensure_future(player.play())
    await place.person.card(2)
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    assert (player.outcome(1), player.outcome(2)) == ("cancelled", "cancelled")
    assert place.person.states() == [("cancelled", "cancel")] * 2
    assert [event.decided_by for event in place.of("toolResult")] == ["cancel"] * 2


async def test_cancelling_the_prompt_stops_the_agent_and_is_raised_on(place: Place):
    player = Player(place, [ask("a", **COMMAND), {"until": "cancel"}, CANCELLED], [])
    playing = asyncio.ensure_future(player.play())
    await place.person.card()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert place.person.states() == [("cancelled", "cancel")]
    assert await player.play() == "end_turn"


async def test_an_agent_that_ignores_a_stop_is_killed_and_the_next_prompt_starts_it_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host, "STOP_SECONDS", 0.2)
    player = Player(place, [ask("a", **COMMAND), {"await": "never"}])
    playing = asyncio.ensure_future(player.play())
    await place.person.card()
    first = player.told()[0]["started"]["pid"]
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    await until_gone(first)
    script = json.loads((place.folder / "scripted.json").read_text()) | {"prompts": [[]]}
    (place.folder / "scripted.json").write_text(json.dumps(script))
    assert await player.play() == "end_turn"
    pids = [row["started"]["pid"] for row in player.told() if "started" in row]
    assert len(set(pids)) == 2


async def test_an_agent_that_dies_ends_its_requests_as_interrupted_at_once(place: Place):
    player = Player(place, [ask("a", nowait=True, **COMMAND), {"await": "signal"}])
    playing = asyncio.ensure_future(player.play())
    await place.person.card()
    os.kill(player.told()[0]["started"]["pid"], 9)
    with pytest.raises(AgentExit, match="has ended"):
        await playing
    assert place.person.states() == [("interrupted", "agentExit")]
    assert [event.decided_by for event in place.of("toolResult")] == ["agentExit"]
    assert player.agent.state == "exited"


async def test_a_death_that_is_noticed_twice_ends_a_call_as_its_card_ended(place: Place):
    edit = {"kind": "edit", "title": "edit", "content": [{"type": "diff", "path": str(place.workspace / "new.txt")}]}
    edit["content"][0] |= {"oldText": None, "newText": "new\n"}
    player = Player(place, [ask("a", nowait=True, **edit), {"await": "signal"}])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    session = player.agent._threads["thread"]
    again: list[asyncio.Future[None]] = []

    def resolved(notice: ApprovalResolved) -> None:
        place.person.ended.append(notice)
        again.append(asyncio.ensure_future(session.close_open(host.DIED)))

    place.person.resolved = resolved  # type: ignore[method-assign]
    os.kill(player.told()[0]["started"]["pid"], 9)
    with pytest.raises(AgentExit):
        await playing
    await asyncio.gather(*again)
    assert [
        (notice.approval_id, *state) for notice, state in zip(place.person.ended, place.person.states(), strict=True)
    ] == [(card.approval_id, "interrupted", "agentExit")]
    assert [event.decided_by for event in place.of("toolResult")] == ["agentExit"]


async def test_an_approval_that_comes_after_the_agent_died_changes_nothing(place: Place):
    player = Player(place, [ask("a", nowait=True, **COMMAND), {"await": "signal"}])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    os.kill(player.told()[0]["started"]["pid"], 9)
    with pytest.raises(AgentExit):
        await playing
    with pytest.raises(Exception, match="already"):
        await place.person.answer(card)
    assert "started" not in {row.phase for row in place.rows()}


async def test_a_call_that_runs_when_the_agent_dies_has_its_receipt_closed(place: Place):
    place.person.decide = lambda card: {"option": "allow_once"}
    player = Player(place, [ask("a", **COMMAND), {"exit": 3}])
    with pytest.raises(AgentExit):
        await player.play()
    assert [row.phase for row in place.rows()][-2:] == ["started", "finished"]
    assert [event.success for event in place.of("toolResult")] == [False]


async def test_a_prompt_that_returns_with_a_card_open_closes_it(place: Place):
    half = report("half", kind="execute", title="begun and never ended")
    player = Player(place, [half, ask("a", nowait=True, **COMMAND), ask("b", 2, **COMMAND)], [{"await": 1}])
    playing = asyncio.ensure_future(player.play())
    await deny_the_card_of("b", place)
    assert await playing == "end_turn"
    assert set(place.person.states()) == {("denied", "user"), ("interrupted", "change")}
    shown = {event.tool_call_id for event in place.of("toolCall")}
    assert sorted(shown) == sorted(event.tool_call_id for event in place.of("toolResult"))
    await player.play()
    assert player.outcome(1) == "cancelled"


async def test_a_running_call_without_a_final_status_ends_with_the_prompt(place: Place):
    place.person.decide = lambda card: {"option": "allow_once"}
    await Player(place, [ask("a", **COMMAND)]).play()
    (result,) = place.of("toolResult")
    assert (result.success, "did not say" in result.output) == (False, True)


async def test_a_request_that_the_agent_takes_back_loses_its_card(place: Place):
    take_back = {"notify": "$/cancel_request", "params": {"requestId": "req"}}
    steps = [ask("a", "req", nowait=True, **COMMAND), ask("b", 2, **COMMAND), take_back, {"await": "req"}]
    player = Player(place, steps)
    playing = asyncio.ensure_future(player.play())
    await deny_the_card_of("b", place)
    assert await playing == "end_turn"
    assert ("cancelled", "cancel") in place.person.states()
    assert player.answer("req")["code"] == -32800


async def test_an_agent_that_goes_on_without_waiting_is_told_of_and_its_card_goes(place: Place):
    player = Player(place, [ask("a", nowait=True, **COMMAND), ask("b", 2, **COMMAND), done("a"), {"await": 1}])
    playing = asyncio.ensure_future(player.play())
    await deny_the_card_of("b", place)
    assert await playing == "end_turn"
    assert "did not wait" in place.of("unpermitted")[0].message
    assert player.agent.label == "unguarded"
    assert ("interrupted", "change") in place.person.states()


async def deny_the_card_of(call_id: str, place: Place) -> None:
    """Wait for two cards and deny this one, so that what the agent does next comes after both were shown."""
    await place.person.card(2)
    card = next(card for card in place.person.shown if card.tool_call.agent_tool_call_id == call_id)
    await place.person.answer(card, "reject_once")


async def test_an_error_of_the_agent_is_a_model_error(place: Place):
    player = Player(place, [{"fail": "no credit"}])
    with pytest.raises(ModelError, match="no credit"):
        await player.play()


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (AgentConfig("gone", "acp", command="/no/such/program"), "cannot be started"),
        (AgentConfig("gone", "acp", command="true"), "ended while it was started"),
    ],
    ids=["no program", "ends at once"],
)
async def test_an_agent_that_cannot_be_started_says_so(place: Place, config: AgentConfig, told: str):
    agent = place.agent(config)
    with pytest.raises(AgentExit, match=told):
        await agent.prompt("go", place.turn("gone"))
    assert agent.state == "failed"


async def test_an_agent_of_another_protocol_is_not_used(place: Place):
    player = Player(place, [], greeting={"protocolVersion": 2})
    with pytest.raises(AgentExit, match="version 1"):
        await player.play()
    await until_gone(player.told()[0]["started"]["pid"])


async def test_closing_an_agent_ends_its_process(place: Place):
    player = Player(place, [])
    await player.play()
    pid = player.told()[0]["started"]["pid"]
    await player.agent.close()
    await until_gone(pid)
    assert player.agent.state == "exited"


async def test_noise_on_the_agents_output_is_skipped(place: Place):
    noise = [{"line": "not json"}, {"line": "[1, 2]"}, {"line": '"text"'}, {"line": ""}]
    lone = {"line": '{"jsonrpc": "2.0", "method": "session/update", "params": {"x": "\\ud800"}}'}
    player = Player(place, [*noise, lone, {"update": {"sessionUpdate": "nobody_knows"}}])
    assert await player.play() == "end_turn"
