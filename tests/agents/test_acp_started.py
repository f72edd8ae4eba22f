"""What an agent's calls start: a stop ends it, however it was started, and what lives on is listed and can be ended."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from countersign.tools.shell.process_tree import LINUX
from tests.agents.scripted_agent_fixture import Player, ask, done

from .desk import BOUND, Place, until_gone

pytestmark = pytest.mark.skipif(not LINUX, reason="descendants are found in /proc")

RUN = {"kind": "execute", "rawInput": {"command": "make"}}
SPAWNED = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "spawned"}}}
SLEEPS = "sleep 600"
WAYS = {
    "plainly": f"echo $$ > {{pids}}; echo; exec {SLEEPS}",
    "deaf to TERM": f"trap '' TERM; echo $$ > {{pids}}; echo; while :; do {SLEEPS} & echo $! >> {{pids}}; wait; done",
    "by a child that leaves the session": f"setsid sh -c 'echo $$ > {{pids}}; echo; exec {SLEEPS}' & wait",
    "by a fork whose parent ends": f"(setsid sh -c 'echo $$ > {{pids}}; echo; exec {SLEEPS}' &) ; exit",
}


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()]


@pytest.mark.parametrize("way", WAYS)
async def test_a_stop_ends_what_the_stopped_call_started(place: Place, way: str):
    path = place.folder / "pids"
    place.person.decide = lambda card: {"option": "allow_once"}
    spawn = {"spawn": WAYS[way].replace("{pids}", str(path))}
    player = Player(place, [ask("a", **RUN), spawn, SPAWNED, {"until": "cancel"}, {"stop": "cancelled"}])
    playing = asyncio.ensure_future(player.play())
    await place.until(lambda: place.texts() == "spawned")
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    for pid in pids(path):
        await until_gone(pid)
    assert player.agent.state == "running"


async def test_what_was_there_before_the_call_stays_and_what_lives_on_is_listed(place: Place):
    place.person.decide = lambda card: {"option": "allow_once"}
    helper, server = place.folder / "helper", place.folder / "server"
    steps = [
        {"spawn": WAYS["plainly"].replace("{pids}", str(helper))},
        ask("a", **RUN),
        {"spawn": WAYS["by a fork whose parent ends"].replace("{pids}", str(server))},
        done("a"),
    ]
    player = Player(place, steps)
    assert await player.play() == "end_turn"
    left = next(left for left in place.shells._left.values() if left.process.pid == pids(server)[0])
    view = left.view()
    assert view.command
    assert (view.state, view.background) == ("running", True)
    assert "agent" in place.shells.output(view.shell_id).text
    await place.shells.kill(view.shell_id)
    async with asyncio.timeout(BOUND):
        await left.ended.wait()
    assert left.view().state == "killed"
    assert view.shell_id not in [view.shell_id for view in place.shells.list()]
    os.kill(pids(helper)[0], 0)  # it is still there
    await until_gone(*pids(server))
