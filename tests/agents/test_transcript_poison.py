"""A chat stays readable whatever was put into it: values are made safe, and a broken piece is replaced and named."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.agents.models.base import AssistantMessage, ToolMessage, UserMessage, WantedCall
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.wire.strict_json import DEEPEST, is_safe
from countersign.wire.threads import (
    ErrorEvent,
    NoticeEvent,
    TextEvent,
    ThinkingEvent,
    TodoEvent,
    TodoItem,
    ToolCallEvent,
    ToolResultEvent,
)


def deep(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


POISON = {
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "half of a pair": "a\ud800b",
    "a poisoned key": {"\udfff": 1},
    "inside": [{"a": [math.nan, "\ud800"]}],
    "nested 101 times": deep(DEEPEST + 1),
    "nested 400 times": deep(400),
    "nested 900 times": deep(900),
}
poisons = pytest.mark.parametrize("value", POISON.values(), ids=POISON)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Transcripts]:
    transcripts = Transcripts(tmp_path / "chats.db")
    transcripts.save_thread(ThreadRow("t", "/ws", "title", "agent", "default", 0, "2026-01-01"))
    yield transcripts
    transcripts.close()


def call(value: object, **more) -> ToolCallEvent:
    shown = {"tool_call_id": "1", "agent_name": "a", "tool": "t", "title": "t", "kind": "other",
             "category": "external", "status": "pending", **more}  # fmt: skip
    return ToolCallEvent.model_construct(type="toolCall", raw_input=value, **shown)


@poisons
def test_an_event_with_broken_input_is_stored_so_that_the_chat_opens(stored: Transcripts, value):
    events = [TextEvent(text="before"), call({"x": value}), TextEvent(text="after")]
    stored.add_events("t", 1, "2026-01-01", events)
    found = stored.events("t")
    assert [event.type for event in found] == ["text", "toolCall", "text"]
    assert is_safe(found[1].raw_input)


@pytest.mark.parametrize(
    "event",
    [
        TextEvent.model_construct(type="text", text="a\ud800"),
        ThinkingEvent.model_construct(type="thinking", text="\udfff"),
        call({}, title="\ud800", tool="\ud800"),
        ToolResultEvent.model_construct(
            type="toolResult",
            tool_call_id="1",
            tool="t",
            success=True,
            output="\ud800",
            duration_ms=0,
            decided_by="nobody",
        ),
        TodoEvent.model_construct(type="todo", items=[TodoItem.model_construct(text="\ud800", status="pending")]),
        ErrorEvent.model_construct(type="error", message="\ud800", data={"a": math.nan}),
    ],
    ids=lambda event: event.type,
)
def test_an_event_with_half_of_a_pair_is_stored_so_that_the_chat_opens(stored: Transcripts, event):
    stored.add_events("t", 1, "2026-01-01", [event])
    assert [found.type for found in stored.events("t")] == [event.type]


@poisons
def test_a_message_with_broken_arguments_is_stored_so_that_a_model_can_be_asked_again(stored: Transcripts, value):
    said = [UserMessage("go"), AssistantMessage("\ud800", (WantedCall("1", "t", {"x": value}),), "\udfff"),
            ToolMessage("1", "t", "\ud800", success=False)]  # fmt: skip
    stored.add_messages("t", said)
    found = stored.messages("t")
    assert [type(message) for message in found] == [UserMessage, AssistantMessage, ToolMessage]
    assert is_safe(dict(found[1].calls[0].arguments))
    json.dumps(dict(found[1].calls[0].arguments), allow_nan=False).encode()


STORED_EVENTS = [
    '{"type":"toolCall","toolCallId":"1","agentName":"a","tool":"t","title":"t","kind":"other","category":"external",'
    '"status":"pending","rawInput":{"x":NaN}}',
    '{"type":"text","text":"\\ud800"}',
    '{"type":"toolCall","rawInput":' + "[" * 100_000,
    '{"type":"text"}',
    '{"type":"unheard","of":1}',
    '{"type":"text","text":"cut of',
    "",
    "null",
    "[]",
]


@pytest.mark.parametrize("text", STORED_EVENTS, ids=range(len(STORED_EVENTS)))
def test_a_chat_with_a_piece_that_cannot_be_read_opens_and_names_it(stored: Transcripts, text: str):
    stored.add_events("t", 1, "2026-01-01", [TextEvent(text="before")])
    stored._db.execute("INSERT INTO events (thread_id, event) VALUES ('t', ?)", (text,))
    stored.add_events("t", 2, "2026-01-01", [last := NoticeEvent(level="info", message="after")])
    found = stored.events("t")
    assert (found[0].type, found[-1]) == ("text", last)
    named = [event for event in found[:-1] if event.type == "notice"]
    assert all("cannot be read" in event.message for event in named)
    assert len(found) == 3 or text.startswith('{"type":"text","text":"\\ud')


STORED_MESSAGES = ['{"role":"assistant","text":"", "calls":[{"call_id":"1","tool":"t","arguments":{"x":NaN}}]}',
                   '{"role":"assistant"}', "[" * 100_000, "", "null", '{"role":"user","text":"\\ud800"}', '{"text":1}',
                   '{"role":"user","unheard":1}', '{"role":"assistant","text":"","calls":7}']  # fmt: skip


@pytest.mark.parametrize("text", STORED_MESSAGES, ids=range(len(STORED_MESSAGES)))
def test_a_message_that_cannot_be_read_is_replaced_and_the_next_turn_works(stored: Transcripts, text: str):
    stored.add_messages("t", [UserMessage("before")])
    stored._db.execute("INSERT INTO messages (thread_id, message) VALUES ('t', ?)", (text,))
    stored.add_messages("t", [UserMessage("after")])
    before, broken, after = stored.messages("t")
    assert (before, after) == (UserMessage("before"), UserMessage("after"))
    stored.add_messages("t", [broken])
    assert stored.messages("t")[-1] == broken
