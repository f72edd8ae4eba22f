"""Fuzzing of what a hosted agent answers to us, by the schema of ACP: every answer, whole and spoiled.

``answer_faults`` plays numbered lives of an agent in this process, from its greeting to its end, with a real gate, and
yields what is wrong; for tests and for ``make soak``. ``schema_fuzz.py`` does the same for what an agent asks of us.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import acp.schema

from countersign.agents.acp import agent_process
from countersign.agents.acp.host import AcpAgent
from countersign.agents.acp.recipes import STRANGER
from countersign.settings.policy import AgentConfig
from countersign.wire.errors import AgentExit, ModelError
from countersign.wire.strict_json import is_safe
from countersign.wire.threads import StopReason
from tests.agents.desk import BOUND, Place, make_place
from tests.agents.growth import Growth
from tests.agents.hostile import SPLICES, spoiled
from tests.agents.schema_fuzz import Records, made, schema_of

ANSWERS = {
    "initialize": acp.schema.InitializeResponse,
    "session/new": acp.schema.NewSessionResponse,
    "session/set_mode": acp.schema.SetSessionModeResponse,
    "session/set_config_option": acp.schema.SetSessionConfigOptionResponse,
    "session/prompt": acp.schema.PromptResponse,
}
GOOD: dict[str, Any] = {
    "initialize": {"protocolVersion": 1},
    "session/new": {"sessionId": "s"},
    "session/prompt": {"stopReason": "end_turn"},
}
ANSWERS_PER_LIFE = 4
NOBODY = 1 << 22
"""No process has this number: it is beyond what the kernel gives out."""


class FuzzedAgent:
    """An agent in this process: our side writes to it as to a pipe, and each request is answered at once."""

    def __init__(self, chance: random.Random | None) -> None:
        self.chance = chance
        self.answers = 0
        self.stdout = asyncio.StreamReader(limit=1 << 16)
        self.stdin: Any = self
        self.pid = NOBODY
        self._gone = asyncio.Event()

    # As a writer.

    def write(self, data: bytes) -> None:
        if self._gone.is_set():
            return
        for line in data.splitlines():
            message = json.loads(line)
            if "id" in message and "method" in message:
                self.stdout.feed_data(b"".join(each + b"\n" for each in self._answer(message)))

    async def drain(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self._gone.is_set()

    def close(self) -> None:
        self.kill()

    # As a process.

    def newly_refused(self) -> tuple[()]:
        return ()

    async def wait(self) -> int:
        await self._gone.wait()
        return 0

    def kill(self) -> None:
        if not self._gone.is_set():
            self._gone.set()
            self.stdout.feed_eof()

    async def end(self) -> None:
        self.kill()

    # As an agent.

    def _answer(self, message: dict[str, Any]) -> Iterator[bytes]:
        """Some answers. The last one ends the request, however the others were."""
        self.answers += 1
        method, chance = message["method"], self.chance
        envelope = {"jsonrpc": "2.0", "id": message["id"], "result": GOOD.get(method, {})}
        if chance is not None:
            schema = schema_of(ANSWERS[method])
            result = made(schema, schema.get("$defs", {}), chance)
            if method == "initialize" and chance.random() < 0.9 and isinstance(result, dict):
                result["protocolVersion"] = 1  # else no life gets further than this
            for _ in range(chance.choice((0, 0, 1, 2))):
                result = spoiled(result, chance)
            told = {**envelope, "result": result}
            if chance.random() < 0.2:
                del told["result"]
                told["error"] = spoiled({"code": -32603, "message": "x", "data": {"details": "y"}}, chance)
            if chance.random() < 0.2:
                told = spoiled(told, chance)
            text = json.dumps(told).encode()
            if chance.random() < 0.2:
                at = chance.randrange(len(text))
                text = text[:at] + chance.choice(SPLICES) + text[at:]
            yield text
        yield json.dumps(envelope).encode()


def answer_faults(seed: int, numbers: range) -> Iterator[str]:
    """Play numbered lives: each ends in an answer or one clear error, and leaves nothing; the next start works."""
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(_answer_faults(seed, numbers, Path(folder)))


async def _answer_faults(seed: int, numbers: range, folder: Path) -> list[str]:
    faults, answers, growth = [], 0, Growth()
    place = make_place(folder)
    started: list[FuzzedAgent] = []
    chances: list[random.Random | None] = []

    async def start(*_: object) -> FuzzedAgent:
        started.append(FuzzedAgent(chances[-1]))
        return started[-1]

    try:
        with Records.kept() as records, mock.patch.object(agent_process, "start_agent_process", start):
            for number in numbers:
                chances[:] = [random.Random(f"{seed} {number}")]
                async with asyncio.timeout(BOUND):
                    found = await _life(place, chances)
                answers += sum(each.answers for each in started)
                started.clear()
                faults += [f"{number}: {fault}" for fault in (*found, *records.taken())]
                growth.look(number - numbers.start, len(numbers))
    finally:
        await place.close()
    faults += growth.faults()
    if answers < ANSWERS_PER_LIFE * len(numbers):
        faults.append(f"only {answers} answers were given")
    return faults


async def _life(place: Place, chances: list[random.Random | None]) -> list[str]:
    before = asyncio.all_tasks()
    agent = place.agent(AgentConfig("fuzzed", type="acp", command=sys.executable), recipe=STRANGER)
    place.agents.clear()
    place.events.clear()
    faults = []
    for thread in ("one", "one", "other"):
        faults += await _turn(place, agent, thread)
    # From here on it answers as it should, if it is started anew.
    chances.append(None)
    await agent.close()
    if (end := await agent.prompt("go", place.turn("fuzzed"))) != "end_turn":
        faults.append(f"the next start ended as {end}")
    await agent.close()
    if agent._link or agent._sessions or agent._threads:
        faults.append("an agent that is gone has sessions")
    if left := [task for task in asyncio.all_tasks() - before if not task.done()]:
        _, left = await asyncio.wait(left, timeout=BOUND)
        faults += [f"left running: {task}" for task in left]
    if agent._tasks:
        faults.append("an agent that is gone has tasks")
    if any(not is_safe(json.loads(event.model_dump_json())) for event in place.events):
        faults.append("an event cannot be stored")
    return faults


async def _turn(place: Place, agent: AcpAgent, thread: str) -> Iterator[str]:
    try:
        end = await agent.prompt("go", place.turn("fuzzed", thread=thread))
    except (AgentExit, ModelError) as error:
        return iter([] if str(error).isprintable() and len(str(error)) < 700 else [f"not to be shown: {error!r}"])
    return iter([] if end in get_args(StopReason) else [f"the turn ended as {end!r}"])
