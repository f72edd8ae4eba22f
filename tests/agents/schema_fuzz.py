"""Fuzzing of a session by the schema of ACP: every message that an agent may send a client, whole and spoiled.

``session_faults`` plays numbered turns of a hosted agent at a real gate, with a person who answers as it comes, and
yields what is wrong; for tests and for ``make soak``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import acp.schema

from countersign.agents.acp.client import Client
from countersign.agents.acp.connection import RpcError
from countersign.agents.acp.host import LEFT
from countersign.agents.acp.label_state import LabelState
from countersign.agents.acp.ndjson import TooMuch
from countersign.agents.acp.recipes import STRANGER
from countersign.agents.acp.session import Session
from countersign.gate import Workers
from countersign.wire.strict_json import is_safe, parse_json
from tests.agents.desk import BOUND, Place, make_place
from tests.agents.growth import Growth
from tests.agents.hostile import VALUES, spoiled

REQUESTS = {
    "session/request_permission": acp.schema.RequestPermissionRequest,
    "fs/read_text_file": acp.schema.ReadTextFileRequest,
    "fs/write_text_file": acp.schema.WriteTextFileRequest,
    "terminal/create": acp.schema.CreateTerminalRequest,
    "terminal/output": acp.schema.TerminalOutputRequest,
    "terminal/wait_for_exit": acp.schema.WaitForTerminalExitRequest,
    "terminal/kill": acp.schema.KillTerminalRequest,
    "terminal/release": acp.schema.ReleaseTerminalRequest,
}
NOTICES = {"session/update": acp.schema.SessionNotification, "$/cancel_request": acp.schema.CancelRequestNotification}
MESSAGES_PER_TURN = 25
WORDS: dict[str, list[Any]] = {
    "sessionId": ["s"],
    "toolCallId": ["a", "b", "c"],
    "terminalId": ["sh-1", "sh-2", ""],
    "path": ["a", "there", "dir", "../out", "~/x", "/etc/passwd", "link", "dir/../there", "", "\0", "x" * 5000],
    "cwd": [None, "/", "/nowhere", "a/b"],
    "command": ["true", "echo hi", "exit 3", "cd dir", "cat there", "$(", "'", ""],
    "optionId": ["yes", "no", "yes"],
    "rawInput": [
        {"command": "true"},
        {"path": "there"},
        {"path": "a", "content": "new"},
        {"file_path": "there", "old_string": "text", "new_string": "other"},
        {"url": "http://127.0.0.1:1/"},
        {"patch": "*** Add File: a\n+x"},
        {},
        [],
    ],
    "requestId": [0, 1, 2, "3"],
}
"""What stands under these names more often than anything."""


@cache
def schema_of(model: type) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)  # type: ignore[attr-defined]


def made(schema: dict[str, Any], definitions: dict[str, Any], chance: random.Random, name: str = "", depth: int = 0):
    """A value that fits the schema."""
    if name in WORDS and chance.random() < 0.9:
        return chance.choice(WORDS[name])
    match schema:
        case {"$ref": reference}:
            return made(definitions[reference.rpartition("/")[2]], definitions, chance, name, depth)
        case {"const": value}:
            return value
        case {"enum": values}:
            return chance.choice(values)
        case {"anyOf": choices} | {"oneOf": choices}:
            return made(chance.choice(choices), definitions, chance, name, depth)
        case {"type": "object", "properties": properties}:
            needed = schema.get("required", [])
            keep = 0.6 if depth < 4 else 0.0
            return {
                key: made(each, definitions, chance, key, depth + 1)
                for key, each in properties.items()
                if key in needed or chance.random() < keep
            }
        case {"type": "array", "items": items}:
            return [made(items, definitions, chance, name, depth + 1) for _ in range(chance.randrange(3))]
        case {"type": "string"}:
            return chance.choice(["", "text", "x\ny", "\u202e\x1b[1m", "z" * 300, "completed"])
        case {"type": "integer"} | {"type": "number"}:
            return chance.choice([0, 1, 2, -1, 10**30])
        case {"type": "boolean"}:
            return chance.random() < 0.5
        case {"type": "null"}:
            return None
        case _:
            return chance.choice(VALUES)


def message(chance: random.Random) -> tuple[str, Any]:
    """A method with its params: as the schema has them, or with a part replaced."""
    kinds = NOTICES if chance.random() < 0.4 else REQUESTS
    method = chance.choice(list(kinds))
    schema = schema_of(kinds[method])
    params = made(schema, schema.get("$defs", {}), chance)
    for _ in range(chance.choice((0, 0, 1, 2))):
        params = spoiled(params, chance)
    return method, parse_json(json.dumps(params))


def session_faults(seed: int, numbers: range) -> Iterator[str]:
    """Play numbered turns: every request is answered, nothing fails inside, nothing outlives its turn, and without a
    yes nothing is changed."""
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(_session_faults(seed, numbers, Path(folder)))


async def _session_faults(seed: int, numbers: range, folder: Path) -> list[str]:
    place, growth = make_place(folder), Growth()
    (place.workspace / "there").write_text("text")
    (place.workspace / "dir").mkdir()
    (place.workspace / "link").symlink_to("there")
    faults = []
    try:
        with Records.kept() as records:
            for number in numbers:
                chance = random.Random(f"{seed} {number}")
                async with asyncio.timeout(BOUND):
                    faults += [f"{number}: {fault}" for fault in await _turn(place, chance, allows=number % 4 == 0)]
                faults += [f"{number}: {record}" for record in records.taken()]
                place.person.forget()
                growth.look(number - numbers.start, len(numbers))
    finally:
        await place.close()
    return [*faults, *growth.faults()]


class Records(logging.Handler):
    """Keeps the errors that were logged: a traceback is a fault of ours, whatever the agent sent."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._kept: list[str] = []

    @classmethod
    @contextlib.contextmanager
    def kept(cls) -> Iterator[Records]:
        """Keep the records of this block."""
        records = cls()
        logging.getLogger("countersign").addHandler(records)
        try:
            yield records
        finally:
            logging.getLogger("countersign").removeHandler(records)

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(self.format(record)[-600:])

    def taken(self) -> list[str]:
        kept, self._kept = self._kept, []
        return kept


async def _turn(place: Place, chance: random.Random, *, allows: bool) -> list[str]:
    workers = Workers("agent")
    session = Session(
        "s", agent="agent", recipe=STRANGER, gate=place.gate, policy=lambda: place.policy, shell_registry=place.shells,
        workers=workers, labels=LabelState("agent", STRANGER, place.policy.workspace, None, lambda: None),
        tell_settings=lambda session: None, runs_bash=True,
        folder=place.policy.workspace, root=lambda: None,
    )  # fmt: skip
    answers = [None, {"option": "reject_once"}, {"option": None}, *([{}] * 3 if allows else [])]
    place.person.decide = lambda card: chance.choice(answers)
    client, before = Client("agent", {"s": session}.get), place.digest()
    shown = len(place.person.shown)
    session.begin(place.turn("agent"))
    running: list[asyncio.Task[Any]] = []
    for number in range(MESSAGES_PER_TURN):
        method, params = message(chance)
        if method in REQUESTS:
            running.append(asyncio.create_task(client.request(number, method, params)))
        else:
            with contextlib.suppress(TooMuch):
                await client.notify(method, params)
        if chance.random() < 0.1:
            session.stop()
        await asyncio.sleep(0)
    await session.end(LEFT)
    for task in running:
        task.cancel()
    results = await asyncio.gather(*running, return_exceptions=True)
    await asyncio.gather(*place.person.answering, return_exceptions=True)
    place.person.answering.clear()
    workers.close()
    # The ends of cards are written by tasks of the gate.
    await place.person.until(lambda: not list(place.gate.asking.table))
    faults = [
        f"a request ended as {result!r}"
        for result in results
        if not isinstance(result, dict | RpcError | asyncio.CancelledError)
    ]
    if session._entries or session._tasks:
        faults.append(f"left open: {session._entries} {session._tasks}")
    if not {card.approval_id for card in place.person.shown} <= {end.approval_id for end in place.person.ended}:
        faults.append("a card has no end")
    if any(not is_safe(json.loads(event.model_dump_json())) for event in place.events):
        faults.append("an event cannot be stored")
    if not allows and place.digest() != before:
        faults.append("something was changed without a yes")
    calls = {event.tool_call_id for event in place.of("toolCall")}
    if ended := [event for event in place.of("toolResult") if event.tool_call_id not in calls]:
        faults.append(f"results of calls that were never shown: {ended[:2]}")
    if over := calls - {event.tool_call_id for event in place.of("toolResult")}:
        faults.append(f"calls that seem to run for ever: {len(over)}, cards {len(place.person.shown) - shown}")
    place.events.clear()
    return faults
