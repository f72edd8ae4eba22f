"""A long chat is opened in pieces, off the event loop, and is whole all the same."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path

import pytest

from countersign.agents.stored_events import joined
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import now
from countersign.lsp import base_protocol, encoded_chat
from countersign.lsp.encoded_chat import EncodedChat
from countersign.wire.threads import DoneEvent, TextEvent, ThinkingEvent, ThreadEvent, ThreadOpenResult

ROW = ThreadRow("t", "/ws", "chat", "Countersign", "default", 0, "2026-11-20")


def head() -> ThreadOpenResult:
    hostile = '"events":[],"approvals":[]'
    return ThreadOpenResult(
        thread_id="t", agent_name=hostile, mode="ask", seq=1, events=[], approvals=[], running=False
    )


def said(number: int) -> list[ThreadEvent]:
    """A frame of a chat, with every tenth a long one."""
    if number % 10 == 0:
        return [TextEvent(text="é" * 70_000), ThinkingEvent(text='"events":[],"approvals":[]')]
    return [DoneEvent(stop_reason="end_turn")] if number % 7 == 0 else [TextEvent(text=f"word {number} ")]


def whole(chats: Transcripts) -> list[ThreadEvent]:
    return chats.events("t")


async def test_a_chat_that_grows_while_it_is_opened_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with closing(Transcripts(tmp_path / "chats.db")) as chats:
        chats.save_thread(ROW)
        for number in range(60):
            chats.add_events("t", number, now(), said(number))
        chat = EncodedChat(chats, "t", list)
        rounds: list[int] = []
        work = chat._blocking_round

        def growing(views) -> int:
            size = work(views)
            rounds.append(size)
            chats.add_events("t", 99, now(), [TextEvent(text="later " * (20_000 if len(rounds) < 3 else 1))])
            return size

        monkeypatch.setattr(chat, "_blocking_round", growing)
        await chat.catch_up()
        monkeypatch.setattr(chat, "_blocking_round", work)
        given = chat.finish(head())
        opened = ThreadOpenResult.model_validate_json(given.body)
        assert joined(opened.events) == whole(chats)
        assert max(len(getattr(event, "text", "")) for event in opened.events) < 2 * encoded_chat.LONGEST
        assert len(rounds) == 4
        assert opened.agent_name == head().agent_name
        assert json.loads(given.body)["approvals"] == []


async def test_the_event_loop_goes_on_while_a_long_chat_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The loop encodes what the last round left: nothing, if nothing came meanwhile."""
    with closing(Transcripts(tmp_path / "chats.db")) as chats:
        chats.save_thread(ROW)
        for number in range(300):
            chats.add_events("t", number, now(), [TextEvent(text="x" * 20_000)])
        chat = EncodedChat(chats, "t", list)
        loop_thread = asyncio.get_running_loop()
        on_loop: list[int] = []
        body_of = base_protocol.body_of

        def noted(model) -> bytes:
            body = body_of(model)
            try:
                assert asyncio.get_running_loop() is loop_thread
            except RuntimeError:
                return body
            on_loop.append(len(body))
            return body

        monkeypatch.setattr(encoded_chat, "body_of", noted)
        await chat.catch_up()
        given = chat.finish(head())
        assert len(given.body) > 6_000_000
        assert sum(on_loop) < 1000
