"""What agents offer and how they title chats reaches the editor once in a while, and a person's title stays."""

from __future__ import annotations

import asyncio

from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.lsp.session_feed import SessionFeed
from countersign.wire.threads import AgentCommand, ThreadOption, ThreadSession, ThreadTitled

WEB = ThreadOption(option_id="web", name="Web", type="boolean", value=True)


class Heard:
    """Stands for the editor."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []
        self.news = asyncio.Event()

    def notify(self, method: str, params: object) -> None:
        self.told.append((method, params))
        self.news.set()


def chats() -> Transcripts:
    made = Transcripts(None)
    made.save_thread(ThreadRow("t", "/ws", "go", "Agent", "default", 0, "2026-11-20T10:00:00Z"))
    return made


async def test_changes_become_one_message_with_what_is_offered_then():
    heard, commands = Heard(), [AgentCommand(name="init", description="")]
    feed = SessionFeed(heard, chats(), lambda thread_id: ([WEB], commands))  # type: ignore[arg-type]
    for _ in range(100):
        feed.offered("t")
    feed.titled("t", "first")
    feed.titled("t", "second")
    await heard.news.wait()
    assert heard.told == [
        ("thread/session", ThreadSession(thread_id="t", options=[WEB], commands=commands)),
        ("thread/titled", ThreadTitled(thread_id="t", title="second")),
    ]


async def test_a_session_that_has_ended_offers_nothing():
    heard = Heard()
    feed = SessionFeed(heard, chats(), lambda thread_id: None)  # type: ignore[arg-type]
    feed.offered("t")
    await heard.news.wait()
    assert heard.told == [("thread/session", ThreadSession(thread_id="t", options=[], commands=[]))]


def test_a_title_that_a_person_gave_stays():
    made = chats()
    assert made.title_thread("t", "by the agent") == "by the agent"
    assert made.title_thread("t", "by the agent") is None
    made.name_thread("t", "mine")
    assert made.title_thread("t", "by the agent again") is None
    row = made.thread("t")
    assert row is not None
    assert row.title == "mine"
    assert made.title_thread("none such", "x") is None
