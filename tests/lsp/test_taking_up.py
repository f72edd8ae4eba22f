"""What a server takes up of what an earlier one left: once, whoever starts, and under the modes that it had."""

from __future__ import annotations

import json

import pytest

from tests.gate.stateful.world import BUILTIN, NAMES, World


@pytest.fixture
def world():
    made = World()
    made.start("left")
    yield made
    made.close()


def ask(world: World, name: str, method: str, **params):
    task = world.windows[name].call(method, params)
    world.settle()
    return task.result() if task.done() else None


def cards(world: World, name: str) -> list:
    return [params for method, params in world.news(name) if method == "tool/approvalRequest"]


def prompt(world: World, *commands: str) -> str:
    thread = ask(world, "left", "thread/create", agentName=BUILTIN).thread_id
    ask(world, "left", "thread/prompt", threadId=thread, text=json.dumps(commands))
    return thread


def reload(world: World) -> None:
    world.leave("left", kill=False)
    world.forget("left")
    world.start("left")


def test_two_servers_that_start_at_once_offer_what_waited_once(world: World):
    prompt(world, "probe alpha", "probe beta")
    asked = {card.approval_id for card in cards(world, "left")}
    world.leave("left", kill=False)
    world.forget("left")
    world.start(*NAMES)
    offered = {name: {card.approval_id for card in cards(world, name)} for name in NAMES}
    assert sorted(offered.values(), key=len) == [set(), asked]
    owner = next(name for name in NAMES if offered[name])
    for approval_id in asked:
        answer = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        said = ask(world, owner, "tool/approvalResponse", approvalId=approval_id, response=answer, bypassAll=False)
        assert said.state == "allowed"
    assert sorted(world.ran) == ["probe alpha", "probe beta"]


def test_two_servers_that_start_at_once_close_what_was_open_at_a_crash_once(world: World):
    prompt(world, "probe alpha")
    world.leave("left", kill=True)
    world.forget("left")
    world.start(*NAMES)
    told = [params.state for name in NAMES for method, params in world.news(name) if method == "tool/approvalResolved"]
    assert told == ["interrupted"]
    assert [row[3:6] for row in world.new_rows()] == [("decided", "ask", "mode"), ("decided", "deny", "restart")]


def test_a_mode_that_loosened_before_a_reload_loosens_nothing_of_the_turn_after_it(world: World):
    thread = prompt(world, "probe alpha")
    cards(world, "left")
    ask(world, "left", "thread/setMode", threadId=thread, mode="auto")
    reload(world)
    (card,) = cards(world, "left")
    assert world.ran == []
    (turn,) = [pending.turn for pending in world.windows["left"].app.house.gate.asking.table]
    assert turn.modes == ["default", "auto"]
    outcome = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
    ask(world, "left", "tool/approvalResponse", approvalId=card.approval_id, response=outcome, bypassAll=False)
    assert world.ran == []


def test_a_mode_that_tightens_while_the_window_is_closed_counts_for_the_turn_that_waits(world: World):
    thread = prompt(world, "probe alpha")
    cards(world, "left")
    world.start("right")
    world.leave("left", kill=False)
    world.forget("left")
    ask(world, "right", "thread/setMode", threadId=thread, mode="plan")
    world.start("left")
    told = [(params.state, params.by) for method, params in world.news("left") if method == "tool/approvalResolved"]
    assert told == [("denied", "mode")]
    assert world.ran == []
