"""Chats that cannot be written: what is said still reaches the person, and all is kept once there is room again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.agents.models.base import UserMessage
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate.ledger.entry import now
from countersign.lsp.event_feed import Feed
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.threads import NoticeEvent, PromptEvent, ThreadUpdate

LONG = "x" * 100_000


@pytest.fixture
def transcripts(tmp_path: Path) -> Iterator[Transcripts]:
    made = Transcripts(tmp_path / "chats.db")
    made.save_thread(ThreadRow("t", "/srv/app", "", "Countersign", "default", 0, now()))
    yield made
    made.close()


def fill(transcripts: Transcripts) -> None:
    pages = transcripts._db.execute("PRAGMA page_count").fetchone()[0]
    transcripts._db.execute(f"PRAGMA max_page_count = {pages}")


def free(transcripts: Transcripts) -> None:
    transcripts._db.execute("PRAGMA max_page_count = 1000000")


@pytest.mark.parametrize(
    "write",
    [
        lambda chats: chats.add_events("t", 1, now(), [PromptEvent(text=LONG)]),
        lambda chats: chats.add_messages("t", [UserMessage("short"), UserMessage(LONG)]),
        lambda chats: chats.update_thread("t", title=LONG),
        lambda chats: chats.save_thread(ThreadRow(LONG, "/srv/app", "", "Countersign", "default", 0, now())),
    ],
    ids=["events", "messages", "a change", "a new chat"],
)
def test_a_write_happens_wholly_or_says_why_not_and_the_next_one_finds_the_file_in_order(
    transcripts: Transcripts, write
) -> None:
    fill(transcripts)
    with pytest.raises(LedgerUnavailable, match="full"):
        write(transcripts)
    assert (transcripts.events("t"), transcripts.messages("t")) == ([], [])
    free(transcripts)
    write(transcripts)


async def test_what_cannot_be_kept_is_sent_all_the_same_and_kept_later_in_its_order(transcripts: Transcripts) -> None:
    sent: list[ThreadUpdate] = []
    feed = Feed(transcripts, sent.append, lambda _: 0)
    said = [
        PromptEvent(text=LONG),
        NoticeEvent(level="info", message="two"),
        NoticeEvent(level="info", message="three"),
    ]
    fill(transcripts)
    feed.emit("t", said[0])
    feed.emit("t", said[1])
    assert feed.flush("t") == 2
    assert transcripts.events("t") == []
    free(transcripts)
    feed.emit("t", said[2])
    assert feed.flush("t") == 3
    feed.close()
    assert transcripts.events("t") == said
    row = transcripts.thread("t")
    assert row is not None
    assert (row.seq, [update.seq for update in sent]) == (3, [1, 2, 3])
