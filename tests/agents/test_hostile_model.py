"""A hostile model server: whatever it sends ends as pieces or as one clear error, in bounded time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from countersign.agents.drive import Drive
from countersign.agents.limits import LONGEST_TEXT, LONGEST_THOUGHT
from countersign.agents.models import answer_reader, bounded_network
from countersign.agents.models.base import (
    CallPiece,
    Message,
    Piece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolSchema,
    UserMessage,
    WantedCall,
)
from countersign.agents.models.http_answer import environment_access
from countersign.agents.models.ollama import OllamaModel
from countersign.settings.policy import ModelConfig
from countersign.tools.registry import TOOLS
from countersign.tools.tool import ToolContext
from countersign.wire.errors import ModelError

from .desk import Place
from .hostile import BOUND, READERS, model_faults
from .models.providers import PROVIDERS
from .models.providers import heard as heard_from


@asynccontextmanager
async def server(*pieces: bytes, status: str = "200 OK", headers: str = "") -> AsyncIterator[str]:
    """Answer every request with these bytes and close; yields the address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.decode().splitlines() if line.lower()[:15] == "content-length:"), 0
        )
        await reader.readexactly(length)
        try:
            writer.write(f"HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n".encode())
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass  # whoever asked has heard enough
        finally:
            writer.close()

    serving = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with serving:
        yield f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}"


async def heard(url: str) -> list[Piece]:
    model = OllamaModel(ModelConfig("m", "ollama", model="m", base_url=url), {})
    async with asyncio.timeout(BOUND):
        return [piece async for piece in model.stream("", [UserMessage("go")], [])]


def line(**message) -> bytes:
    return json.dumps({"message": message, "done": False}).encode() + b"\n"


DONE = b'{"done": true}\n'

UNREADABLE = {
    "NaN": b'{"message": {"tool_calls": [{"function": {"name": "x", "arguments": {"a": NaN}}}]}}\n',
    "1e999": b'{"message": {"tool_calls": [{"function": {"name": "x", "arguments": {"a": 1e999}}}]}}\n',
    "half of a pair": b'{"message": {"content": "\\ud800"}}\n',
    "raw surrogate bytes": b'{"message": {"content": "\xed\xa0\x80"}}\n',
    "the same key twice": b'{"message": {}, "message": {}}\n',
    "nested 400 times": b'{"message": ' + b"[" * 400 + b"]" * 400 + b"}\n",
    "nested 100,000 times": b'{"message": ' + b"[" * 100_000 + b"\n",
    "many values": b'{"a": [' + b"[]," * 150_000 + b"1]}\n",
    "no JSON": b"<html>\n",
    "no object": b"[]\n",
    "nothing": b"",
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_line_that_cannot_be_read_is_one_clear_error(data: bytes):
    async with server(data, DONE) as url:
        pieces = heard(url)
        if data:
            with pytest.raises(ModelError, match="cannot be read"):
                await pieces
        else:
            assert (await pieces)[-1] == StopPiece("end_turn")


@pytest.mark.parametrize(
    "arguments",
    ['{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', '{"a": 1, "a": 2}', "[" * 100_000, "", "[]", "7", "{"],
)
async def test_arguments_that_cannot_be_read_break_their_call_alone(arguments: str):
    async with server(line(tool_calls=[{"function": {"name": "x", "arguments": arguments}}]), DONE) as url:
        call, _usage, stop = await heard(url)
    assert isinstance(call, CallPiece)
    assert (call.call.broken is None, call.call.arguments, stop) == (False, {}, StopPiece("tool_use"))


async def test_a_line_without_end_is_an_error_once_it_is_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(answer_reader, "LONGEST_LINE", 1 << 20)
    async with server(*[b"x" * (1 << 16)] * 64) as url:
        with pytest.raises(ModelError, match="longer than 1 MiB"):
            await heard(url)


async def test_an_answer_without_end_is_an_error_once_it_is_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(answer_reader, "LONGEST_ANSWER", 1 << 20)
    async with server(*[b"\n" * (1 << 16)] * 64) as url:
        with pytest.raises(ModelError, match="longer than 1 MiB"):
            await heard(url)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("block", [b"x" * (1 << 16), b"\n" * (1 << 14) + b":" * (3 << 14), b"data: x\n" * (1 << 13)],
                         ids=["line", "empty lines", "event"])  # fmt: skip
async def test_no_provider_reads_an_answer_without_end(monkeypatch: pytest.MonkeyPatch, provider: str, block: bytes):
    monkeypatch.setattr(answer_reader, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(answer_reader, "LONGEST_ANSWER", 4 << 20)
    async with server(*[block] * 80) as url, asyncio.timeout(BOUND):
        with pytest.raises(ModelError, match=r"longer than \d MiB|cannot be read"):
            await heard_from(PROVIDERS[provider](url, environment_access({})), [])


async def test_a_packed_answer_is_not_unpacked():
    async with server(gzip.compress(b"x" * (32 << 20)), headers="content-encoding: gzip\r\n") as url:
        with pytest.raises(ModelError, match="compressed"):
            await heard(url)


@pytest.mark.parametrize("headers", ["", "content-encoding: gzip\r\n"], ids=["plain", "packed"])
async def test_the_body_of_an_error_is_read_to_its_limit(headers: str):
    body = b'{"error": "' + b"x" * (16 << 20) + b'"}'
    body = gzip.compress(body) if headers else body
    async with server(body, status="500 Bad", headers=headers) as url:
        with pytest.raises(ModelError, match="Ollama failed: `status 500`"):
            await heard(url)


async def test_the_words_of_an_error_are_visible_and_short():
    text = "\x1b[31m\u202e" + "x" * 300_000
    for data, status in ((json.dumps({"error": text[:60_000]}).encode(), "500 Bad"),
                         (json.dumps({"error": text}).encode(), "200 OK")):  # fmt: skip
        async with server(data, status=status) as url:
            with pytest.raises(ModelError) as failed:
                await heard(url)
        assert str(failed.value).isprintable()
        assert len(str(failed.value)) < 400


BROKEN = {
    "a redirect": ("302 Found", "location: http://127.0.0.1:1/\r\n", b""),
    "a redirect to itself": ("307 Again", "location: /api/chat\r\n", b""),
    "too few bytes": ("200 OK", "content-length: 1000\r\n", DONE[:5]),
    "two lengths": ("200 OK", "content-length: 5\r\ncontent-length: 6\r\n", DONE),
    "a negative length": ("200 OK", "content-length: -1\r\n", DONE),
    "a chunk of any size": ("200 OK", "transfer-encoding: chunked\r\n", b"f" * 40 + b"\r\n" + DONE),
    "a chunk size that is no number": ("200 OK", "transfer-encoding: chunked\r\n", b"zz\r\n" + DONE),
    "a chunk that breaks off": ("200 OK", "transfer-encoding: chunked\r\n", b"ff\r\n" + DONE[:5]),
    "a header without end": ("200 OK", "x: " + "y" * 300_000 + "\r\n", DONE),
    "headers without end": ("200 OK", "x: y\r\n" * 100_000, DONE),
}


@pytest.mark.parametrize(("status", "headers", "body"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_answer_is_one_clear_error(status: str, headers: str, body: bytes):
    async with server(body, status=status, headers=headers) as url:
        with pytest.raises(ModelError) as failed:
            await heard(url)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 400


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
ENDLESS = {
    "interim responses": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "interim headers": (b"", b"HTTP/1.1 103 Early\r\n" + b"x: y\r\n" * 1000 + b"\r\n"),
    "extensions of chunks": (CHUNKED, b"1;" + b"a" * 60_000 + b"\r\n\n\r\n"),
    "chunks of a byte": (CHUNKED, b"1\r\n\n\r\n" * 1000),
    "trailers": (CHUNKED + b"0\r\n", b"x: y\r\n" * 1000),
}


@pytest.mark.parametrize(("head", "block"), ENDLESS.values(), ids=ENDLESS)
async def test_what_says_nothing_is_not_received_without_end(
    head: bytes, block: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bounded_network, "MOST_RECEIVED", 1 << 18)

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(block)
                await writer.drain()

    async with await asyncio.start_server(flood, "127.0.0.1", 0) as serving:
        with pytest.raises(ModelError, match=r"headers without end|longer than|RemoteProtocolError"):
            await asyncio.wait_for(heard(f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}"), BOUND)


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
                                       b"HTTP/1.1 200 OK\r\n\r\n" + line(content="a") + b"{"],
                         ids=["nothing", "half of a head", "many heads", "half of a line"])  # fmt: skip
async def test_a_stop_ends_an_answer_that_does_not_go_on(beginning: bytes):
    asked, gone = asyncio.Event(), asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(beginning)
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        while await reader.read(1 << 16):
            pass
        writer.close()
        gone.set()

    serving = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with serving:
        hearing = asyncio.ensure_future(heard(f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}"))
        await asyncio.wait_for(asked.wait(), BOUND)
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(hearing, BOUND)
        await asyncio.wait_for(gone.wait(), BOUND)


@pytest.mark.parametrize("provider", READERS)
def test_ten_thousand_mutated_streams_are_pieces_or_a_clear_error(provider: str):
    assert list(model_faults(12, range(10_000), provider)) == []


class Scripted:
    """A model that says what it is given, and then nothing more."""

    def __init__(self, pieces: Callable[[], Sequence[Piece]]) -> None:
        self.pieces = pieces
        self.said = 0

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        for piece in self.pieces():
            self.said += 1
            yield piece


def drive(place: Place, model: Scripted) -> Drive:
    turn = replace(place.turn("agent"), resumable=True)
    return Drive(
        model=model,
        system="",
        tools={tool.name: tool for tool in TOOLS},
        gate=place.gate,
        turn=turn,
        policy=lambda: place.policy,
        bench=lambda _: ToolContext(lambda: place.policy, emit=lambda _: None),
        keep=lambda messages: None,
    )


LONG = "x" * (1 << 20)
OVER = {
    "text": [TextPiece(LONG)] * (LONGEST_TEXT // len(LONG) + 1),
    "thought": [ThinkingPiece(LONG)] * (LONGEST_THOUGHT // len(LONG) + 1),
    "calls": [CallPiece(WantedCall("c", "run_shell", {"command": "touch made"}))] * 5000,
}


@pytest.mark.parametrize("pieces", OVER.values(), ids=OVER)
async def test_a_message_over_a_limit_ends_the_turn_and_leaves_no_card(place: Place, pieces: list[Piece]):
    model = Scripted(lambda: pieces)
    with pytest.raises(ModelError, match=r"more than|longer than"):
        await drive(place, model).run([UserMessage("go")])
    assert model.said <= max(place.policy.calls_per_message, 8) + 1
    assert list(place.gate.asking.table) == []
    assert list(place.workspace.iterdir()) == []


async def test_a_stream_that_goes_on_after_its_end_is_not_heard(place: Place):
    model = Scripted(lambda: [StopPiece("end_turn"), *[TextPiece("more")] * 1000])
    assert await drive(place, model).run([UserMessage("go")]) == "end_turn"
    assert place.texts() == ""


async def test_the_name_of_a_tool_that_is_none_is_shown_short_and_visible(place: Place):
    name = "\x1b[31m" + "x" * 300_000
    messages = iter([[CallPiece(WantedCall("c", name, {})), StopPiece("tool_use")], [StopPiece("end_turn")]])
    await drive(place, Scripted(lambda: next(messages))).run([UserMessage("go")])
    (call,) = place.of("toolCall")
    assert (len(call.title), len(call.tool), call.title.isprintable()) == (200, 200, True)


async def test_long_arguments_are_whole_on_the_card_and_short_in_the_chat(place: Place):
    given = {"path": "new", "content": LONG}
    place.person.decide = lambda card: {}
    messages = iter([[CallPiece(WantedCall("c", "write_file", given)), StopPiece("tool_use")], [StopPiece("end_turn")]])
    await drive(place, Scripted(lambda: next(messages))).run([UserMessage("go")])
    (card,) = place.person.shown
    assert card.tool_call.raw_input == given
    assert (place.workspace / "new").read_text() == LONG
    shown = [event.raw_input for event in place.of("toolCall")]
    assert {each["path"] for each in shown} == {"new"}
    assert {each["content"] for each in shown} == {"x" * (1 << 14) + f"… [cut, {len(LONG)} characters]"}
