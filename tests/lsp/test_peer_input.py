"""Whatever a client sends is answered once, never by a fault of ours: params from each method's samples, mutated."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from countersign.lsp.connection import is_only_notification
from countersign.wire.methods import METHODS
from tests.lsp.test_connection import Outbox, Server, running, say, settled
from tests.wire.test_golden import samples

TO_SERVER = [method for method in METHODS if method.direction == "toServer"]
ODD = st.sampled_from([
    None, True, 0, -1, 2**70, 1.5, "", "x", "\ud800", "\udc80", "\0", "x" * 5000, [], {}, [[]], {"a": None}, ["\ud800"],
    {"\ud800": 1}, 1e308,
])  # fmt: skip


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """A sample with a piece of it replaced, dropped or added."""
    match draw(st.integers(0, 4)), value:
        case 0, _:
            return draw(ODD | st.just(deep(300)))
        case 1, dict() if value:
            name = draw(st.sampled_from(sorted(value)))
            return {key: item for key, item in value.items() if key != name}
        case 2, dict():
            return {**value, draw(st.sampled_from(["x", "\ud800", "jsonrpc", "__class__"])): draw(ODD)}
        case _, dict() if value:
            name = draw(st.sampled_from(sorted(value)))
            return {**value, name: draw(mutated(value[name]))}
        case _, list() if value:
            index = draw(st.integers(0, len(value) - 1))
            return [*value[:index], draw(mutated(value[index])), *value[index + 1 :]]
        case _:
            return draw(ODD)


def serving(server: Server, outbox: Outbox) -> None:
    """Handlers that take whatever the models let in and look at every text of it, as storing it would."""

    async def take(params: Any) -> None:
        params.model_dump_json()

    for method in TO_SERVER:
        server.handle(method.name, take)


@pytest.mark.parametrize("method", TO_SERVER, ids=lambda method: method.name)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_params_bring_about_a_fault_of_ours(method, data: st.DataObject) -> None:
    params = data.draw(mutated(data.draw(st.sampled_from(list(samples(method.name, "params"))))))

    async def talk() -> Outbox:
        server, outbox = await running()
        serving(server, outbox)
        say(server, method.name, params, 7)
        await settled()
        return outbox

    outbox = asyncio.run(talk())
    answers = [message for message in outbox.messages if message.get("id") == 7 or message.get("id", 0) is None]
    assert len(answers) == 1
    assert answers[0].get("error", {}).get("code") != -32603


ODD_IDS = ["\ud800", "", "x" * 1000, 2**70, -1]


@pytest.mark.parametrize("message_id", ODD_IDS, ids=lambda each: repr(each)[:10])
async def test_an_odd_id_is_answered_under_itself(message_id) -> None:
    server, outbox = await running()
    say(server, "no/such", {}, message_id)
    await settled()
    assert outbox.codes == {message_id: -32601}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        (types.CANCEL_REQUEST, {"id": 3}),
        (types.CANCEL_REQUEST, None),
        (types.WINDOW_WORK_DONE_PROGRESS_CANCEL, {"token": ["a"]}),
        (types.WINDOW_WORK_DONE_PROGRESS_CANCEL, {"token": "a"}),
        (types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": {"uri": "file:///x"}}),
        ("thread/cancel", {"threadId": "t"}),
    ],
)
async def test_a_notification_that_comes_as_a_request_is_refused(name: str, params: Any) -> None:
    server, outbox = await running()
    say(server, name, params, 5)
    await settled()
    assert outbox.codes == {5: -32600}
    assert is_only_notification(name)


@pytest.mark.parametrize("token", [["a"], {}, None, 1.5])
async def test_progress_that_is_called_off_by_no_token_disturbs_nothing(token: Any, caplog) -> None:
    server, outbox = await running()
    say(server, types.WINDOW_WORK_DONE_PROGRESS_CANCEL, {"token": token})
    await settled()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    say(server, "no/such", {}, 9)
    assert outbox.codes == {9: -32601}
