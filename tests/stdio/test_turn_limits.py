"""The limit of writes per turn and the order of cards, through the real server: many calls in one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.stdio.desk import Desk, open_desk

LIMIT, CALLS = 5, 40
KINDS = {
    "files": "create made-{0}.txt saying {0}",
    "commands": "run touch made-{0}.txt",
    "both": "{1}",
}


def message(kind: str) -> str:
    """One message of the model that makes ``CALLS`` calls, each of which would write a file of its own."""
    asked = [KINDS[kind] for _ in range(CALLS)]
    if kind == "both":
        asked = [KINDS[("files", "commands")[number % 2]] for number in range(CALLS)]
    return " and also ".join(text.format(number) for number, text in enumerate(asked))


@pytest.fixture
async def desk(tmp_path: Path):
    layers = {"user": {"limits": {"writesPerTurn": LIMIT}, "permissions": {"allow": ["Bash(touch:*)"]}}}
    async with open_desk(tmp_path / "work", tmp_path / "storage", settings=layers) as opened:
        yield opened


def made(desk: Desk) -> set[str]:
    return {path.name for path in desk.workspace.iterdir()}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_message_of_many_calls_writes_no_more_than_the_limit(desk: Desk, kind: str):
    thread = await desk.thread(mode="auto")
    await desk.prompt(thread, message(kind))
    assert len(made(desk)) == LIMIT
    assert desk.peer.seen("tool/approvalRequest") == []
    rows = desk.rows()
    assert sum(row["phase"] == "started" for row in rows) <= CALLS
    ended = [json.loads(event["output"])["refused"] for event in await refusals(desk, thread)]
    assert ended == ["limit"] * (CALLS - LIMIT)
    # A new turn begins at none.
    await desk.prompt(thread, "create later.txt saying x")
    assert "later.txt" in made(desk)


async def refusals(desk: Desk, thread: str) -> list[dict[str, str]]:
    return [event for event in await desk.events(thread) if event["type"] == "toolResult" and not event["success"]]


async def test_approvals_of_many_cards_at_once_write_no_more_than_the_limit(desk: Desk):
    thread = await desk.thread()
    turn = desk.prompt(thread, message("files"))
    cards = [await desk.card(f"made-{number}.txt") for number in range(CALLS)]
    told = await desk.peer.request(
        "tool/approvalBatch", {"approvalIds": [card["approvalId"] for card in cards], "decision": "allow_once"}
    )
    assert [entry["state"] for entry in told["results"]] == ["allowed"] * CALLS
    await turn
    assert len(made(desk)) == LIMIT


async def test_the_cards_of_one_message_come_in_its_order(desk: Desk):
    thread = await desk.thread()
    turn = desk.prompt(thread, message("files"))
    for number in range(CALLS):
        await desk.card(f"made-{number}.txt")
    order = [f"made-{number}.txt" for number in range(CALLS)]
    pending = (await desk.peer.request("tool/pendingApprovals", {}))["approvals"]
    for cards in (desk.peer.seen("tool/approvalRequest"), pending):
        assert [Path(card["toolCall"]["rawInput"]["path"]).name for card in cards] == order
    calls = [event for event in await desk.events(thread) if event["type"] == "toolCall"]
    assert list(dict.fromkeys(call["rawInput"]["path"] for call in calls)) == order
    desk.peer.notify("thread/cancel", {"threadId": thread})
    await turn
