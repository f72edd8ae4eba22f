"""Questions of agents (``elicitation/create``): what is shown, which answers reach the agent, and how each ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.agents.acp.question_schema import (
    LONGEST_MESSAGE,
    MOST_CHOICES,
    MOST_FIELDS,
    read_content,
    read_form,
    read_url,
)
from countersign.agents.acp.questions import MOST_OPEN, Questions, read_asked
from countersign.agents.acp.translate import BadMessage
from countersign.lsp.chats import markdown_of
from countersign.wire.base import Json, as_json
from countersign.wire.elicitation import ElicitationRequest, ElicitationResolved, ElicitationRespondParams
from countersign.wire.errors import AgentExit, AlreadyResolved, InvalidAnswer
from countersign.wire.threads import QuestionEvent
from tests.agents.scripted_agent_fixture import Player

from .desk import BOUND, Place

SECRET = "hunter2-is-my-secret"
STOPPED = [{"until": "cancel"}, {"quiet": True}]
NAME: Json = {"type": "string", "title": "Your name"}


def form(properties: Any, **more: Any) -> dict:
    return {"type": "object", "properties": properties, **more}


def question(request_id: object = 1, *, nowait: bool = False, **params: Any) -> dict:
    """A step: ask the person."""
    asked = {"mode": "form", "message": "Who are you?", "requestedSchema": form({"name": NAME}), **params}
    return {"ask": "elicitation/create", "id": request_id, "params": asked, "nowait": nowait}


def link(request_id: object = 1, agent_id: str = "u1", *, nowait: bool = False, **params: Any) -> dict:
    asked = {"mode": "url", "message": "Log in", "elicitationId": agent_id, "url": "https://example.com/login?a=b"}
    return {"ask": "elicitation/create", "id": request_id, "params": {**asked, **params}, "nowait": nowait}


@dataclass
class Reader:
    """A client that draws questions, and who answers them."""

    can: bool = True
    shown: list[ElicitationRequest] = field(default_factory=list)
    ended: list[ElicitationResolved] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    questions: Questions = field(init=False)

    def __post_init__(self) -> None:
        self.questions = Questions(show=self.show, resolved=self.hear, can_ask=lambda: self.can)

    def show(self, request: ElicitationRequest) -> None:
        self.shown.append(request)
        self.changed.set()

    def hear(self, notice: ElicitationResolved) -> None:
        self.ended.append(notice)
        self.changed.set()

    async def until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND):
            while not enough():
                self.changed.clear()
                await self.changed.wait()

    async def card(self, number: int = 1) -> ElicitationRequest:
        await self.until(lambda: len(self.shown) >= number)
        return self.shown[number - 1]

    def answer(self, card: ElicitationRequest, action: str = "accept", **more: Any) -> str:
        params = {"elicitationId": card.elicitation_id, "action": action, **more}
        return self.questions.respond(ElicitationRespondParams.model_validate(params))

    def states(self) -> list[str]:
        return [notice.state for notice in self.ended]


@pytest.fixture
def reader() -> Reader:
    return Reader()


def player(place: Place, reader: Reader | None, *prompts: list, **script: Any) -> Player:
    made = Player(place, *prompts, **script)
    if reader is not None:
        made.agent = place.agent(made.agent.config, questions=reader.questions)
    return made


async def answered(agent: Player, request_id: int) -> None:
    """Wait until the agent has an answer to one of its requests."""
    async with asyncio.timeout(BOUND):
        while not any(row.get("id") == request_id and "method" not in row for row in agent.told()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def rows(place: Place) -> list[tuple[str, str]]:
    return [(event.message, event.state) for event in place.events if isinstance(event, QuestionEvent)]


def kept(place: Place) -> str:
    """Every byte beside the workspace but the scripted agent's own log, and every event."""
    files = [path for path in place.folder.rglob("*") if path.is_file() and path.suffix != ".jsonl"]
    return "".join(path.read_bytes().decode(errors="replace") for path in files) + repr(place.events)


# A question and its answer.


async def test_an_answer_that_fits_reaches_the_agent_and_the_chat_says_only_that_it_was_answered(
    place: Place, reader: Reader
) -> None:
    agent = player(place, reader, [question()])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    assert as_json(card) == {
        "elicitationId": card.elicitation_id,
        "threadId": "thread",
        "agentName": "scripted",
        "message": "Who are you?",
        "schema": {
            "type": "object",
            "properties": {"name": {"type": "string", "title": "Your name"}},
            "required": [],
        },
        "createdAt": card.created_at,
    }
    assert reader.questions.waiting() == ["thread"]
    assert reader.answer(card, content={"name": "Ada"}) == "answered"
    assert await turn == "end_turn"
    assert agent.answer(1) == {"action": "accept", "content": {"name": "Ada"}}
    assert rows(place) == [("Who are you?", "waiting"), ("Who are you?", "answered")]
    assert (reader.states(), reader.questions.waiting()) == (["answered"], [])
    # Nothing was asked of the gate, and nothing approved.
    assert (place.person.shown, place.person.ended) == ([], [])


@pytest.mark.parametrize(("action", "state"), [("decline", "declined"), ("cancel", "dismissed")])
async def test_who_declines_or_dismisses_sends_no_values(place: Place, reader: Reader, action: str, state: str) -> None:
    agent = player(place, reader, [question()])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    with pytest.raises(InvalidAnswer):
        reader.answer(card, action, content={"name": "Ada"})
    assert reader.answer(card, action) == state
    await turn
    assert agent.answer(1) == {"action": action}
    assert rows(place)[-1] == ("Who are you?", state)


async def test_an_answer_that_does_not_fit_leaves_the_question_open(place: Place, reader: Reader) -> None:
    schema = form({"port": {"type": "integer", "minimum": 1, "maximum": 65535}}, required=["port"])
    agent = player(place, reader, [question(requestedSchema=schema)])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    for content in ({}, {"port": "80"}, {"port": 0}, {"port": 1.5}, {"port": True}, {"port": 80, "more": 1}):
        with pytest.raises(InvalidAnswer) as refused:
            reader.answer(card, content=content)
        assert "port" in str(refused.value) or "more" in str(refused.value)
    assert reader.states() == []
    reader.answer(card, content={"port": 80.0})
    await turn
    assert agent.answer(1)["content"] == {"port": 80}


async def test_each_question_ends_once(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [question()])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    reader.answer(card, "decline")
    with pytest.raises(AlreadyResolved):
        reader.answer(card, content={"name": "late"})
    await turn
    assert (agent.answer(1), reader.states()) == ({"action": "decline"}, ["declined"])


async def test_several_at_once_are_answered_each_for_itself(place: Place, reader: Reader) -> None:
    agent = player(
        place, reader, [*(question(n, nowait=True, message=f"Number {n}?") for n in (1, 2, 3)), {"quiet": True}]
    )
    turn = asyncio.create_task(agent.play())
    cards = [await reader.card(n) for n in (1, 2, 3)]
    assert len({card.elicitation_id for card in cards}) == 3
    assert reader.questions.waiting() == ["thread"] * 3
    for card in reversed(cards):
        reader.answer(card, content={"name": card.message})
    await turn
    assert [agent.answer(n)["content"]["name"] for n in (1, 2, 3)] == ["Number 1?", "Number 2?", "Number 3?"]


async def test_more_questions_than_anybody_reads_are_cancelled(place: Place, reader: Reader) -> None:
    many = [question(n, nowait=True) for n in range(MOST_OPEN + 5)]
    agent = player(place, reader, [*many, {"await": MOST_OPEN + 4}, {"until": "cancel"}])
    turn = asyncio.create_task(agent.play())
    await reader.card(MOST_OPEN)
    await answered(agent, MOST_OPEN + 4)
    assert agent.answer(MOST_OPEN + 4) == {"action": "cancel"}
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert len(reader.shown) == MOST_OPEN


async def test_secrets_are_marked_and_stand_nowhere(
    place: Place, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    schema = form({"token": {"type": "string", "default": "preset"}, "user": {"type": "string"}})
    agent = player(place, reader, [question(requestedSchema=schema, message="GitHub")])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    assert card.schema_ is not None
    assert (card.schema_.properties["token"].secret, card.schema_.properties["token"].default) == (True, None)
    assert not card.schema_.properties["user"].secret
    with pytest.raises(InvalidAnswer) as refused:
        reader.answer(card, content={"token": [SECRET]})
    assert SECRET not in str(refused.value)
    reader.answer(card, content={"token": SECRET, "user": SECRET})
    await turn
    assert agent.answer(1)["content"]["token"] == SECRET
    exported = "\n".join(markdown_of(place.events))
    assert "scripted asked `GitHub`: answered" in exported
    assert SECRET not in kept(place) + caplog.text + exported
    params = ElicitationRespondParams(elicitation_id="x", action="accept", content={"token": SECRET})
    assert SECRET not in repr(params)


# How questions end without an answer.


async def test_a_stop_ends_every_question(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [question(1, nowait=True), link(2, nowait=True), *STOPPED])
    turn = asyncio.create_task(agent.play())
    await reader.card(2)
    await agent.agent.cancel("thread")
    assert reader.states() == ["cancelled", "cancelled"]
    assert await turn == "cancelled"
    assert [agent.answer(n) for n in (1, 2)] == [{"action": "cancel"}] * 2
    with pytest.raises(AlreadyResolved):
        reader.answer(reader.shown[0], "decline")


async def test_the_end_of_the_turn_ends_its_questions(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [question(1, nowait=True)])
    assert await agent.play() == "end_turn"
    assert reader.states() == ["cancelled"]
    assert rows(place)[-1] == ("Who are you?", "cancelled")


async def test_an_agent_that_dies_takes_its_questions_along(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [question(1, nowait=True), {"exit": 3}])
    with pytest.raises(AgentExit):
        await agent.play()
    assert (reader.states(), reader.questions.waiting()) == (["cancelled"] * len(reader.shown), [])


async def test_an_agent_may_take_a_question_back(place: Place, reader: Reader) -> None:
    back = {"notify": "$/cancel_request", "params": {"requestId": 1}}
    agent = player(place, reader, [question(1, nowait=True), back, {"await": 1}])
    await agent.play()
    assert agent.answer(1)["code"] == -32800
    assert reader.states() == ["cancelled"]


async def test_a_question_outside_a_turn_is_cancelled_unseen(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [{"answer": "end_turn"}, question(7, nowait=True), {"await": 7}])
    await agent.play()
    await answered(agent, 7)
    assert agent.answer(7) == {"action": "cancel"}
    assert reader.shown == []


# Where nobody can be asked.


@pytest.mark.parametrize("can", [None, False])
async def test_without_room_in_the_client_it_is_declined_and_said_once(place: Place, can: bool | None) -> None:
    reader = None if can is None else Reader(can=can)
    agent = player(place, reader, [question(1), question(2, message="And now?")])
    await agent.play()
    assert [agent.answer(n) for n in (1, 2)] == [{"action": "decline"}] * 2
    said = [event.message for event in place.events if event.type == "notice"]
    assert said == ["scripted asked a question that this editor cannot show, so it was declined (`Who are you?`)"]
    greeted = next(row for row in agent.told() if row.get("method") == "initialize")
    assert "elicitation" not in greeted["params"]["clientCapabilities"]


async def test_the_capability_is_told_where_questions_are_drawn(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [])
    await agent.play()
    greeted = next(row for row in agent.told() if row.get("method") == "initialize")
    assert greeted["params"]["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}


# URLs.


async def test_a_url_is_accepted_when_it_was_opened_and_the_agent_says_when_it_is_done(
    place: Place, reader: Reader
) -> None:
    done = {"notify": "elicitation/complete", "params": {"elicitationId": "u1"}}
    agent = player(place, reader, [link(), done, done])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    assert (card.url, card.host, card.notes) == ("https://example.com/login?a=b", "example.com", None)
    with pytest.raises(InvalidAnswer):
        reader.answer(card, content={})
    assert reader.answer(card) == "opened"
    await turn
    assert agent.answer(1) == {"action": "accept"}
    assert [state for _, state in rows(place)] == ["waiting", "opened", "completed"]
    # What follows the path may be a key, so the chat does not keep it.
    urls = {event.url for event in place.events if isinstance(event, QuestionEvent)}
    assert urls == {"https://example.com/login?…"}


async def test_an_agent_that_says_it_is_done_by_itself_was_not_agreed_to(place: Place, reader: Reader) -> None:
    done = {"notify": "elicitation/complete", "params": {"elicitationId": "u1"}}
    other = {"notify": "elicitation/complete", "params": {"elicitationId": "unknown"}}
    agent = player(place, reader, [link(nowait=True), other, done, {"await": 1}])
    await agent.play()
    assert agent.answer(1) == {"action": "cancel"}
    assert reader.states() == ["completed"]


async def test_the_same_id_twice_is_refused_while_the_first_is_open(place: Place, reader: Reader) -> None:
    agent = player(place, reader, [link(1, nowait=True), link(2, nowait=True), {"await": 2}, {"await": 1}])
    turn = asyncio.create_task(agent.play())
    card = await reader.card()
    await answered(agent, 2)
    reader.answer(card, "decline")
    await turn
    assert (agent.answer(2)["code"], agent.answer(1), len(reader.shown)) == (-32602, {"action": "decline"}, 1)


@pytest.mark.parametrize(
    ("url", "host", "notes"),
    [
        ("https://example.com/", "example.com", ()),
        ("HTTPS://EXAMPLE.com:8443/a?b=c%20d#e", "example.com", ()),
        ("http://localhost:3000/cb", "localhost", ()),
        ("http://127.0.0.1:1/", "127.0.0.1", ()),
        ("http://127.8.9.1/", "127.8.9.1", ()),
        ("http://[::1]:3000/", "::1", ()),
        ("http://127.evil.com/", "127.evil.com", ("unencrypted",)),
        ("http://127.0.0.1.evil.com/", "127.0.0.1.evil.com", ("unencrypted",)),
        ("http://localhost.evil.com/", "localhost.evil.com", ("unencrypted",)),
        ("http://127.0.0.256/", "127.0.0.256", ("unencrypted",)),
        ("http://0.0.0.0/", "0.0.0.0", ("unencrypted",)),
        ("http://example.com/", "example.com", ("unencrypted",)),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", ("internationalName",)),
        ("https://[::1]/", "::1", ()),
    ],
)
def test_a_url_is_read_as_what_it_opens(url: str, host: str, notes: tuple[str, ...]) -> None:
    read = read_url(url)
    assert (read.url, read.host, read.notes) == (url, host, notes)


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "example.com",
        "//example.com",
        "https:example.com",
        "https:/example.com",
        "https://",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "command:workbench.action.quit",
        "vscode://x",
        "https://google.com@evil.com/",
        "https://google.com\\@evil.com/",
        "https://аpple.com/",
        "https://example.com/\u202egnp.exe",
        "https://example.com/a b",
        "https://example.com/\n",
        "https://exa%6dple.com/",
        "https://example.com:99999/",
        "https://[::1/",
        "https://example.com/" + "x" * 5000,
    ],
)
def test_a_url_that_could_be_taken_for_another_is_refused(url: Any) -> None:
    with pytest.raises(BadMessage):
        read_url(url)


# Schemas.


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, "requestedSchema"),
        ([], "requestedSchema"),
        ({"type": "array"}, "must be `object`"),
        (form([]), "properties"),
        (form({f"f{n}": NAME for n in range(MOST_FIELDS + 1)}), "50 fields"),
        (form({f"f{n}": NAME for n in range(700)}), "50 fields"),
        (form({"a": {"type": "object", "properties": {}}}), "field `a`"),
        (form({"a": {"type": "string", "$ref": "#/properties/a"}}), "$ref"),
        (form({"a": {"$ref": "#"}}), "field `a`"),
        (form({"a": {"type": ["string", "null"]}}), "field `a`"),
        (form({"a": {"type": "_custom"}}), "_custom"),
        (form({"a": "string"}), "field `a`"),
        (form({"a": None}), "field `a`"),
        (form({"": NAME}), "name"),
        (form({"__proto__": NAME}), "name"),
        (form({"x" * 201: NAME}), "name"),
        (form({"a": NAME}, required=["b"]), "required"),
        (form({"a": NAME}, required="a"), "required"),
        (form({"a": NAME}, required=[1]), "required"),
        (form({"a": {"type": "string", "enum": []}}), "choices"),
        (form({"a": {"type": "string", "enum": ["x", "x"]}}), "twice"),
        (form({"a": {"type": "string", "enum": [1]}}), "string"),
        (form({"a": {"type": "string", "enum": ["x"], "oneOf": []}}), "both"),
        (form({"a": {"type": "string", "enum": [str(n) for n in range(MOST_CHOICES + 1)]}}), "choices"),
        (form({"a": {"type": "string", "oneOf": [{"title": "x"}]}}), "string"),
        (form({"a": {"type": "array"}}), "items"),
        (form({"a": {"type": "array", "items": {"type": "object"}}}), "items"),
        (form({"a": {"type": "array", "items": {"type": "string"}}}), "choices"),
        (form({"a": {"type": "integer", "minimum": 3, "maximum": 1}}), "no value fits"),
        (form({"a": {"type": "string", "minLength": -1}}), "minLength"),
        (form({"a": {"type": "integer", "minimum": 1.5}}), "minimum"),
        (form({"a": {"type": "number", "minimum": "1"}}), "minimum"),
        (form({"a": {"type": "string", "title": "x" * 201}}), "title"),
        (form({"a": {"type": "string", "description": "x" * 1001}}), "description"),
        (form({"a": {"type": "string", "pattern": "x" * 501}}), "pattern"),
        (form({f"f{n}": {"type": "string", "enum": [f"{m}" * 50 for m in range(10)]} for n in range(50)}), None),
        (form({f"f{n}": {"type": "string", "enum": [f"{m}" * 500 for m in range(10)]} for n in range(50)}), "KiB"),
    ],
)  # fmt: skip
def test_a_form_that_would_not_be_drawn_whole_is_refused_by_name(schema: Json, why: str | None) -> None:
    if why is None:
        assert read_form(schema, "m").properties
        return
    with pytest.raises(BadMessage) as refused:
        read_form(schema, "m")
    assert why in str(refused.value)


async def test_a_refused_form_is_an_error_for_the_agent_and_no_card(place: Place, reader: Reader) -> None:
    nested = form({"a": {"type": "object"}})
    steps = [
        question(1, requestedSchema=nested),
        question(2, mode="_voice"),
        question(3, message="x" * (LONGEST_MESSAGE + 1)),
        question(4, _meta={"message": "another"}),
        question(5, sessionId="session-9"),
        link(6, url="command:x"),
    ]
    agent = player(place, reader, steps)
    await agent.play()
    assert [agent.answer(n)["code"] for n in range(1, 7)] == [-32602] * 6
    assert "`a` has the type `object`" in agent.answer(1)["message"]
    assert (reader.shown, rows(place)) == ([], [])


@pytest.mark.parametrize(
    ("field_schema", "expected"),
    [
        ({"type": "string", "default": 3}, None),
        ({"type": "string", "default": "x", "minLength": 2}, None),
        ({"type": "string", "default": "xy", "minLength": 2}, "xy"),
        ({"type": "string", "enum": ["a"], "default": "b"}, None),
        ({"type": "string", "enum": ["a"], "default": "a"}, "a"),
        ({"type": "string", "format": "email", "default": "nobody"}, None),
        ({"type": "integer", "default": 1.5}, None),
        ({"type": "integer", "default": 2.0}, 2),
        ({"type": "number", "default": True}, None),
        ({"type": "boolean", "default": "yes"}, None),
        ({"type": "boolean", "default": False}, False),
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["c"]}, None),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]}, ["a"]),
    ],
)
def test_a_default_that_does_not_fit_is_left_out(field_schema: Json, expected: Json) -> None:
    assert read_form(form({"a": field_schema}), "m").properties["a"].default == expected


@pytest.mark.parametrize(
    ("field_schema", "fits", "misfits"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd", 5, None, ["ab"]]),
        ({"type": "string", "format": "email"}, ["a@b.de"], ["a", "a@b", "a b@c.de", "@b.de"]),
        ({"type": "string", "format": "uri"}, ["https://a", "mailto:a@b"], ["a", "a b:c"]),
        ({"type": "string", "format": "date"}, ["2026-01-31"], ["2026-02-30", "20260131", "31.1.2026"]),
        ({"type": "string", "format": "date-time"}, ["2026-01-31T10:00:00Z", "2026-01-31T10:00"], ["2026-01-31", "x"]),
        ({"type": "string", "format": "unheard-of"}, ["anything"], [1]),
        ({"type": "string", "pattern": "(a+)+$"}, ["a" * 40 + "b"], []),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, ["a"], ["A", "", ["a"]]),
        ({"type": "number", "minimum": 0.5}, [0.5, 1], [0, "1", True, 1e300]),
        ({"type": "integer", "maximum": 3}, [3, -1, 2.0], [4, 2.5]),
        ({"type": "boolean"}, [True, False], ["true", 1]),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
            [["a"], ["b", "c"]],
            [[], ["a", "b", "c"], ["a", "a"], ["x"], "a", [1], [["a"]]],
        ),
    ],
)
def test_an_answer_is_compared_with_the_schema(field_schema: Json, fits: list[Json], misfits: list[Json]) -> None:
    schema = read_form(form({"a": field_schema}, required=["a"]), "m")
    for value in fits:
        assert read_content(schema, {"a": value}) == {"a": value}
    for value in misfits:
        with pytest.raises(InvalidAnswer):
            read_content(schema, {"a": value})


@pytest.mark.parametrize(
    ("name", "title", "message", "expected"),
    [
        ("password", None, "m", True),
        ("apiKey", None, "m", True),
        ("api_key", None, "m", True),
        ("value", "Your GitHub token", "m", True),
        ("pin", None, "m", True),
        ("value", "PIN of the card", "m", True),
        ("passphrase", None, "m", True),
        ("x", "Passwort", "m", True),
        ("value", None, "Please paste your API key", True),
        ("otpCode", None, "m", True),
        ("PINCode", None, "m", True),
        ("pin2", None, "m", True),
        ("pass", None, "m", True),
        ("passw0rd", None, "m", True),
        ("p4ssword", None, "m", True),
        ("t0ken", None, "m", True),
        ("PASSW\xd8RD", None, "m", True),
        ("gh_tok", None, "m", True),
        ("otpcode", None, "m", True),
        ("2FAcode", None, "m", True),
        ("value", "Security answer", "m", True),
        ("value", "Mot de passe", "m", True),
        ("value", "Contrase\xf1a", "m", True),
        ("value", "\u5bc6\u7801", "m", True),
        ("value", "\u041f\u0430\u0440\u043e\u043b\u044c", "m", True),
        ("dbPass", None, "m", True),
        ("pw", None, "m", True),
        ("pwd", None, "m", True),
        ("value", "Your PAT", "m", True),
        ("value", "Bearer", "m", True),
        ("cookie", None, "m", True),
        ("session_cookies", None, "m", True),
        ("jwt", None, "m", True),
        ("Authorization", None, "m", True),
        ("value", "\uff30\uff41\uff53\uff53\uff57\uff4f\uff52\uff44", "m", True),
        ("\uff54\uff4f\uff4b\uff45\uff4e", None, "m", True),
        ("value", "Pa\xdfwort", "m", True),
        ("value", None, "Enter your pass", True),
        ("value", None, "PassWord:", True),
        ("value", "The PassPhrase", "m", True),
        ("value", None, "Enter your GitHub PAT", True),
        ("value", None, "Set GITHUB_TOKEN", True),
        ("value", None, "\uff30\uff29\uff2e", True),
        ("value", None, "Which flags should I pass to make?", False),
        ("path", "Passage of the compass", "m", False),
        ("author", "Pattern of authors", "m", False),
        ("name", None, "m", False),
        ("pineapple", "Kind of pineapple", "m", False),
        ("key", "Key of the map", "m", False),
    ],
)
def test_a_field_that_seems_to_ask_for_a_secret_is_marked(
    name: str, title: str | None, message: str, expected: bool
) -> None:
    schema = read_form(form({name: {"type": "string", **({"title": title} if title else {})}}), message)
    assert bool(schema.properties[name].secret) is expected


@pytest.mark.parametrize(
    "words",
    [
        {"title": "Enter your password"},
        {"description": "Enter your password"},
        {"title": "Pass"},
        {"description": "The \uff30\uff29\uff2e of your card"},
    ],
)
@pytest.mark.parametrize("kind", ["string", "integer", "number"])
def test_what_a_form_says_of_itself_marks_its_fields(words: dict, kind: str) -> None:
    fields = {"value": {"type": kind, "default": None}, "kind": {"type": "string", "enum": ["a"]}}
    read = read_form(form({**fields, "sure": {"type": "boolean"}}, **words), "m").properties
    assert [bool(read[name].secret) for name in ("value", "kind", "sure")] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "title", "expected"),
    [
        ("value", "PIN", True),
        ("value", "OTP", True),
        ("otp", None, True),
        ("cvv", None, True),
        ("value", "Your token", True),
        ("value", "Security code", True),
        ("port", None, False),
        ("maxTokens", None, False),
        ("value", "How many tokens?", False),
        ("count", "Number of pins", False),
    ],
)
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_number_that_seems_to_be_a_secret_is_marked(name: str, title: str | None, expected: bool, kind: str) -> None:
    schema = read_form(form({name: {"type": kind, "default": 1, **({"title": title} if title else {})}}), "m")
    read = schema.properties[name]
    assert (bool(read.secret), read.default) == (expected, None if expected else 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
    | st.sampled_from(["form", "url", "string", "array", "object", "https://a.b/"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["mode", "message", "requestedSchema", "properties", "type", "enum", "oneOf", "anyOf", "items", "const",
             "title", "default", "minimum", "maxLength", "required", "url", "elicitationId", "a"]
        ),
        inner,
    ),
    max_leaves=30,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["mode", "message", "requestedSchema", "url", "elicitationId"]), JSON), JSON)
def test_whatever_an_agent_asks_and_a_client_answers_is_read_or_refused(params: dict, content: Json) -> None:
    try:
        asked = read_asked({"message": "m", **params})
    except BadMessage:
        return
    if asked.form is not None and isinstance(content, dict):
        with contextlib.suppress(InvalidAnswer):
            json.dumps(read_content(asked.form, content))


def test_no_value_of_an_answer_is_stored_by_the_code() -> None:
    """The module that has the answers imports nothing that keeps: no ledger, no transcript, no file."""
    text = (Path(__file__).parents[2] / "server/countersign/agents/acp/questions.py").read_text()
    assert not any(word in text for word in ("ledger", "transcript", "open(", "Path", "gate.submit"))
