"""What was found out about pygls beforehand, each shown cured: the same probe is put to our server and to a stock one.

The answer of the stock server is written down too, so that a probe which no longer bites is noticed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.peer import BOUND, Message, Peer

HERE = Path(__file__).parent
LIMIT = 32 << 20
EXPLAIN = {"tool": "shell", "args": {}}


def ours() -> Peer:
    return Peer.python(HERE / "example_server.py")


def stock() -> Peer:
    return Peer.python(HERE / "stock_server.py")


async def answers_until_fence(peer: Peer, *, fence: str = "tool/explain") -> list[Message]:
    """Everything that the server said before it answered one more request; what has not come by then never will."""
    peer.send_raw(b"\r\n")  # in case it takes the last body for the beginning of a header
    await peer.request(fence, EXPLAIN)
    return [m for m in peer.messages if m.get("id") != peer.messages[-1].get("id")]


async def code_for(peer: Peer, method: str, params: Any) -> int | str | None:
    """The error code that a request gets, "answered" for a result, None for nothing at all."""
    message_id, _ = peer.start_request(method, params)
    said = [m for m in await answers_until_fence(peer) if m.get("id") == message_id]
    return said[0].get("error", {}).get("code", "answered") if said else None


async def bad_params(peer: Peer) -> Any:
    await peer.initialize()
    return await code_for(peer, "workspace/executeCommand", {})


async def scalar_params(peer: Peer) -> Any:
    await peer.initialize()
    return await code_for(peer, "tool/explain", 5)


async def nested_jsonrpc(peer: Peer) -> Any:
    await peer.initialize()
    args = {"jsonrpc": "2.0", "id": 9, "method": "exit"}
    _, answer = peer.start_request("tool/explain", {"tool": "shell", "args": args})
    await answers_until_fence(peer)
    return json.loads(answer.result()["result"]["reason"]) == args if answer.done() else None


async def mangled_names(peer: Peer) -> Any:
    await peer.initialize()
    result = await peer.request("tool/explain", {"tool": "shell", "args": {"class": 1, "_x": 2}})
    return json.loads(result["reason"])


async def model_as_result(peer: Peer) -> Any:
    await peer.initialize()
    return await peer.request("shell/toBackground", {"toolCallId": "c"})


async def malformed_json(peer: Peer) -> Any:
    await peer.initialize()
    peer.send_body(b'{"jsonrpc": "2.0", "id": 77, ')
    said = await answers_until_fence(peer)
    return [(m["id"], m["error"]["code"]) for m in said if "error" in m]


async def silent_client(peer: Peer) -> Any:
    """Floods a client that does not read, and asks for a sign of life on stderr."""
    await peer.initialize()
    peer.stop_reading()
    peer.start_request("shell/output", {"shellId": "s", "from": 100})
    await said_on_stderr(peer, "flooding")
    peer.notify("settings/changed", {"settings": {}, "trusted": False})
    try:
        # Ours gets all the time it needs; a busy machine can only confirm that the stock server is frozen.
        await said_on_stderr(peer, "secret from", bound=1.0 if "stock" in peer.argv[-1] else BOUND)
    except TimeoutError:
        return "frozen"
    finally:
        peer.go_on_reading()
    return "alive"


async def traceback_in_answer(peer: Peer) -> Any:
    await peer.initialize()
    _, answer = peer.start_request("thread/delete", {"threadId": "t"})
    text = json.dumps(await asyncio.wait_for(answer, BOUND))
    return [word for word in ("secret", "_server.py", "traceback") if word in text]


async def toast(peer: Peer) -> Any:
    await peer.initialize()
    peer.notify("settings/changed", {"settings": {}, "trusted": False})
    return [m["method"] for m in await answers_until_fence(peer) if "method" in m]


async def too_large(peer: Peer) -> Any:
    await peer.initialize()
    _, answer = peer.start_request("tool/explain", {"tool": "x" * LIMIT, "args": {}})
    error = (await asyncio.wait_for(answer, 4 * BOUND)).get("error", {})
    await peer.request("tool/explain", EXPLAIN)
    return error.get("code"), error.get("data")


async def header_case(peer: Peer) -> Any:
    await peer.initialize()
    body = json.dumps({"jsonrpc": "2.0", "id": "lower", "method": "tool/explain", "params": EXPLAIN}).encode()
    answer = peer.expect_answer("lower")
    peer.send_raw(b"content-type: application/vscode-jsonrpc\r\ncontent-LENGTH:%d \r\n\r\n" % len(body) + body)
    await answers_until_fence(peer)
    return answer.done()


async def stray_output(peer: Peer) -> Any:
    await peer.initialize()
    peer.notify("thread/cancel", {"threadId": "t"})
    try:
        await answers_until_fence(peer)
    except AssertionError as fault:
        peer.forgive()
        return str(fault)
    return "whole"


async def before_initialize(peer: Peer) -> Any:
    _, answer = peer.start_request("tool/explain", EXPLAIN)
    return (await asyncio.wait_for(answer, BOUND)).get("error", {}).get("code")


async def after_shutdown(peer: Peer) -> Any:
    await peer.initialize()
    await peer.request("shutdown")
    _, answer = peer.start_request("tool/explain", EXPLAIN)
    peer.notify("exit")
    await peer.exit_code()
    try:
        return (await asyncio.wait_for(answer, BOUND)).get("error", {}).get("code")
    except ConnectionResetError:
        return None


TOAST = ["window/showMessage"]
CASES = [
    ("params that do not fit are answered", bad_params, -32602, None),
    ("params that are neither object nor array are answered", scalar_params, -32600, -32603),
    ("a payload with a key jsonrpc is a payload", nested_jsonrpc, True, None),
    ("names in foreign JSON stay as they are", mangled_names, {"class": 1, "_x": 2}, {"_0": 1, "_1": 2}),
    ("our models leave in camel case", model_as_result, {"shellId": "c"}, {"shell_id": "c"}),
    ("malformed JSON is answered", malformed_json, [(None, -32700)], []),
    ("a client that does not read freezes nobody", silent_client, "alive", "frozen"),
    ("no traceback leaves", traceback_in_answer, [], ["secret", "_server.py", "traceback"]),
    ("a failing notification shows no toast", toast, [], TOAST),
    ("a message over the limit is refused and no more", too_large, (-32600, {"kind": "tooLarge"}), (None, None)),
    ("header names have no case", header_case, True, False),
    ("what others write to stdout does no harm", stray_output, "whole", "not a header: b'stray print\\n'"),
    ("nothing runs before initialize", before_initialize, -32002, None),
    ("a request after shutdown is answered", after_shutdown, -32600, None),
]  # fmt: skip

Probe = Callable[[Peer], Awaitable[Any]]


@pytest.mark.parametrize(("probe", "expected"), [pytest.param(c[1], c[2], id=c[0]) for c in CASES])
async def test_our_server_is_spared(probe: Probe, expected: Any) -> None:
    async with ours() as peer:
        assert await probe(peer) == expected


@pytest.mark.parametrize(("probe", "expected"), [pytest.param(c[1], c[3], id=c[0]) for c in CASES])
async def test_a_stock_server_is_not(probe: Probe, expected: Any) -> None:
    async with stock() as peer:
        assert await probe(peer) == expected
        peer.kill()  # stock pygls leaves at the end of input only when nothing is in its pipe


async def said_on_stderr(peer: Peer, text: str, *, bound: float = BOUND) -> None:
    await peer.wait_stderr(lambda said: text in said, bound=bound)
