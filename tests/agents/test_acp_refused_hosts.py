"""The sandbox refuses a host to a hosted agent: a card as for commands where an answer can open it, else a notice."""

from __future__ import annotations

import asyncio
import shlex
import sys
from types import SimpleNamespace

import pytest

from countersign.agents.acp.confinement import agent_may_reach
from countersign.agents.acp.recipe import STRANGER
from countersign.agents.acp.refused_hosts import OUTLIVED, grants_of_all
from countersign.settings.policy import Policy, RuleText
from tests.tools.sandbox.support import needs_sandbox

from .desk import BOUND
from .scripted_agent_fixture import Player
from .test_acp_sandbox import RULES, Stage, says, stage

__all__ = ["stage"]  # the fixture

HOST = "other.example"
FETCH = f"import urllib.request; urllib.request.urlopen('http://{HOST}/x', timeout=30)"
WANTS = says(f"{shlex.quote(sys.executable)} -c {shlex.quote(FETCH)}")
NOT_ALLOWED = (
    f"scripted: `{HOST}` is not allowed in the sandbox; set `sandbox.network` to `hosts` and list it in "
    "`sandbox.hosts` to allow it"
)


def opened(stage: Stage) -> Player:
    stage.place.change(sandbox_network="hosts")
    return stage.player([WANTS])


def notices(stage: Stage) -> list[str]:
    return [event.message for event in stage.place.of("notice") if HOST in event.message]


async def prompt(player: Player, thread: str) -> str:
    async with asyncio.timeout(BOUND * 2):
        return await player.agent.prompt("go", player.place.turn(player.name, thread=thread))


@needs_sandbox
async def test_a_refused_host_becomes_a_card_and_its_approval_opens_it_for_the_chat(stage: Stage):
    stage.place.person.decide = lambda card: {"option": "allow_once"}
    player = opened(stage)
    assert await player.play() == "end_turn"
    (card,) = stage.place.person.shown
    assert card.preview.model_dump(exclude_none=True) == {
        "kind": "host",
        "host": HOST,
        "port": 80,
        "command": "scripted",
    }
    assert [option.name for option in card.options if option.kind == "allow_once"] == ["Allow for this chat"]
    assert notices(stage) == [], "the card says it"
    assert await player.play() == "end_turn"
    assert len(stage.place.person.shown) == 1
    assert [message for message in notices(stage) if "cannot be resolved" in message], "allowed, and there is none"


@needs_sandbox
async def test_a_denied_host_stays_closed_and_is_asked_about_once_a_process(stage: Stage):
    stage.place.person.decide = lambda card: {"option": "reject_once"}
    player = opened(stage)
    for _ in range(2):
        assert await player.play() == "end_turn"
    assert len(stage.place.person.shown) == 1
    assert stage.place.gate.grants.views() == []


@needs_sandbox
@pytest.mark.parametrize("why", ["no network", "dontAsk", "plan", "nobody there", "two chats"])
async def test_where_no_answer_could_open_it_the_chat_only_tells(stage: Stage, why: str):
    player = opened(stage)
    if why == "no network":
        stage.place.change(sandbox_network="none")
    elif why == "nobody there":
        stage.place.gate.asking.present = lambda: False
    elif why == "two chats":
        player = stage.player([says("true")], [WANTS], sessions=["session-1", "session-2"])
        await prompt(player, "other")
    if why in ("dontAsk", "plan"):
        assert await player.play(mode=why) == "end_turn"
    else:
        assert await prompt(player, "thread") == "end_turn"
    assert stage.place.person.shown == []
    assert notices(stage) == [NOT_ALLOWED]


@needs_sandbox
async def test_a_stop_ends_the_card_and_the_turn(stage: Stage):
    player = opened(stage)
    turn = asyncio.create_task(player.play())
    await stage.place.person.card()
    await player.agent.cancel("thread")
    async with asyncio.timeout(BOUND):
        assert await turn == "cancelled"
    assert [state for state, _ in stage.place.person.states()] == ["cancelled"]
    assert stage.place.gate.grants.views() == []


def granted(*hosts: str) -> tuple[RuleText, ...]:
    return tuple(RuleText("allow", f"sandbox_host(host:{host})", scope="grant", agent="a") for host in hosts)


CHATS = [
    ({}, ()),
    ({"one": granted("a", "b")}, ("a", "b")),
    ({"one": granted("a", "b"), "two": granted("b")}, ("b",)),
    ({"one": granted("a"), "two": ()}, ()),
]


@pytest.mark.parametrize(("chats", "open_to"), CHATS, ids=[str(number) for number in range(len(CHATS))])
def test_a_grant_of_one_chat_opens_nothing_while_the_process_serves_another(chats: dict, open_to: tuple[str, ...]):
    book = SimpleNamespace(live=lambda *, agent, thread_id, turn_id: chats[thread_id])
    gate = SimpleNamespace(grants=book)
    policy = Policy("/w", "/h", sandbox_mode="all", sandbox_network="hosts")
    grants = grants_of_all(gate, "a", dict.fromkeys(chats))  # type: ignore[arg-type]
    may_reach = agent_may_reach(lambda: policy, lambda: grants, STRANGER, "a")
    assert tuple(host for host in ("a", "b") if may_reach(host)) == open_to


LATER = {
    "a deny rule": ({"rules": (*RULES, RuleText("deny", "Read(late.txt)"))}, [f"scripted: {OUTLIVED}"]),
    "an allow rule": ({"rules": (*RULES, RuleText("allow", "Bash(ls)"))}, []),
    "less network": ({"sandbox_network": "none"}, [f"scripted: {OUTLIVED}"]),
}


@needs_sandbox
@pytest.mark.parametrize("name", LATER)
async def test_rules_that_change_in_a_turn_are_said_to_hold_from_the_next_prompt_on(stage: Stage, name: str):
    changes, told = LATER[name]
    stage.place.change(sandbox_network="hosts")
    waits = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "waiting"}}}
    player = stage.player([waits, {"until": "cancel"}, {"stop": "cancelled"}])
    turn = await waiting_turn(stage, player)
    await player.agent.end_if_outlived()
    assert stage.place.of("notice") == [], "nothing has changed"
    stage.place.change(**changes)
    for _ in range(2):
        await player.agent.end_if_outlived()
    assert [event.message for event in stage.place.of("notice")] == told
    await stop(player, turn)
    if told:
        turn = await waiting_turn(stage, player)
        await player.agent.end_if_outlived()
        await stop(player, turn)
    starts = sum("started" in row for row in player.told())
    assert starts == (2 if told else 1)
    assert [event.message for event in stage.place.of("notice")] == told, "the new process has the new rules"


async def waiting_turn(stage: Stage, player: Player) -> asyncio.Task[str]:
    """A turn of an agent that works until it is stopped."""
    before = stage.place.texts().count("waiting")
    turn = asyncio.create_task(player.play())
    await stage.place.until(lambda: stage.place.texts().count("waiting") > before)
    return turn


async def stop(player: Player, turn: asyncio.Task[str]) -> None:
    await player.agent.cancel("thread")
    async with asyncio.timeout(BOUND):
        assert await turn == "cancelled"
