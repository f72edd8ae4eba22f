"""What a new server says in a chat whose server was killed, whatever the moment."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from countersign.agents.models.base import AssistantMessage, ToolMessage, UserMessage, WantedCall
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate.ledger.entry import Entry, Opened, StoredRequest, now
from countersign.gate.ledger.server_lock import Owner
from countersign.gate.receipt import Refused
from countersign.lsp.event_feed import Feed
from countersign.lsp.recovery import recover
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import (
    DoneEvent,
    PromptEvent,
    TextEvent,
    ThreadEvent,
    ThreadUpdate,
    ToolCallEvent,
    ToolResultEvent,
)
from tests.gate.support import make_house

PROMPT, TEXT, DONE = PromptEvent(text="go"), TextEvent(text="on it"), DoneEvent(stop_reason="end_turn")


def call(call_id: str) -> ToolCallEvent:
    return ToolCallEvent(
        tool_call_id=call_id, agent_name="Countersign", tool="shell", title="x", kind="execute", category="execute",
        status="waiting",
    )  # fmt: skip


class Left:
    """One chat that a killed server has left, and the new server's rooms."""

    def __init__(self, storage: Path) -> None:
        self.house, self.transcripts, self.owner = make_house(), Transcripts(None), Owner(storage)
        self.workspace = self.house.policy.workspace
        self.updates: list[ThreadUpdate] = []
        self.feed = Feed(self.transcripts, self.updates.append, lambda _: 1)
        row = ThreadRow("t", self.workspace, "", "Countersign", "default", 1, now(), open_turn="gone:turn")
        self.transcripts.save_thread(row)

    async def recover(self) -> None:
        await recover(
            ledger=self.house.ledger,
            owner=self.owner,
            gate=self.house.gate,
            sessions=None,  # type: ignore[arg-type]  nothing is parked, so no turn is taken up
            transcripts=self.transcripts,
            feed=self.feed,
            workspace=self.workspace,
        )

    def close(self) -> None:
        self.owner.release()
        self.house.ledger.close()
        self.feed.close()
        self.transcripts.close()


@pytest.fixture
async def left(tmp_path: Path) -> AsyncIterator[Left]:
    made = Left(tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize(
    ("kept", "added"),
    [
        ([PROMPT, TEXT, call("c")], ["toolResult", "notice", "done"]),
        ([PROMPT], ["notice", "done"]),
        ([PROMPT, TEXT, DONE, PROMPT], ["notice", "done"]),
        ([PROMPT, TEXT, DONE], []),
        ([], []),
    ],
    ids=["a call waits", "just asked", "asked again", "just done", "not yet asked"],
)
async def test_a_turn_is_ended_once_whenever_its_server_was_killed(
    left: Left, kept: list[ThreadEvent], added: list[str]
) -> None:
    left.transcripts.add_events("t", 1, now(), kept)
    await left.recover()
    row = left.transcripts.thread("t")
    assert row is not None
    # On disk already: another kill takes nothing of it away.
    assert ([event.type for event in left.transcripts.events("t")[len(kept) :]], row.open_turn) == (added, None)


async def test_what_had_been_started_is_not_said_not_to_have_run(left: Left) -> None:
    wanted = tuple(WantedCall(call_id, "shell", {"command": "x"}) for call_id in ("ran", "waited"))
    left.transcripts.add_events("t", 1, now(), [PROMPT, call("ran"), call("waited")])
    left.transcripts.add_messages("t", [UserMessage("go"), AssistantMessage("", wanted)])
    started = Entry("r", "started", left.workspace, "gone", "t", "Countersign", "ran", "shell", "digest")
    await left.house.ledger.append(started)
    await left.recover()
    results = [event for event in left.transcripts.events("t") if isinstance(event, ToolResultEvent)]
    messages = [message for message in left.transcripts.messages("t") if isinstance(message, ToolMessage)]
    for ran, waited in (results, messages):
        assert "how far it got is not known" in ran.output
        assert json.loads(waited.output)["refused"] == "interrupted"
    assert [message.refused for message in messages] == [False, True]
    assert left.house.ledger.unfinished(left.workspace) == []


def told(success: bool, output: str, by: str) -> ToolResultEvent:
    return ToolResultEvent.model_validate(
        {"toolCallId": "c", "tool": "shell", "success": success, "output": output, "decidedBy": by, "receiptId": "r",
         "durationMs": 7}
    )  # fmt: skip


def refused(refusal: Refused) -> ToolResultEvent:
    return told(False, refusal.output, refusal.by).model_copy(update={"refusal": refusal.view})


FLOOR, STOPPED = (
    Refused("denied", "floor", "the ledger is full", "r"), Refused("cancelled", "cancel", "the turn was stopped", "r"),
)  # fmt: skip
EXPIRED, LATE = Refused("expired", "timeout", "nobody answered", "r"), Refused("interrupted", "change", "gone", "r")


@pytest.mark.parametrize(
    ("kept", "state", "by", "notices"),
    [
        (refused(FLOOR), "denied", "floor", []),
        (refused(EXPIRED), "expired", "timeout", []),
        (refused(STOPPED), "cancelled", "cancel", []),
        (told(False, "no JSON", "floor"), "interrupted", "restart", ["interrupted"]),
        (told(False, FLOOR.output, "floor"), "interrupted", "restart", ["interrupted"]),
        (call("c"), "interrupted", "restart", ["interrupted"]),
    ],
    ids=[
        "denied by a floor",
        "expired",
        "stopped",
        "told what it cannot be",
        "an output that looks like a refusal",
        "not told",
    ],
)
async def test_the_end_of_a_request_that_a_chat_was_told_is_recorded_as_told_and_not_told_again(
    left: Left, kept: ThreadEvent, state: str, by: str, notices: list[str]
) -> None:
    # The disk was full when it ended, and the server was killed before there was room.
    left.transcripts.add_events("t", 1, now(), [PROMPT, call("c"), kept, DONE])
    stored = StoredRequest("a", "gone", left.workspace, "t", "c", "r", "Countersign", "open", False, now(), "{}")
    asked = Entry("r", "decided", left.workspace, "gone", "t", "Countersign", "c", "shell", "digest", verdict="ask")
    await left.house.ledger.append(asked, Opened(stored))
    await left.recover()
    (last,) = left.house.ledger.query(HistoryFilter(), workspace=None, limit=1)
    assert (last.phase, last.by, (last.outcome or {})["state"]) == ("decided", by, state)
    assert [notice.state for notice in left.house.desk.ended] == notices
    assert left.house.ledger.requests(left.workspace) == []


@pytest.mark.parametrize(
    ("kept", "ended"),
    [
        (told(True, "made it", "user"), "done"),
        (told(False, "no such file", "user"), "failed"),
        (refused(STOPPED), "cancelled"),
        (refused(LATE), "interrupted"),
        (told(False, LATE.output, "user"), "failed"),
        (call("c"), "interrupted"),
    ],
    ids=["done", "failed", "stopped", "its file had changed", "an output that looks like a refusal", "not told"],
)
async def test_the_end_of_a_call_that_a_chat_was_told_is_recorded_as_told(
    left: Left, kept: ThreadEvent, ended: str
) -> None:
    left.transcripts.add_events("t", 1, now(), [PROMPT, call("c"), kept, DONE])
    await left.house.ledger.append(
        Entry("r", "started", left.workspace, "gone", "t", "Countersign", "c", "shell", "digest", by="user")
    )
    await left.recover()
    (last,) = left.house.ledger.query(HistoryFilter(), workspace=None, limit=1)
    assert (last.phase, last.by, (last.outcome or {})["ended"]) == ("finished", "restart", ended)
