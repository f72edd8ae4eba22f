"""A hostile agent that forks, and one that drips: no process remains, and the next prompt starts a new one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from countersign.agents.acp import host
from countersign.agents.acp.host import AcpAgent
from countersign.settings.policy import AgentConfig
from countersign.wire.errors import AgentExit
from tests.agents import forking_agent

from .desk import BOUND, Place, until_gone

DRIP = """
import json, os, sys, time
def put(message):
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            put({"id": message["id"], "result": {"protocolVersion": 1}})
        case "session/new":
            put({"id": message["id"], "result": {"sessionId": "s"}})
        case "session/prompt" if message["params"]["prompt"][-1]["text"] == "drip":
            for byte in (json.dumps({"id": message["id"], "result": {"stopReason": "end_turn"}}) + "\\n").encode():
                os.write(1, bytes([byte]))
                time.sleep(0.002)  # so that each byte is read by itself
        case "session/prompt":
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "begins"}}
            put({"method": "session/update", "params": {"sessionId": "s", "update": update}})
            os.write(1, b'{"jsonrpc": "2.0", "id": ')
            while True:
                os.write(1, b" ")
                time.sleep(0.002)
"""


def forking(place: Place, way: str) -> tuple[AcpAgent, Path]:
    told = place.folder / "pids"
    words = (forking_agent.__file__, str(told), way)
    return place.agent(AgentConfig("forking", type="acp", command=sys.executable, args=words)), told


@pytest.mark.parametrize("way", ["exits", "answers", "goes on"])
async def test_what_an_agent_forked_ends_with_it_and_the_next_prompt_works(
    place: Place, way: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host, "STOP_SECONDS", 0.2)
    agent, told = forking(place, way)
    turning = asyncio.ensure_future(agent.prompt("fork", place.turn("forking")))
    if way == "exits":
        with pytest.raises(AgentExit):
            await asyncio.wait_for(turning, BOUND)
    elif way == "answers":
        assert await asyncio.wait_for(turning, BOUND) == "end_turn"
        await agent.close()
    else:
        await place.until(lambda: "forked" in place.texts())
        await agent.cancel("thread")
        assert await asyncio.wait_for(turning, BOUND) == "cancelled"
    pids = [int(line) for line in told.read_text().splitlines()]
    assert len(pids) == forking_agent.CHILDREN
    for pid in pids:
        await until_gone(pid)
    assert await asyncio.wait_for(agent.prompt("go", place.turn("forking")), BOUND) == "end_turn"


async def test_an_answer_that_drips_is_heard_and_one_that_never_ends_is_stopped(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host, "STOP_SECONDS", 0.2)
    agent = place.agent(AgentConfig("drip", type="acp", command=sys.executable, args=("-c", DRIP)))
    assert await asyncio.wait_for(agent.prompt("drip", place.turn("drip")), BOUND) == "end_turn"
    turning = asyncio.ensure_future(agent.prompt("never", place.turn("drip")))
    await place.until(lambda: "begins" in place.texts())
    await agent.cancel("thread")
    assert await asyncio.wait_for(turning, BOUND) == "cancelled"
    assert await asyncio.wait_for(agent.prompt("drip", place.turn("drip")), BOUND) == "end_turn"
