"""A hostile agent and a hostile model server in this process, and fuzzing of what they send.

``agent_faults`` and ``model_faults`` look at numbered rounds and yield what is wrong, for tests and for ``make soak``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from types import ModuleType

from countersign.agents.acp.connection import Connection
from countersign.agents.acp.ndjson import Pipe
from countersign.agents.models import anthropic, gemini, ollama, openai_chat, openai_responses
from countersign.agents.models.answer_reader import event_objects, json_lines
from countersign.agents.models.base import CallPiece, Piece, ReplayPiece, TextPiece, ThinkingPiece
from countersign.agents.models.endpoint import endpoint
from countersign.agents.probe import wire_formats
from countersign.agents.probe.turn import Turn
from countersign.wire.errors import ModelError
from countersign.wire.strict_json import is_safe
from tests.patience import PATIENCE

from .growth import Growth

BOUND = PATIENCE
"""Seconds until a test gives up; what takes longer hangs."""
SLOW = 1.0
"""Seconds of the processor that a hundred messages, or one stream, may take; what waits is bounded by ``BOUND``."""


class Agent:
    """The other end of a pipe in this process: raw bytes in, parsed lines out."""

    def __init__(self, on_request=None) -> None:
        self.requests: list[tuple] = []
        self.notices: list[tuple] = []
        self.on_request = on_request

    async def __aenter__(self) -> Agent:
        read_end, write_end = os.pipe()
        self._from_us, to_agent = os.pipe()
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 16)
        self._transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb")
        )
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(to_agent, "wb")
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        self._say, _ = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(write_end, "wb")
        )
        self.heard = asyncio.StreamReader(limit=1 << 26)
        self._hear, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.heard), os.fdopen(self._from_us, "rb")
        )
        self.pipe = Pipe(reader, writer)
        self.connection = Connection("agent", self.pipe, self._request, self._notice)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._say.close()
        await self.connection.close()
        self._hear.close()
        self._transport.close()

    def say(self, *lines: bytes) -> None:
        self._say.write(b"".join(line + b"\n" for line in lines))

    async def answer(self) -> dict:
        async with asyncio.timeout(BOUND):
            return json.loads(await self.heard.readline())

    async def settle(self) -> None:
        """Wait until everything that was said is taken: requests are answered in their order of arrival."""
        self.say(b'{"jsonrpc":"2.0","id":"settled","method":"settle"}')
        while (await self.answer()).get("id") != "settled":
            pass

    async def _request(self, request_id, method, params):
        self.requests.append((request_id, method, params))
        if self.on_request is not None and method != "settle":
            return await self.on_request(method)
        return {}

    async def _notice(self, method, params) -> None:
        self.notices.append((method, params))


MESSAGES = [
    {"jsonrpc": "2.0", "id": 0, "result": {"stopReason": "end_turn"}},
    {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "x", "data": {"details": "y"}}},
    {"jsonrpc": "2.0", "id": "a", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a", "line": 1}},
    {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}},
]
VALUES = [None, True, 0, -1, 1.5, 10**200, "", "x", "\x00", "\u202e", [], {}, [[]], {"a": []}, "x" * 5000]


def spoiled(value, chance: random.Random):
    """The value with some part of it replaced by something else."""
    if not isinstance(value, dict) or not value or chance.random() < 0.2:
        return chance.choice(VALUES)
    key = chance.choice(list(value))
    match chance.randrange(3):
        case 0:
            return {name: each for name, each in value.items() if name != key}
        case 1:
            return {**value, chance.choice(list(value)): chance.choice(VALUES)}
        case _:
            return {**value, key: spoiled(value[key], chance)}


def said(**message) -> bytes:
    return json.dumps({"message": message, "done": False}).encode() + b"\n"


async def ollama_pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[Piece]:
    async for piece in ollama._pieces(json_lines(chunks, "Ollama")):
        yield piece


def event_pieces(provider: ModuleType) -> Callable[[AsyncIterator[bytes]], AsyncIterator[Piece]]:
    at = endpoint("a server", "entry", "m", "http://127.0.0.1:1")
    return lambda chunks: provider._pieces(event_objects(chunks, at.vendor), at)


def events_of(api: str, write: Callable) -> list[bytes]:
    """The stream of one answer with everything in it, event by event."""
    tools = [{"name": "read_file", "args": {"path": "a", "n": 1.5}}, {"name": "x", "args": {}}]
    reply = {"thinking": "hm", "text": "hello", "tools": tools, "chunk": 4}
    pieces, _ = write(Turn(api, "m", stream=True), reply)
    return list(pieces)


READERS: dict[str, Callable[[AsyncIterator[bytes]], AsyncIterator[Piece]]] = {
    "ollama": ollama_pieces,
    "anthropic": event_pieces(anthropic),
    "openai-chat": event_pieces(openai_chat),
    "openai-responses": event_pieces(openai_responses),
    "gemini": event_pieces(gemini),
}
EVENTS = {
    "anthropic": events_of("anthropic", wire_formats.write_anthropic),
    "openai-chat": events_of("openai-chat", wire_formats.write_chat),
    "openai-responses": events_of("openai-responses", wire_formats.write_responses),
    "gemini": events_of("gemini", wire_formats.write_gemini),
}


def stream_of(provider: str, chance: random.Random) -> bytes:
    """A stream of the provider with a few of its parts spoiled."""
    if provider == "ollama":
        return chance.choice(LINES) + mutated(chance)
    events = list(EVENTS[provider])
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(events))
        head, mark, data = events[at].partition(b"data: ")
        match chance.randrange(4):
            case 0:
                events[at] = head + mark + damaged(data, chance)
            case 1:
                del events[at]
                events = events or [b"\n"]
            case 2:
                events.insert(at, chance.choice(events))
            case _ if data.startswith(b"{"):
                with suppress(ValueError):  # it was spoiled before
                    events[at] = head + mark + json.dumps(spoiled(json.loads(data), chance)).encode() + b"\n\n"
    return b"".join(events)


LINES = [
    said(content="hello"),
    said(thinking="hm"),
    said(tool_calls=[{"id": "1", "function": {"name": "read_file", "arguments": {"path": "a", "n": 1.5}}}]),
    said(tool_calls=[{"function": {"name": "x", "arguments": '{"path": "a"}'}}]),
    b'{"done": true, "done_reason": "length", "prompt_eval_count": 3, "eval_count": 4}\n',
    b'{"error": "out of memory"}\n',
]
SPLICES = [b"NaN", b"1e999", b"\\ud800", b"\xed\xa0\x80", b'"', b"{", b"}", b"[", b"]", b"null", b"-1", b"\n", b"\0",
           b"[" * 200, b"9" * 400, b'"message":', b'"tool_calls":', b'"function":', b'{"a":1,"a":2}']  # fmt: skip


def mutated(chance: random.Random) -> bytes:
    return damaged(chance.choice(LINES), chance)


def damaged(text: bytes, chance: random.Random) -> bytes:
    data = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
        match chance.randrange(3):
            case 0:
                data[at:at] = chance.choice(SPLICES)
            case 1:
                data[at : min(to, at + 8)] = chance.choice(SPLICES)
            case _:
                data[at : min(to, at + 20)] = b""
    return bytes(data)


async def one_at_a_time(data: bytes, chance: random.Random) -> AsyncIterator[bytes]:
    at = 0
    while at < len(data):
        step = chance.choice((1, 7, 64, 4096))
        yield data[at : at + step]
        at += step


def agent_faults(seed: int, numbers: range) -> Iterator[str]:
    """Send spoiled messages to a connection, a hundred at a time, and look whether it goes on as before."""
    yield from asyncio.run(_agent_faults(seed, numbers))


async def _agent_faults(seed: int, numbers: range) -> list[str]:
    faults, growth = [], Growth()
    async with Agent() as agent:
        for start in numbers[::100]:
            chance = random.Random(f"{seed} {start}")
            agent.say(*[json.dumps(spoiled(chance.choice(MESSAGES), chance)).encode() for _ in range(99)])
            began = time.process_time()
            await agent.settle()
            if time.process_time() - began > SLOW:
                faults.append(f"{start}: a hundred messages took {time.process_time() - began:.1f} s")
            if agent.pipe.ended.is_set() or agent.connection._running or agent.connection._asked:
                faults.append(f"{start}: the connection has ended, or holds what is over")
            if not all(is_safe([request_id, params]) for request_id, _, params in agent.requests):
                faults.append(f"{start}: a request holds what cannot be stored")
            agent.requests.clear()
            agent.notices.clear()
            growth.look((start - numbers.start) // 100, len(numbers) // 100)
    return [*faults, *growth.faults()]


def model_faults(seed: int, numbers: range, provider: str = "ollama") -> Iterator[str]:
    """Read mutated streams of a model server: each gives safe pieces, or one clear error, in time."""
    yield from asyncio.run(_model_faults(seed, numbers, provider))


async def _model_faults(seed: int, numbers: range, provider: str) -> list[str]:
    faults, taken, refused, growth = [], 0, 0, Growth()
    for number in numbers:
        chance = random.Random(f"{seed} {number}")
        data, began = stream_of(provider, chance), time.process_time()
        try:
            async for piece in READERS[provider](one_at_a_time(data, chance)):
                taken += 1
                if isinstance(piece, CallPiece) and not is_safe(dict(piece.call.arguments)):
                    faults.append(f"{number}: arguments that cannot be stored")
                if isinstance(piece, ReplayPiece) and not is_safe(list(piece.replay.blocks)):
                    faults.append(f"{number}: blocks that cannot be stored")
                if isinstance(piece, TextPiece | ThinkingPiece) and not is_safe(piece.text):
                    faults.append(f"{number}: a text that cannot be stored")
        except ModelError as error:
            refused += 1
            if not str(error).isprintable() or len(str(error)) > 500:
                faults.append(f"{number}: an error that cannot be shown")
        if time.process_time() - began > SLOW:
            faults.append(f"{number}: took {time.process_time() - began:.1f} s")
        growth.look(number - numbers.start, len(numbers))
    faults += growth.faults()
    if left := asyncio.all_tasks() - {asyncio.current_task()}:
        faults.append(f"left running: {left}")
    if len(numbers) >= 1000 and not taken > len(numbers) // 10 < refused:
        faults.append(f"the streams are all alike: {taken} pieces, {refused} errors")
    return faults
