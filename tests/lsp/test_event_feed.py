"""Frames: the first event goes out at once, the rest together, in order, without a gap, and kept."""

from __future__ import annotations

import asyncio

import pytest

from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.lsp.event_feed import Feed
from countersign.wire.threads import DoneEvent, TextEvent, ThinkingEvent, ThreadUpdate, ToolCallEvent
from tests.patience import PATIENCE

ROW = ThreadRow("thread", "/projects", "title", "Countersign", "default", 0, "2026-11-20T00:00:00Z")


class Sent:
    def __init__(self) -> None:
        self.updates: list[ThreadUpdate] = []
        self.news = asyncio.Event()
        self.transcripts = Transcripts(None)
        self.transcripts.save_thread(ROW)
        self.feed = self.new_feed()

    def new_feed(self) -> Feed:
        return Feed(self.transcripts, self.send, lambda thread_id: self.transcripts.thread(thread_id).seq)

    def send(self, update: ThreadUpdate) -> None:
        self.updates.append(update)
        self.news.set()

    def texts(self) -> list[list[str]]:
        return [[event.text for event in update.events if event.type == "text"] for update in self.updates]


@pytest.fixture
def sent():
    made = Sent()
    yield made
    made.transcripts.close()


async def test_the_first_piece_goes_out_at_once_and_the_rest_in_one_frame(sent):
    sent.feed.emit("thread", TextEvent(text="one "))
    assert sent.texts() == [["one "]]
    sent.news.clear()
    for word in ("two ", "three ", "four"):
        sent.feed.emit("thread", TextEvent(text=word))
    assert sent.texts() == [["one "]]
    await asyncio.wait_for(sent.news.wait(), PATIENCE)
    assert sent.texts() == [["one "], ["two three four"]]
    sent.feed.close()


async def test_events_of_other_kinds_keep_their_place_between_text(sent):
    events = [TextEvent(text="a"), ThinkingEvent(text="b"), TextEvent(text="c"), TextEvent(text="d")]
    sent.feed.emit("thread", TextEvent(text="first"))
    for event in events:
        sent.feed.emit("thread", event)
    sent.feed.flush("thread")
    assert sent.updates[1].events == [TextEvent(text="a"), ThinkingEvent(text="b"), TextEvent(text="cd")]
    sent.feed.close()


async def test_numbers_go_on_after_a_restart_and_the_whole_chat_is_kept(sent):
    sent.feed.emit("thread", TextEvent(text="one"))
    sent.feed.emit("thread", TextEvent(text=" two"))
    sent.feed.close()
    again = sent.new_feed()
    again.emit("thread", DoneEvent(stop_reason="end_turn"))
    again.close()
    assert [update.seq for update in sent.updates] == [1, 2, 3]
    assert sent.transcripts.events("thread") == [TextEvent(text="one two"), DoneEvent(stop_reason="end_turn")]


async def test_a_flush_says_the_number_of_the_last_update(sent):
    assert sent.feed.flush("thread") == 0
    sent.feed.emit("thread", TextEvent(text="one"))
    sent.feed.emit("thread", TextEvent(text="two"))
    assert sent.feed.flush("thread") == 2
    assert sent.feed.flush("thread") == 2
    sent.feed.close()


async def test_a_call_that_begins_to_run_is_in_the_chat_before_it_can_act(sent):
    """A kill while pieces are gathered must not lose the call."""
    call = {"tool_call_id": "call", "agent_name": "A", "tool": "shell", "title": "t", "kind": "execute"}
    sent.feed.emit("thread", TextEvent(text="a frame is open"))
    for status in ("waiting", "running"):
        sent.feed.emit("thread", ToolCallEvent(**call, category="execute", status=status))
    assert [event.status for event in sent.updates[-1].events if event.type == "toolCall"][-1:] == ["running"]
    kept = sent.transcripts.events("thread")
    assert "running" in str(kept)
    sent.feed.close()
