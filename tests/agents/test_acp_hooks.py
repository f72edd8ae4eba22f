"""An agent whose gate is its pre-tool hook: each question is judged like a request, and no answer is a refusal."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp.recipe import Hook, Recipe
from countersign.agents.acp.recipe_file import BadRecipe, parse_recipe
from countersign.settings.policy import RuleText
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import BOUND, Place

HOOK = Hook(tool="tool", input="args", session=("session", "parent"), subagent="parent", call="call",
            allow={"decision": "allow"}, deny={"decision": "deny", "why": ["{reason}"]}, seconds=BOUND * 4)  # fmt: skip
RECIPE = Recipe("hooked", "gated", fresh_shell=True, shell="bash", caveat="for tests", hook=HOOK,
                env={"HOOKS": "{gate}/hooks.json"}, files={"hooks.json": '{"command": "{hook}"}'},
                quiet=frozenset({"note"}), refuse=frozenset({"spawn"}))  # fmt: skip
RUN = {"kind": "execute", "title": "Run", "rawInput": {"command": "make"}}
WRITE = {"path": "{ws}/good.txt", "content": "x"}
APPROVE, DENY = {"option": "allow_once"}, {"option": "reject_once"}


def hook(tool: str, args: object, request_id: object = 1, *, nowait: bool = False, **more) -> dict:
    """A step: the agent runs its hook."""
    return {"hook": {"tool": tool, "args": args, **more}, "id": request_id, "nowait": nowait}


def play(place: Place, *prompts: list, recipe: Recipe = RECIPE, **more) -> Player:
    filled = json.loads(json.dumps(prompts).replace("{ws}", str(place.workspace)))
    return Player(place, *filled, recipe=recipe, gated=True, **more)


def asked_and_ran(request_id: object = 1) -> list:
    return [report("a", **RUN), hook("bash", {"command": "make"}, request_id), done("a", "it ran")]


def told(player: Player, request_id: object = 1) -> dict:
    """What the hook printed."""
    return player.answer(request_id)["hook"]


async def test_what_a_hook_asks_is_a_card_and_an_approval_lets_the_call_run(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, asked_and_ran())
    assert await player.play() == "end_turn"
    assert told(player) == {"decision": "allow"}
    card = place.person.shown[0]
    assert (card.preview.kind, card.preview.command) == ("command", "make")
    assert (card.tool_call.agent_tool_call_id, card.tool_call.title) == ("a", "Run")
    results = place.of("toolResult")
    assert [(event.success, event.output, event.decided_by) for event in results] == [(True, "it ran", "user")]
    assert [row.phase for row in place.rows()] == ["decided", "decided", "started", "finished"]
    assert (player.agent.label, place.of("unpermitted")) == ("gated", [])


async def test_a_denial_takes_its_reason_along_and_none_is_brought_later(place: Place):
    place.person.decide = lambda card: {**DENY, "reason": "use cmake"}
    player = play(place, [report("a", **RUN), hook("bash", {"command": "make"}), report("a", "failed")], [])
    assert await player.play() == "end_turn"
    assert told(player) == {"decision": "deny", "why": ["The person denied this call and said: use cmake"]}
    assert player.prompts() == ["go"]
    assert [(event.success, event.decided_by) for event in place.of("toolResult")] == [(False, "user")]
    assert player.agent.label == "gated"


async def test_a_denied_call_that_runs_all_the_same_lowers_the_label(place: Place):
    place.person.decide = lambda card: DENY
    player = play(place, [report("a", **RUN), hook("bash", {"command": "make"}),
                          report("a", "completed", rawInput={"command": "rm x"})])  # fmt: skip
    await player.play()
    assert player.agent.label == "unguarded"


async def test_a_call_that_the_hook_was_not_asked_about_lowers_the_label(place: Place):
    player = play(place, [report("a", **RUN), done("a")])
    await player.play()
    assert player.agent.label == "unguarded"


async def test_reads_ask_too_where_the_mode_says_so_and_rules_hold(place: Place):
    read = {"kind": "read", "rawInput": {"path": "{ws}/seed.txt"}}
    steps = [[report("a", **read), hook("view", {"path": "{ws}/seed.txt"}, number), done("a")] for number in (1, 2)]
    place.person.decide = lambda card: APPROVE
    player = play(place, *steps)
    await player.play(mode="ask")
    assert [card.tool_call.category for card in place.person.shown] == ["read"]
    place.change(rules=(RuleText("deny", "Read(seed.txt)"),))
    await player.play()
    assert (told(player)["decision"], told(player, 2)["decision"]) == ("allow", "deny")
    assert len(place.person.shown) == 1


async def test_a_question_that_comes_before_its_call_is_reported_joins_it(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [hook("bash", {"command": "make"}), report("a", **RUN), done("a", "it ran")])
    await player.play()
    assert [card.preview.command for card in place.person.shown] == ["make"]
    assert [event.output for event in place.of("toolResult")] == ["it ran"]
    assert (player.agent.label, place.of("unpermitted")) == ("gated", [])


async def test_of_two_same_calls_each_has_its_question(place: Place):
    place.person.decide = lambda card: APPROVE if len(place.person.shown) == 1 else DENY
    player = play(place, [report("a", **RUN), hook("bash", {"command": "make"}), done("a"), report("b", **RUN),
                          hook("bash", {"command": "make"}, 2), report("b", "failed")])  # fmt: skip
    await player.play()
    assert (told(player)["decision"], told(player, 2)["decision"]) == ("allow", "deny")
    assert [card.tool_call.agent_tool_call_id for card in place.person.shown] == ["a", "b"]
    assert player.agent.label == "gated"


async def test_one_approval_is_not_one_for_a_second_same_call(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [*asked_and_ran(), report("b", **RUN), done("b")])
    await player.play()
    assert player.agent.label == "unguarded"


async def test_a_hook_that_names_the_call_joins_by_that(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(
        place, [report("a", **RUN), report("b", **RUN), hook("bash", {"command": "make"}, call="b"), done("b")]
    )
    await player.play()
    assert [card.tool_call.agent_tool_call_id for card in place.person.shown] == ["b"]


async def test_input_may_be_json_text(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [report("a", **RUN), hook("bash", '{"command": "make"}'), done("a")])
    await player.play()
    assert (place.person.shown[0].preview.command, player.agent.label) == ("make", "gated")


async def test_tools_that_are_quiet_or_refused_need_no_card(place: Place):
    player = play(place, [hook("note", {"text": "x"}), report("n", rawInput={"text": "x"}), done("n"),
                          report("s", rawInput={"task": "x"}), hook("spawn", {"task": "x"}, 2)])  # fmt: skip
    await player.play()
    assert (told(player)["decision"], told(player, 2)["decision"]) == ("allow", "deny")
    assert "never allows this tool" in told(player, 2)["why"][0]
    assert (place.person.shown, player.agent.label) == ([], "gated")


async def test_a_sub_agent_asks_in_the_chat_of_its_session_and_so_does_a_sub_agent_of_it(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [hook("bash", {"command": "make a"}, 1, session="sub", parent="session-1"),
                          hook("bash", {"command": "make b"}, 2, session="deep", parent="sub"),
                          hook("bash", {"command": "make c"}, 3, session="other", parent="unknown")])  # fmt: skip
    await player.play()
    assert [card.preview.command for card in place.person.shown] == ["make a", "make b"]
    assert "does not know to which chat" in told(player, 3)["why"][0]


@pytest.mark.parametrize("asked", ["", "nonsense", "[]", "{}", '{"tool": 1, "session": "session-1"}',
                                   '{"tool": "bash", "args": "{", "session": "session-1"}',
                                   '{"tool": "bash", "tool": "note", "session": "session-1"}'])  # fmt: skip
async def test_a_question_that_cannot_be_read_is_refused(place: Place, asked: str):
    player = play(place, [{"hook": asked, "id": 1}])
    await player.play()
    assert player.outcome(1) == "no"
    assert place.person.shown == []


def wait_for_answer(player: Player) -> None:
    until = time.monotonic() + BOUND
    while not any(row.get("id") == 1 and "result" in row for row in player.told()):
        assert time.monotonic() < until
        time.sleep(0.01)


async def test_no_question_is_allowed_while_no_turn_runs(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [{"answer": "end_turn"}, {"until": "file"}, hook("bash", {"command": "make"})])
    await player.play()
    player.script.with_suffix(".go").touch()
    await asyncio.to_thread(wait_for_answer, player)
    assert told(player)["decision"] == "deny"


async def test_stop_refuses_what_waits(place: Place):
    player = play(place, [report("a", **RUN), hook("bash", {"command": "make"}, nowait=True), {"until": "cancel"},
                          {"await": 1}, {"stop": "cancelled"}])  # fmt: skip
    playing = asyncio.ensure_future(player.play())
    await place.person.card()
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    assert told(player)["decision"] == "deny"
    assert place.person.states() == [("cancelled", "cancel")]


async def test_a_hook_that_is_killed_takes_its_card_along(place: Place):
    player = play(place, [report("a", **RUN), {**hook("bash", {"command": "make"}), "kill": True}])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    player.script.with_suffix(".kill").touch()
    await playing
    assert [notice.approval_id for notice in place.person.ended] == [card.approval_id]
    assert player.outcome(1) == "no"


async def test_the_answer_is_a_refusal_before_the_agents_own_time_out(place: Place):
    recipe = replace(RECIPE, hook=replace(HOOK, seconds=0.05))
    player = play(place, [report("a", **RUN), hook("bash", {"command": "make"})], recipe=recipe)
    await player.play()
    assert told(player) == {"decision": "deny", "why": ["nobody answered in time"]}
    assert len(place.person.ended) == len(place.person.shown)


async def test_a_request_of_the_protocol_counts_beside_the_hook(place: Place):
    place.person.decide = lambda card: APPROVE
    player = play(place, [report("a", **RUN), ask("a"), done("a")])
    await player.play()
    assert (player.outcome(1), player.agent.label) == ("yes", "gated")


async def test_the_way_to_us_is_for_this_user_only_and_ends_with_the_agent(place: Place):
    player = play(place, [])
    await player.play()
    settings = next((place.folder / "gate").rglob("hooks.json"))
    address = Path(json.loads(settings.read_text())["command"].split()[-1])
    assert stat.S_IMODE(os.stat(address).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(address.parent).st_mode) == 0o700
    await player.agent.close()
    assert not address.parent.exists()
    # Nobody is there any more: the program refuses by itself.
    program = Path(__file__).parents[2] / "server/countersign/agents/acp/hook_program.py"
    words = [sys.executable, "-I", "-S", program, address]
    ran = await asyncio.to_thread(subprocess.run, words, input=b"{}", capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"refused" in ran.stderr


async def test_an_agent_whose_hook_cannot_reach_us_is_not_started(place: Place, monkeypatch: pytest.MonkeyPatch):
    def fail(**_: object) -> str:
        raise OSError("no room")

    monkeypatch.setattr("tempfile.mkdtemp", fail)
    player = play(place, [])
    with pytest.raises(Exception, match="its hook cannot reach us"):
        await player.play()
    assert (player.agent.state, player.told()) == ("failed", [])


def test_a_recipe_tells_its_hook():
    entry = {"tool": "t", "input": "i", "session": ["s"], "allow": {}, "deny": {}, "seconds": 5}
    assert parse_recipe({"name": "x", "label": "gated", "hook": entry}).hook == Hook("t", "i", ("s",), {}, {}, 5)
    for wrong in ({"session": []}, {"seconds": 0}, {"seconds": 3e6}, {"other": 1}):
        with pytest.raises(BadRecipe):
            parse_recipe({"name": "x", "label": "gated", "hook": {**entry, **wrong}})
