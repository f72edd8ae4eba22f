"""What a conversation promises that no real client could be brought to show: the bounds, and the order of things."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from countersign.lsp import connection as protocol_module
from countersign.lsp.base_protocol import Decoder
from countersign.lsp.pygls_server import Server, make_server
from countersign.wire.base import Empty
from countersign.wire.errors import AlreadyResolved, ClientGone, InternalError, LedgerUnavailable, ModelError
from countersign.wire.settings import SettingsUpdateParams
from countersign.wire.threads import (
    ThreadCancelParams,
    ThreadDeleteParams,
    ThreadPromptParams,
    ThreadPromptResult,
    ThreadRenameParams,
    ThreadTitled,
)

UPDATE = SettingsUpdateParams(layer="user", path=["mode"], value="plan")


class Outbox:
    """In place of a Writer: keeps what would be written."""

    def __init__(self) -> None:
        self.frames = bytearray()

    def send(self, frame: bytes) -> bool:
        self.frames += frame
        return True

    @property
    def messages(self) -> list[Any]:
        return Decoder().feed(bytes(self.frames))

    @property
    def codes(self) -> dict[Any, int]:
        return {m["id"]: m["error"]["code"] for m in self.messages if "error" in m}


async def running() -> tuple[Server, Outbox]:
    server, outbox = make_server("test", "1"), Outbox()
    server.protocol._outbox = outbox  # type: ignore[assignment]
    say(server, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
    await settled()
    assert outbox.messages[0]["id"] == 0
    return server, outbox


def say(server: Server, method: str, params: Any, message_id: int | None = None) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    server.protocol.receive([message if message_id is None else {**message, "id": message_id}])


async def settled() -> None:
    """Lets everything run that can; nothing here waits for the world."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_requests_beyond_the_bound_are_refused_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_module, "AT_ONCE", 2)
    server, outbox = await running()
    go = asyncio.Event()

    async def prompt(params: ThreadPromptParams) -> ThreadPromptResult:
        await go.wait()
        return ThreadPromptResult(stop_reason="end_turn")

    server.handle("thread/prompt", prompt)
    for message_id in (1, 2, 3):
        say(server, "thread/prompt", {"threadId": "t", "text": ""}, message_id)
    await settled()
    assert outbox.codes == {3: -32600}
    go.set()
    await settled()
    assert [m["id"] for m in outbox.messages if "result" in m] == [0, 1, 2]


async def test_handlers_begin_in_the_order_of_their_messages() -> None:
    server, _ = await running()
    begun: list[str] = []

    async def prompt(params: ThreadPromptParams) -> ThreadPromptResult:
        begun.append(params.text)
        await asyncio.sleep(0)
        return ThreadPromptResult(stop_reason="end_turn")

    def cancel(params: ThreadCancelParams) -> None:
        begun.append(f"cancel {params.thread_id}")

    server.handle("thread/prompt", prompt)
    server.handle("thread/cancel", cancel)
    say(server, "thread/prompt", {"threadId": "t", "text": "one"}, 1)
    say(server, "thread/cancel", {"threadId": "t"})
    say(server, "thread/prompt", {"threadId": "t", "text": "two"}, 2)
    await settled()
    assert begun == ["one", "cancel t", "two"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AlreadyResolved("done"), {"code": -32803, "message": "done", "data": {"kind": "alreadyResolved"}}),
        (ModelError("down"), {"code": -32803, "message": "down", "data": {"kind": "modelError"}}),
        (LedgerUnavailable("full"), {"code": -32803, "message": "full", "data": {"kind": "ledgerUnavailable"}}),
        (InternalError("a bug"), {"code": -32803, "message": "a bug", "data": {"kind": "internal"}}),
        (
            OSError(2, "no such file", "/home/me/secret"),
            {"code": -32603, "message": "`thread/delete` failed by a fault of the server; its log says why"},
        ),
    ],
)
async def test_an_exception_becomes_one_plain_error(error: Exception, expected: Any) -> None:
    server, outbox = await running()

    def fail(params: ThreadDeleteParams) -> Empty:
        raise error

    server.handle("thread/delete", fail)
    say(server, "thread/delete", {"threadId": "t"}, 1)
    await settled()
    assert outbox.messages[-1] == {"jsonrpc": "2.0", "id": 1, "error": expected}


async def test_nothing_newer_is_sent_before_an_answer() -> None:
    server, outbox = await running()
    loop = asyncio.get_running_loop()

    def tell() -> None:
        server.notify("thread/titled", ThreadTitled(thread_id="t", title="newer"))

    def rename(params: ThreadRenameParams) -> Empty:
        loop.call_soon(tell)  # what happens next, whoever brings it about
        return Empty()

    server.handle("thread/rename", rename)
    say(server, "thread/rename", {"threadId": "t", "title": "older"}, 1)
    await settled()
    assert [message.get("id") or message["method"] for message in outbox.messages[1:]] == [1, "thread/titled"]


async def test_a_result_that_is_not_json_is_an_error_and_not_silence() -> None:
    server, outbox = await running()
    server.feature("test/free")(lambda params: {"value": float("nan")})
    say(server, "test/free", {}, 1)
    await settled()
    assert outbox.codes == {1: -32603}


async def test_nobody_is_asked_once_the_end_has_begun() -> None:
    server, outbox = await running()
    with pytest.raises(ClientGone):
        await server.request("settings/update", UPDATE)
    assert not server.connected
    assert [m for m in outbox.messages if m.get("method") == "settings/update"] == []


async def test_shutdown_waits_for_the_farewell_and_refuses_what_comes_after() -> None:
    server, outbox = await running()
    may_go = asyncio.Event()

    async def farewell() -> None:
        await may_go.wait()

    server.on_shutdown(farewell)
    say(server, "shutdown", None, 1)
    say(server, "thread/list", {}, 2)
    await settled()
    assert [m["id"] for m in outbox.messages] == [0, 2]
    assert outbox.codes == {2: -32600}
    may_go.set()
    await settled()
    assert outbox.messages[-1] == {"jsonrpc": "2.0", "id": 1, "result": None}


async def test_a_farewell_that_fails_does_not_stop_the_next() -> None:
    server, _ = await running()
    said: list[str] = []

    async def fails() -> None:
        raise RuntimeError("no")

    async def says() -> None:
        said.append("farewell")

    server.on_shutdown(fails)
    server.on_shutdown(says)
    say(server, "shutdown", None, 1)
    await settled()
    assert said == ["farewell"]
