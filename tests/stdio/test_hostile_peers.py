"""A hostile agent or model server that floods: the server stays small, and another chat stays usable."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.agents import flooding_agent, flooding_model
from tests.patience import PATIENCE
from tests.stdio.desk import TURN_BOUND, Desk, Json, open_desk
from tests.stdio.peer import RpcError

MOST_MEMORY = 300
"""MB of the server, at its peak, beside one hostile peer."""
MOST_OF_ALL = 600
"""MB beside all of them at once; each of them may hold some 30."""
TURNS = 2
"""Turns of the other chat, a card each, beside the attack and after it."""


@contextmanager
def model_server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, flooding_model.__file__], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
        finally:
            child.kill()


def peak(pid: int) -> float:
    """MB that a process has taken in memory at most."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1000


def settings(folder: Path, models: str, most: int = 0, seed: str = "") -> Json:
    """Each attack as an agent; ``most`` messages of each where one agent plays all of them, mixed by the seed."""
    agents: Json = {}
    for attack in flooding_agent.ATTACKS:
        words = [flooding_agent.__file__, attack.__name__, str(folder)]
        agents[f"agent-{attack.__name__}"] = {"type": "acp", "command": sys.executable, "args": words}
    words = [flooding_agent.__file__, "together", str(folder), str(most), *([seed] if seed else [])]
    agents["agent-together"] = {"type": "acp", "command": sys.executable, "args": words}
    given: Json = {}
    for attack in flooding_model.ATTACKS:
        given[attack] = {"provider": "ollama", "model": "m", "baseUrl": f"{models}/{attack}"}
        agents[f"model-{attack}"] = {"type": "builtin", "model": attack}
    return {"user": {"agents": agents, "models": given}}


async def turn_of(desk: Desk, agent: str, bound: float = TURN_BOUND) -> None:
    """One prompt to a hostile peer, until it ends, is ended or is stopped."""
    thread = await desk.thread(agentName=agent)
    _, answer = desk.peer.start_request("thread/prompt", {"threadId": thread, "text": "go"})
    with suppress(RpcError):
        await desk.peer.result_of(answer, bound=bound)


async def chat(desk: Desk) -> None:
    """Turns of the demo model, each with a card that is answered."""
    thread = await desk.thread()
    for number in range(TURNS):
        turn = desk.prompt(thread, f"run touch made{number}")
        # Not by what it holds: other chats' cards are long, and each would be written out again and again.
        card = await desk.peer.wait_for("tool/approvalRequest", lambda card: card["threadId"] == thread)
        assert f"touch made{number}" in str(card["toolCall"]["rawInput"])
        await desk.answer(card)
        assert (await turn)["stopReason"] == "end_turn"


async def stopped(desk: Desk, attack: asyncio.Future[Any]) -> None:
    """Stop every chat and wait for the end of the attack."""
    for thread in (await desk.peer.request("thread/list", {}))["threads"]:
        desk.peer.notify("thread/cancel", {"threadId": thread["threadId"]})
    await asyncio.wait_for(attack, 2 * PATIENCE)


PEERS = [
    *(f"agent-{name}" for name in ("reads", "requests", "cards", "writes", "thoughts", "lines")),
    *(f"model-{name}" for name in ("calls", "text", "packed", "values", "line", "headers")),
]


def fill(workspace: Path) -> None:
    """Make the files that the attacks are about."""
    workspace.mkdir()
    (workspace / "long").write_text("x" * (7 << 20))
    (workspace / "text").write_text("first" + "x\n" * (3 << 19))
    with (workspace / "sparse").open("wb") as file:
        file.truncate(40 << 30)


@pytest.mark.parametrize("peer", PEERS)
async def test_a_flooding_peer_leaves_the_server_small_and_another_chat_usable(tmp_path: Path, peer: str):
    workspace = tmp_path / "ws"
    fill(workspace)
    with model_server() as models:
        given = settings(workspace, models)
        async with open_desk(workspace, tmp_path / "storage", settings=given) as desk:
            attack = asyncio.ensure_future(turn_of(desk, peer))
            await chat(desk)
            await stopped(desk, attack)
            await chat(desk)
            memory = peak(desk.peer.pid)
    assert memory < MOST_MEMORY


TOGETHER = {
    "agent": ["agent-together"] * len(flooding_agent.ATTACKS),
    "model server": [f"model-{attack}" for attack in flooding_model.ATTACKS],
}
"""One peer that plays all of its attacks at once, each in a chat of its own."""
SMALL = 8
"""Messages of each attack of that agent at most in CI; so many it can send without being ended."""
MOST = 2000
"""The same in ``make soak``: all of them, until a limit ends the agent."""


@dataclass(frozen=True)
class Flood:
    """``memory``: MB that the server took at most; ``survived``: the peer had sent everything before it was ended."""

    memory: float
    survived: bool


async def flood(folder: Path, peer: str, most: int, bound: float, seed: str = "") -> Flood:
    """Let one peer play all of its attacks at once, until it has sent them or is ended, and another chat beside it and
    after it."""
    workspace = folder / "ws"
    fill(workspace)
    with model_server() as models:
        given = settings(workspace, models, most, seed)
        async with open_desk(workspace, folder / "storage", settings=given) as desk:
            attacks = asyncio.gather(*(turn_of(desk, name, bound) for name in TOGETHER[peer]))
            await chat(desk)
            if peer == "agent":
                sent = asyncio.ensure_future(sent_all(desk, bound))
                await asyncio.wait({sent, attacks}, return_when="FIRST_COMPLETED")
                survived = sent.done()
                sent.cancel()  # else it waits for what an agent that was ended never says
            else:
                await attacks  # each ends by itself, over a limit
                survived = False
            await chat(desk)
            await stopped(desk, attacks)
            await chat(desk)
            return Flood(peak(desk.peer.pid), survived)


async def sent_all(desk: Desk, bound: float) -> None:
    """Wait until the agent has sent all that it has."""
    await desk.peer.wait_for(
        "thread/update",
        lambda update: any(event.get("text") == flooding_agent.SENT_ALL for event in update["events"]),
        bound=bound,
    )


@pytest.mark.parametrize("peer", TOGETHER)
async def test_all_attacks_of_one_peer_at_once_leave_the_server_small(tmp_path: Path, peer: str):
    seen = await flood(tmp_path, peer, SMALL, 10 * PATIENCE)
    assert seen.survived == (peer == "agent")
    assert seen.memory < MOST_MEMORY


def too_much_memory(seed: int, numbers: range) -> Iterator[str]:
    """Mix the attacks anew for each number, few or many of each, for ``make soak``. A round ends when the peer has sent
    everything or was ended by a limit."""
    for number in numbers:
        most = round(SMALL * (MOST / SMALL) ** random.Random(f"{seed} {number}").random())
        for peer in TOGETHER:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    seen = asyncio.run(flood(Path(folder), peer, most, 20 * PATIENCE, f"{seed} {number}"))
                except TimeoutError as error:
                    yield f"{number}: beside the {peer}, {most} messages of each attack: {error}"
                    continue
            if seen.memory >= MOST_MEMORY:
                yield f"{number}: the {peer}, {most} messages of each attack, took the server to {seen.memory:.0f} MB"


ALL_PEERS = [
    *(f"agent-{attack.__name__}" for attack in flooding_agent.ATTACKS),
    *(f"model-{attack}" for attack in flooding_model.ATTACKS),
]


async def test_all_flooding_peers_at_once_leave_another_chat_usable(tmp_path: Path):
    """Each wait for a card or an answer of the other chat is bounded by ``PATIENCE``."""
    workspace = tmp_path / "ws"
    fill(workspace)
    with model_server() as models:
        given = settings(workspace, models)
        async with open_desk(workspace, tmp_path / "storage", settings=given) as desk:
            attacks = asyncio.gather(*(turn_of(desk, peer) for peer in ALL_PEERS))
            await chat(desk)
            await chat(desk)
            await stopped(desk, attacks)
            await chat(desk)
            memory = peak(desk.peer.pid)
    assert memory < MOST_OF_ALL
