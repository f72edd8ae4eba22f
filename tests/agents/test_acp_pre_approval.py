"""When the approval of a hosted agent's request ends: what it covered asks again, or is refused, from then on.

Each way to use an approval (a write, a read outside the workspace, a command) meets each way in which it may end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from countersign.gate.turn import Turn
from countersign.settings.policy import RuleText
from countersign.wire.errors import AgentExit
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import BOUND, Place

USE = "use"
SAY = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "said"}}}
"""A step: tell the test that the script has come so far."""


@dataclass(frozen=True)
class Door:
    """One way to use an approval: the request that is approved, the use of it, and whether the use had its effect."""

    name: str
    request: Callable[[Place], dict]
    use: Callable[[Place], dict]
    happened: Callable[[Place, Player], bool]
    deny_rule: str


def outside(place: Place) -> Path:
    path = place.folder / "outside.txt"
    path.write_text("outside\n")
    return path


def target(place: Place) -> Path:
    return place.workspace / "a.txt"


def told_content(player: Player) -> bool:
    return "content" in player.answer(USE)


DOORS = [
    Door(
        "write",
        lambda place: {"kind": "edit", "title": "Write", "rawInput": {"file_path": str(target(place)), "content": "x"}},
        lambda place: {"ask": "fs/write_text_file", "id": USE, "params": {"path": str(target(place)), "content": "x"}},
        lambda place, player: target(place).exists(),
        "Edit(a.txt)",
    ),
    Door(
        "read",
        lambda place: {"kind": "read", "title": "Read", "rawInput": {"path": str(outside(place))}},
        lambda place: {"ask": "fs/read_text_file", "id": USE, "params": {"path": str(place.folder / "outside.txt")}},
        lambda place, player: told_content(player),
        "Read(//**)",
    ),
    Door(
        "run",
        lambda place: {"kind": "execute", "title": "Run", "rawInput": {"command": "touch a.txt"}},
        lambda place: {"ask": "terminal/create", "id": USE, "params": {"command": "touch a.txt"}},
        lambda place, player: bool(place.shells.list()) or target(place).exists(),
        "Bash(touch:*)",
    ),
]
every_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)


async def said(place: Place) -> None:
    await place.until(lambda: "said" in place.texts())


def allow_requests(place: Place) -> None:
    """Allow what the agent asks about by itself, deny what it asks about by acting."""
    place.person.decide = lambda card: {"option": "allow_once" if card.tool_call.agent_tool_call_id else "reject_once"}


@every_door
async def test_an_approval_covers_the_use_while_nothing_has_ended_it(place: Place, door: Door):
    allow_requests(place)
    exits = {"ask": "terminal/wait_for_exit", "id": 8, "params": {"terminalId": "shell-1"}}
    player = Player(place, [ask("a", **door.request(place)), door.use(place), exits, done("a")])
    await player.play()
    assert door.happened(place, player)
    assert len(place.person.shown) == 1


@every_door
async def test_an_approval_ends_with_a_stop(place: Place, door: Door):
    allow_requests(place)
    steps = [ask("a", **door.request(place)), SAY, {"until": "cancel"}, door.use(place), {"stop": "cancelled"}]
    player = Player(place, steps)
    playing = asyncio.ensure_future(player.play())
    await said(place)
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    assert not door.happened(place, player)
    assert player.answer(USE)["code"] == -32000


@every_door
async def test_an_approval_ends_with_the_turn(place: Place, door: Door):
    allow_requests(place)
    steps = [ask("a", **door.request(place)), {"answer": "end_turn"}, door.use(place), SAY]
    player = Player(place, steps)
    await player.play()
    await said(place)
    assert not door.happened(place, player)
    assert player.answer(USE)["code"] == -32000


@every_door
async def test_an_approval_of_one_turn_covers_nothing_in_the_next(place: Place, door: Door):
    allow_requests(place)
    player = Player(place, [ask("a", **door.request(place))], [door.use(place)])
    await player.play()
    await player.play()
    assert not door.happened(place, player)
    assert len(place.person.shown) == 2


@every_door
@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_an_approval_ends_with_the_final_status(place: Place, door: Door, status: str):
    allow_requests(place)
    player = Player(place, [ask("a", **door.request(place)), report("a", status), door.use(place)])
    await player.play()
    assert not door.happened(place, player)
    assert len(place.person.shown) == 2


@every_door
@pytest.mark.parametrize("status", ["completed", "failed"])
@pytest.mark.parametrize("more", [[], [done("a")]], ids=["silent", "ended again"])
async def test_a_request_for_a_call_that_has_ended_gives_no_credit(place: Place, door: Door, status: str, more: list):
    allow_requests(place)
    player = Player(place, [ask("a", status=status, **door.request(place)), *more, door.use(place)])
    await player.play()
    assert not door.happened(place, player)
    assert len(place.person.shown) == 2


@every_door
async def test_a_request_for_a_call_that_was_reported_as_ended_gives_no_credit(place: Place, door: Door):
    allow_requests(place)
    said = door.request(place)
    player = Player(place, [report("a", "failed", **said), ask("a", **said), door.use(place)])
    await player.play()
    assert not door.happened(place, player)
    assert len(place.person.shown) == 2


def deny_by_rule(place: Place, door: Door, turn: Turn) -> None:
    place.change(rules=(RuleText("deny", door.deny_rule, scope="user"),))


def plan_mode(place: Place, door: Door, turn: Turn) -> None:
    turn.tighten("plan")


@pytest.mark.parametrize(
    ("door", "tighten"),
    [*((door, deny_by_rule) for door in DOORS), *((door, plan_mode) for door in DOORS if door.name != "read")],
    ids=lambda value: getattr(value, "name", None) or value.__name__,
)
async def test_what_tightens_after_the_approval_counts_when_it_is_used(place: Place, door: Door, tighten):
    allow_requests(place)
    player = Player(place, [ask("a", **door.request(place)), SAY, {"until": "cancel"}, door.use(place), done("a")])
    turn = place.turn(player.name)
    playing = asyncio.ensure_future(player.agent.prompt("go", turn))
    await said(place)
    tighten(place, door, turn)
    place.gate.changed()
    await player.agent._link.tell("session/cancel", {"sessionId": "session-1"})
    async with asyncio.timeout(BOUND):
        await playing
    assert not door.happened(place, player)
    assert player.answer(USE)["code"] == -32000
    assert "deny" in {row.verdict for row in place.rows()}


async def test_a_rule_about_a_link_that_leads_to_the_approved_file_counts_at_use(place: Place):
    allow_requests(place)
    (place.workspace / "real").mkdir()
    (place.workspace / "link").symlink_to(place.workspace / "real")
    place.change(rules=(RuleText("deny", "Edit(link/**)", scope="user"),))
    request = {"kind": "edit", "title": "Write",
               "rawInput": {"file_path": str(place.workspace / "real" / "a.txt"), "content": "x"}}  # fmt: skip
    through = {"path": str(place.workspace / "link" / "a.txt"), "content": "x"}
    player = Player(place, [ask("a", **request), {"ask": "fs/write_text_file", "id": USE, "params": through}])
    await player.play()
    assert player.answer(USE)["code"] == -32000
    assert not (place.workspace / "real" / "a.txt").exists()


async def test_no_card_outlives_the_turn_and_none_appears_after_it(place: Place):
    request = DOORS[0].request(place)
    asks = [ask(f"a{number}", f"a{number}", nowait=True, **request) for number in range(60)]
    doors = [
        {**door.use(place), "id": f"{door.name}{number}", "nowait": True} for number in range(20) for door in DOORS
    ]
    more = [ask(f"b{number}", f"b{number}", nowait=True, **request) for number in range(60)]
    player = Player(place, [*asks, *doors[:30], {"answer": "end_turn"}, *more, *doors[30:], {"quiet": True}, SAY])
    await player.play()
    assert list(place.gate.asking.table) == []
    every = [f"a{number}" for number in range(60)] + [f"b{number}" for number in range(60)]
    await said(place)
    assert list(place.gate.asking.table) == []
    assert {card.approval_id for card in place.person.shown} <= {end.approval_id for end in place.person.ended}
    assert {player.outcome(number) for number in every} == {"cancelled"}
    assert list(place.workspace.iterdir()) == []


async def test_a_session_id_in_use_is_a_protocol_error_and_changes_nothing(place: Place):
    player = Player(place, [], [DOORS[0].use(place)], sessions=["session-1", "session-1"])
    await player.play()
    session = player.agent._threads["thread"]
    with pytest.raises(AgentExit, match="session id"):
        await player.agent.prompt("go", place.turn(player.name, "auto", thread="other"))
    assert player.agent._threads == {"thread": session}
    assert player.agent._sessions == {"session-1": session}
    place.person.decide = lambda card: {"option": "reject_once"}
    await player.play(mode="ask")
    assert player.answer(USE)["code"] == -32000
    assert not target(place).exists()


async def test_a_call_under_an_unknown_session_id_is_refused(place: Place):
    use = DOORS[0].use(place)
    unknown = {**use, "params": {**use["params"], "sessionId": "another"}}
    player = Player(place, [unknown])
    await player.play(mode="auto")
    assert player.answer(USE)["code"] == -32602
    assert not target(place).exists()


async def test_an_agent_that_wrote_the_approved_text_itself_may_tell_us_to_write_it(place: Place):
    allow_requests(place)
    path = target(place)
    asked = ask("a", kind="edit", title="Write", rawInput={"filePath": str(path), "content": "x\n"})
    use = {"ask": "fs/write_text_file", "id": USE, "params": {"path": str(path), "content": "x\n"}}
    player = Player(place, [asked, {"write": [str(path), "x\n"]}, use, done("a")])
    await player.play()
    assert player.answer(USE) == {}
    assert len(place.person.shown) == 1
    assert [event.success for event in place.of("toolResult")] == [True]


async def test_an_agent_that_wrote_another_text_itself_is_asked_about(place: Place):
    allow_requests(place)
    path = target(place)
    asked = ask("a", kind="edit", title="Write", rawInput={"filePath": str(path), "content": "x\n"})
    use = {"ask": "fs/write_text_file", "id": USE, "params": {"path": str(path), "content": "x\n"}}
    player = Player(place, [asked, {"write": [str(path), "other\n"]}, use, done("a")])
    await player.play()
    assert player.answer(USE)["code"] == -32000
    assert path.read_text() == "other\n"
    assert len(place.person.shown) == 2


async def test_a_request_of_another_shape_than_the_call_shows_the_change_and_gives_credit(place: Place):
    """As OpenCode asks: its call holds the content, its request a diff; then it writes through us."""
    allow_requests(place)
    path = target(place)
    said = report("a", "in_progress", kind="edit", rawInput={"filePath": str(path), "content": "x\n"})
    diff = f"--- {path}\n+++ {path}\n@@ -0,0 +1,1 @@\n+x\n"
    use = {"ask": "fs/write_text_file", "id": USE, "params": {"path": str(path), "content": "x\n"}}
    steps = [report("a", kind="edit"), said, ask("a", kind="edit", rawInput={"filepath": str(path), "diff": diff}), use]
    player = Player(place, [*steps, done("a")])
    await player.play()
    assert path.read_text() == "x\n"
    assert [card.preview.kind for card in place.person.shown] == ["diff"]
