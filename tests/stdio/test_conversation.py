"""How a conversation goes with a server on our bridge: answers, cancellation, our own requests, and the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from countersign.lsp.base_protocol import Decoder, encode
from countersign.lsp.pygls_server import make_server
from countersign.wire.base import Empty
from countersign.wire.errors import InternalError
from tests.stdio.peer import BOUND, Peer, RpcError

EXPLAIN = {"tool": "shell", "args": {}}
UNTRUSTED: dict[str, Any] = {"settings": {}, "trusted": False}
TRUSTED: dict[str, Any] = {"settings": {}, "trusted": True}


def example() -> Peer:
    return Peer.python(Path(__file__).parent / "example_server.py")


async def error_of(peer: Peer, method: str, params: Any) -> tuple[int, str, Any]:
    with pytest.raises(RpcError) as caught:
        await peer.request(method, params)
    return caught.value.code, caught.value.message, caught.value.data


# -- errors


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("no/such", {}, (-32601, "there is no method `no/such`", None)),
        ("tool/approvalRequest", {}, (-32601, "there is no method `tool/approvalRequest`", None)),
        ("$/unknown", {}, (-32601, "there is no method `$/unknown`", None)),
        ("tool/explain", {}, (-32602, "the params of `tool/explain` do not fit; look at `tool`", None)),
        ("tool/explain", None, (-32602, "the params of `tool/explain` do not fit; look at `tool`", None)),
        ("tool/explain", [], (-32602, "the params of `tool/explain` do not fit; look at `the whole`", None)),
        ("shell/output", {"shellId": "s", "from": "1"},
         (-32602, "the params of `shell/output` do not fit; look at `from`", None)),
        ("shell/output", {"shell_id": "s", "from": 1},
         (-32602, "the params of `shell/output` do not fit; look at `shellId`", None)),
        ("workspace/executeCommand", {"command": "no"},
         (-32602, "the params of `workspace/executeCommand` do not fit", None)),
        ("thread/delete", {"threadId": "unknown"},
         (-32803, "there is no chat `unknown`", {"kind": "unknownThread"})),
        ("thread/delete", {"threadId": "boom"},
         (-32603, "`thread/delete` failed by a fault of the server; its log says why", None)),
        ("grant/revoke", {"grantId": "g"},
         (-32803, "`grant/revoke` was answered with dict, not Empty", {"kind": "internal"})),
        ("initialize", {"processId": None, "rootUri": None, "capabilities": {}},
         (-32600, "the server is initialized already", None)),
    ],
)  # fmt: skip
async def test_an_error_is_a_plain_sentence(method: str, params: Any, expected: tuple[int, str, Any]) -> None:
    async with example() as peer:
        await peer.initialize()
        assert await error_of(peer, method, params) == expected


async def test_the_log_has_what_the_client_is_not_told() -> None:
    async with example() as peer:
        await peer.initialize()
        await error_of(peer, "thread/delete", {"threadId": "boom"})
        peer.notify("settings/changed", UNTRUSTED)
        said = await peer.wait_stderr(lambda text: text.count("secret from") >= 2)
        assert "Traceback" in said


async def test_the_id_of_a_running_request_is_not_taken_twice() -> None:
    async with example() as peer:
        await peer.initialize()
        message_id, first = peer.start_request("thread/prompt", {"threadId": "t", "text": "x"})
        await peer.wait_for("thread/update")
        peer.send({"jsonrpc": "2.0", "id": message_id, "method": "tool/explain", "params": EXPLAIN})
        refused = await asyncio.wait_for(first, BOUND)
        assert refused["error"]["code"] == -32600


# -- before and after


async def test_what_comes_during_initialize_waits_for_it() -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(params: Any) -> None:
        asked.set()
        await may_answer.wait()

    async with example() as peer:
        peer.on_request["window/showMessageRequest"] = answer
        params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": {"ask": True}}
        _, initialized = peer.start_request("initialize", params)
        await asyncio.wait_for(asked.wait(), BOUND)
        _, explained = peer.start_request("tool/explain", EXPLAIN)
        assert not initialized.done()
        may_answer.set()
        assert "capabilities" in await peer.result_of(initialized)
        assert (await peer.result_of(explained))["decision"] == "ask"
        assert [m["id"] for m in peer.messages if "result" in m] == [1, 2]


async def test_a_failed_initialize_may_be_tried_again() -> None:
    async with example() as peer:
        with pytest.raises(RpcError) as caught:
            await peer.initialize(options={"fail": True})
        assert caught.value.kind == "unknownThread"
        assert (await error_of(peer, "tool/explain", EXPLAIN))[0] == -32002
        assert "capabilities" in await peer.initialize()
        assert await peer.request("tool/explain", EXPLAIN)


@pytest.mark.parametrize("options", [{"trusted": "no"}, {"trusted": 1}, {"client": {"confirm": "true"}}, [], "trusted"])
async def test_options_that_almost_fit_are_refused(options: Any) -> None:
    async with example() as peer:
        with pytest.raises(RpcError) as caught:
            await peer.initialize(options=options)
        assert (caught.value.code, caught.value.data) == (-32602, None)
        assert "capabilities" in await peer.initialize(options={"trusted": False, "unknown": 1})


async def test_notifications_before_initialize_run_nothing() -> None:
    async with example() as peer:
        peer.notify("settings/changed", UNTRUSTED)
        await peer.initialize()
        assert await peer.request("tool/explain", EXPLAIN)
        assert "secret" not in peer.stderr


# -- cancellation


@pytest.mark.parametrize("wait_for_start", [True, False], ids=["while it runs", "in the same breath"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("answer", {"result": {"stopReason": "cancelled"}}),
        ("raise", {"error": {"code": -32800, "message": "`thread/prompt` was cancelled"}}),
    ],
)
async def test_a_cancelled_request_is_answered_by_its_handler(text: str, expected: Any, wait_for_start: bool) -> None:
    async with example() as peer:
        await peer.initialize()
        message_id, answer = peer.start_request("thread/prompt", {"threadId": "t", "text": text})
        if wait_for_start:
            await peer.wait_for("thread/update")
        peer.cancel(message_id)
        assert await asyncio.wait_for(answer, BOUND) == {"jsonrpc": "2.0", "id": message_id, **expected}


@pytest.mark.parametrize("params", [{"id": 999}, {"id": [1]}, {"id": None}, {}, None, []])
async def test_cancelling_what_is_not_there_does_nothing(params: Any) -> None:
    async with example() as peer:
        await peer.initialize()
        peer.notify("$/cancelRequest", params)
        assert await peer.request("tool/explain", EXPLAIN)


# -- our requests to the client


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"applied": True}, "applied True"),
        ({"applied": "yes"}, "ClientError"),
        (None, "ClientError"),
        (RpcError({"code": -32601, "message": "no"}), "ClientError"),
    ],
)
async def test_the_client_answers_or_the_server_is_told_that_it_did_not(answer: Any, outcome: str) -> None:
    def reply(params: Any) -> Any:
        assert params == {"layer": "workspace", "path": ["mode"], "value": "plan"}
        if isinstance(answer, RpcError):
            raise answer
        return answer

    async with example() as peer:
        peer.on_request["settings/update"] = reply
        await peer.initialize()
        peer.notify("settings/changed", TRUSTED)
        told = await peer.wait_for("settings/unconfirmed")
        assert told["items"][0]["text"] == outcome


async def test_a_request_that_nobody_waits_for_any_more_is_withdrawn() -> None:
    asked: list[str] = []

    async with example() as peer:
        peer.on_request["settings/update"] = lambda params: asyncio.Event().wait()
        await peer.initialize()
        peer.notify("settings/changed", {**TRUSTED, "byPerson": []})
        withdrawn = await peer.wait_for("$/cancelRequest")
        asked = [m["id"] for m in peer.messages if m.get("method") == "settings/update"]
        assert asked == [withdrawn["id"]]
        peer.send({"jsonrpc": "2.0", "id": withdrawn["id"], "result": {"applied": True}})
        assert await peer.request("tool/explain", EXPLAIN)


async def test_a_client_that_goes_ends_what_waits_for_it() -> None:
    async with example() as peer:
        peer.on_request["settings/update"] = lambda params: asyncio.Event().wait()
        await peer.initialize()
        peer.notify("settings/changed", TRUSTED)
        await peer.wait_until(
            lambda: [m for m in peer.messages if m.get("method") == "settings/update"], what="our request"
        )
        peer.close_input()
        # The wait fails, or its task is cancelled first with all others: that depends on the version of asyncio.
        await peer.wait_stderr(lambda text: "ClientGone" in text or "CancelledError" in text)
        assert await peer.exit_code() == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"jsonrpc": "2.0", "id": 12345, "result": 1},
        {"jsonrpc": "2.0", "result": 1},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}},
        {"jsonrpc": "2.0", "id": "x", "error": "?"},
    ],
)
async def test_an_answer_that_nobody_asked_for_is_passed_over(answer: Any) -> None:
    async with example() as peer:
        await peer.initialize()
        peer.send(answer)
        assert await peer.request("tool/explain", EXPLAIN)


# -- the end


async def test_exit_after_shutdown_is_success() -> None:
    async with example() as peer:
        await peer.initialize()
        assert await peer.shut_down() == 0
        assert peer.stderr.count("farewell") == 1


async def test_shutdown_and_exit_in_one_breath_are_answered_and_success() -> None:
    async with example() as peer:
        await peer.initialize()
        _, answer = peer.start_request("shutdown")
        peer.notify("exit")
        assert await peer.exit_code() == 0
        assert await peer.result_of(answer) is None


async def test_exit_alone_is_failure_and_still_says_farewell() -> None:
    async with example() as peer:
        await peer.initialize()
        peer.notify("exit")
        assert await peer.exit_code() == 1
        assert peer.stderr.count("farewell") == 1


async def test_exit_before_initialize_ends_the_process() -> None:
    async with example() as peer:
        peer.notify("exit")
        assert await peer.exit_code() == 1


async def test_the_end_of_input_is_a_shutdown() -> None:
    async with example() as peer:
        await peer.initialize()
        _, answer = peer.start_request("thread/prompt", {"threadId": "t", "text": "answer"})
        peer.close_input()
        assert await peer.result_of(answer) == {"stopReason": "cancelled"}
        assert await peer.exit_code() == 1
        assert peer.stderr.count("farewell") == 1


async def test_a_signal_is_a_shutdown() -> None:
    async with example() as peer:
        await peer.initialize()
        peer.kill(15)
        assert await peer.exit_code() == 1
        assert peer.stderr.count("farewell") == 1


async def test_shutdown_stops_what_runs_before_it_is_answered() -> None:
    async with example() as peer:
        await peer.initialize()
        prompt, _ = peer.start_request("thread/prompt", {"threadId": "t", "text": "answer"})
        await peer.request("shutdown")
        results = {m["id"]: m["result"] for m in peer.messages if "result" in m}
        assert results[prompt] == {"stopReason": "cancelled"}
        assert list(results)[-2] == prompt


async def test_a_client_that_forgets_to_send_exit_does_not_keep_the_server() -> None:
    async with example() as peer:
        await peer.initialize()
        await peer.request("shutdown")
        assert await peer.exit_code() == 1


async def test_a_thread_that_never_ends_does_not_keep_the_process() -> None:
    async with example() as peer:
        await peer.initialize()
        await peer.request("agent/restart", {"agentName": "a"})
        assert await peer.shut_down() == 0
        assert "did not stop" in peer.stderr or "not everything stopped" in peer.stderr


async def test_a_client_too_far_behind_is_taken_for_dead() -> None:
    async with example() as peer:
        await peer.initialize()
        peer.stop_reading()
        peer.start_request("shell/output", {"shellId": "s", "from": 1400})
        await peer.wait_stderr(lambda text: "the client has not read" in text)
        assert await peer.exit_code() == 1
        assert peer.stderr.count("farewell") == 1


# -- where the system cannot say when there is something to read


async def test_a_conversation_may_stand_in_files(tmp_path: Path) -> None:
    spoken = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shell/output", "params": {"shellId": "s", "from": 20}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    heard = tmp_path / "heard"
    (tmp_path / "spoken").write_bytes(b"".join(encode({"jsonrpc": "2.0", **message}) for message in spoken))
    with (tmp_path / "spoken").open("rb") as stdin, heard.open("wb") as stdout:
        process = await asyncio.create_subprocess_exec(*example().argv, stdin=stdin, stdout=stdout, env=example().env)
        assert await asyncio.wait_for(process.wait(), BOUND) == 0
    messages = Decoder().feed(heard.read_bytes())
    assert {m["id"] for m in messages if "id" in m} == {1, 2, 3}
    seqs = [m["params"]["seq"] for m in messages if "method" in m]
    assert seqs == list(range(1, len(seqs) + 1))


# -- what cannot be done by mistake


def test_there_is_no_way_in_but_stdio() -> None:
    server = make_server("s", "1")
    for start in (server.start_io, server.start_tcp, server.start_ws):
        with pytest.raises(InternalError):
            start("127.0.0.1", 0)


@pytest.mark.parametrize("name", ["thread/update", "settings/update", "no/such", "initialize"])
def test_only_what_a_client_may_call_is_handled(name: str) -> None:
    with pytest.raises(InternalError):
        make_server("s", "1").handle(name, lambda params: Empty())


@pytest.mark.parametrize("name", ["thread/create", "thread/update", "no/such", "settings/update"])
async def test_only_what_the_table_has_is_sent(name: str) -> None:
    server = make_server("s", "1")
    with pytest.raises(InternalError):
        server.notify(name, Empty())
    with pytest.raises(InternalError):
        await server.request(name, Empty())


def test_methods_without_a_handler_are_known() -> None:
    server = make_server("s", "1")
    before = server.unhandled()
    server.handle("thread/list", lambda params: Empty())
    assert set(before) - set(server.unhandled()) == {"thread/list"}


async def test_a_silent_client_costs_the_event_loop_nothing() -> None:
    async with example() as peer:
        await peer.initialize()
        peer.stop_reading()
        _, answer = peer.start_request("shell/output", {"shellId": "s", "from": 100})
        await peer.wait_stderr(lambda text: "flooding" in text)
        peer.notify("settings/changed", UNTRUSTED)
        await peer.wait_stderr(lambda text: "secret from" in text)
        peer.go_on_reading()
        late_ms = (await peer.result_of(answer))["next"]
        assert late_ms < 1000, f"the heartbeat came {late_ms} ms late"
        assert [p["seq"] for p in peer.seen("thread/update")] == list(range(1, 101))
