"""A hostile agent: malformed messages change nothing, end their sender at worst, and never wedge it."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from countersign.agents.acp import connection as connection_module
from countersign.agents.acp import ndjson as pipe_module
from countersign.agents.acp.agent_process import _ask
from countersign.agents.acp.connection import MOST_RUNNING, Connection, RpcError
from countersign.wire.errors import AgentExit, ModelError
from tests.agents.scripted_agent_fixture import Player, ask, report

from .answer_fuzz import ANSWERS_PER_LIFE, answer_faults
from .desk import Place
from .hostile import BOUND, Agent, agent_faults
from .schema_fuzz import session_faults

ANSWERS = {
    "error is a string": b'{"id": 0, "error": "boom"}',
    "error is a list": b'{"id": 0, "error": [1]}',
    "error is empty": b'{"id": 0, "error": {}}',
    "code is text": b'{"id": 0, "error": {"code": "x", "message": 7, "data": []}}',
    "code is true": b'{"id": 0, "error": {"code": true, "message": null}}',
    "error and result": b'{"id": 0, "result": 1, "error": {"code": 1, "message": "both"}}',
    "a long error": b'{"id": 0, "error": {"code": 1, "message": "\\u001b[31m' + b"x" * 300_000 + b'"}}',
}


@pytest.mark.parametrize("line", ANSWERS.values(), ids=ANSWERS)
async def test_a_malformed_error_is_an_error_with_visible_words(line: bytes):
    async with Agent() as agent:
        asking = asyncio.ensure_future(_ask("agent", agent.connection, "x", {}))
        await agent.answer()
        agent.say(line)
        with pytest.raises(ModelError) as failed:
            await asyncio.wait_for(asking, BOUND)
        assert str(failed.value).isprintable()
        assert len(str(failed.value)) < 500
        await agent.settle()


NO_ANSWERS = [
    b'{"id": [], "result": 1}', b'{"id": {}, "result": 1}', b'{"id": null, "result": 1}', b'{"id": true, "result": 1}',
    b'{"id": 0.0, "result": 1}', b'{"id": "0", "result": 1}', b'{"id": 7, "result": 1}', b'{"result": 1}', b"{}",
    b'{"id": -1, "error": "boom"}', b'{"id": ' + b"9" * 200 + b', "result": 1}', b'{"method": 7}', b'{"method": null}',
    b'{"id": 1, "method": []}', b'{"jsonrpc": "1.0"}', b"[]", b"null", b"7", b'"x"', b"", b"   ", b"\0", b"\xff\xfe",
]  # fmt: skip


@pytest.mark.parametrize("line", NO_ANSWERS, ids=repr)
async def test_a_message_that_is_none_changes_nothing(line: bytes):
    async with Agent() as agent:
        asking = asyncio.ensure_future(agent.connection.request("x", {}))
        await agent.answer()
        agent.say(line)
        await agent.settle()
        assert not asking.done()
        agent.say(b'{"id": 0, "result": 5}')
        assert await asyncio.wait_for(asking, BOUND) == 5


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"id": [], "method": "x"}', -32600),
        (b'{"id": 1.5, "method": "x"}', -32600),
        (b'{"id": {"a": 1}, "method": "x"}', -32600),
        (b'{"id": "' + b"x" * 300 + b'", "method": "x"}', -32600),
        (b'{"id": 1, "method": "x", "params": NaN}', -32700),
        (b'{"id": 1, "id": 2, "method": "x"}', -32700),
        (b'{"id": 1, "method": "\\ud800"}', -32700),
        (b'{"id": 1, "method": "x", "params": ' + b"[" * 400 + b"]" * 400 + b"}", -32700),
    ],
    ids=range(8),
)
async def test_a_request_that_cannot_be_read_is_answered_with_an_error(line: bytes, code: int):
    async with Agent() as agent:
        agent.say(line)
        answer = await agent.answer()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert agent.requests == []
        await agent.settle()


async def test_an_agent_that_ends_ends_what_was_asked_of_it():
    async with Agent() as agent:
        asking = asyncio.ensure_future(agent.connection.request("x", {}))
        await agent.answer()
        agent._say.close()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(asking, BOUND)
        assert agent.pipe.ended.is_set()
        with pytest.raises(ConnectionError):
            await agent.connection.request("x", {})


async def test_a_fault_of_ours_in_reading_ends_the_agent(monkeypatch: pytest.MonkeyPatch):
    async with Agent() as agent:
        asking = asyncio.ensure_future(agent.connection.request("x", {}))
        await agent.answer()
        monkeypatch.setattr(Connection, "_take", lambda self, message: 1 / 0)
        agent.say(b"{}")
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(asking, BOUND)
        assert agent.pipe.ended.is_set()


async def test_a_fault_in_one_request_or_notification_stays_there(monkeypatch: pytest.MonkeyPatch):
    async def fail(method: str):
        raise ZeroDivisionError

    async def fail_on_notice(*_: object):
        raise ZeroDivisionError

    async with Agent(fail) as agent:
        monkeypatch.setattr(agent.connection, "_on_notice", fail_on_notice)
        agent.say(b'{"id": 1, "method": "x"}', b'{"method": "x"}')
        assert (await agent.answer())["error"]["code"] == -32603
        await agent.settle()


async def test_requests_over_the_limit_are_refused_and_then_end_the_agent():
    never = asyncio.Event()

    async def wait(method: str):
        await never.wait()

    async with Agent(wait) as agent:
        lines = [b'{"id": %d, "method": "terminal/wait_for_exit"}' % number for number in range(100_000)]
        agent.say(*lines)
        async with asyncio.timeout(BOUND):
            answer = await agent.answer()
        assert answer["error"]["code"] == connection_module.BUSY
        assert len(agent.requests) <= MOST_RUNNING
        assert len(agent.connection._running) <= 2 * MOST_RUNNING


async def test_an_agent_that_does_not_read_its_input_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipe_module, "MOST_UNSENT", 8 << 20)

    async def large(method: str):
        return {"content": "x" * (1 << 20)}

    async with Agent(large) as agent:
        agent._hear.pause_reading()
        agent.say(*[b'{"id": %d, "method": "x"}' % number for number in range(60)])
        async with asyncio.timeout(BOUND):
            await agent.pipe.ended.wait()


async def test_a_line_without_end_ends_the_agent(monkeypatch: pytest.MonkeyPatch):
    async with Agent() as agent:
        agent._say.write(b"x" * (pipe_module.LONGEST_LINE + (1 << 17)))
        async with asyncio.timeout(BOUND):
            await agent.pipe.ended.wait()


async def test_noise_without_end_ends_the_agent():
    async with Agent() as agent:
        agent.say(*[b"noise"] * (pipe_module.MOST_NOISE + 1))
        async with asyncio.timeout(BOUND):
            await agent.pipe.ended.wait()


async def test_a_flood_of_notifications_leaves_others_their_turn():
    async with Agent() as agent:
        agent.say(*[b'{"method": "x", "params": {}}'] * 20_000)
        most, before = 0, 0
        while len(agent.notices) < 20_000:
            await asyncio.sleep(0)
            most, before = max(most, len(agent.notices) - before), len(agent.notices)
        assert most < 10


def test_ten_thousand_spoiled_messages_change_nothing():
    assert list(agent_faults(12, range(10_000))) == []


RAW = ['{"id": [], "result": 1}', '{"id": {}, "error": "boom"}', '{"id": 2, "error": "boom"}', '{"id": 2, "error": []}']


@pytest.mark.parametrize("line", RAW)
async def test_after_a_malformed_answer_the_next_prompt_works(place: Place, line: str):
    player = Player(place, [{"line": line}], [])
    with contextlib.suppress(ModelError):  # where the answer was to the prompt itself
        await player.play()
    assert await player.play() == "end_turn"


async def test_an_agent_whose_output_cannot_be_read_is_started_anew(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pipe_module, "MOST_NOISE", 5)
    player = Player(place, [*[{"line": "noise"}] * 10, {"until": "cancel"}], [])
    with pytest.raises(AgentExit, match="starts it again"):
        await player.play()
    monkeypatch.setattr(pipe_module, "MOST_NOISE", 100)
    (place.folder / "scripted.json").write_text(json.dumps({"prompts": [[]]}))
    assert await player.play() == "end_turn"
    assert len([row for row in player.told() if "started" in row]) == 2


async def test_an_agent_that_is_gone_before_its_folder_is_says_so(place: Place):
    place.workspace.rmdir()
    with pytest.raises(AgentExit, match="cannot be started"):
        await Player(place, []).play()


LONG = "\x1b[31m\u202e" + "x" * 300_000


async def test_words_of_an_agent_are_shown_short_and_visible(place: Place):
    place.person.decide = lambda card: {"option": "reject_once"}
    call = {"title": LONG, "kind": LONG, "_meta": {"toolName": LONG}, "rawInput": {"x": "y"}}
    option = {"optionId": "yes", "name": LONG, "kind": "allow_once"}
    steps = [report("a", **call), report("a", "completed", **call), ask("b", options=[option], **call)]
    player = Player(place, steps)
    await player.play()
    for event in [*place.of("toolCall"), *place.of("toolResult"), *place.of("notice")]:
        for text in (getattr(event, name, "") for name in ("title", "tool", "message")):
            assert len(text) < 500
            assert text.isprintable()
    (card,) = place.person.shown
    assert len(card.tool_call.title) <= 200
    assert all(len(option.name) <= 200 and option.name.isprintable() for option in card.agent_options or ())


@pytest.mark.parametrize("characters", [6 << 20, 1 << 20], ids=["too large for a card", "shown on a card"])
async def test_input_of_many_megabytes_reaches_the_chat_shortened(place: Place, characters: int):
    place.person.decide = lambda card: {"option": "reject_once"}
    big = {"kind": "other", "title": "t", "rawInput": {"x": "y" * characters}}
    player = Player(place, [report("a", **big), ask("b", **big)])
    await player.play()
    for event in place.of("toolCall"):
        assert len(event.model_dump_json()) < 1 << 17
    assert [card.tool_call.raw_input for card in place.person.shown] in ([], [big["rawInput"]])


def test_an_error_of_the_protocol_keeps_its_code():
    assert RpcError(-32000, "x").code == -32000


def test_ten_thousand_messages_by_the_schema_leave_nothing_behind():
    assert list(session_faults(13, range(400))) == []


def test_ten_thousand_answers_by_the_schema_leave_nothing_behind():
    assert list(answer_faults(5, range(10_000 // ANSWERS_PER_LIFE))) == []
