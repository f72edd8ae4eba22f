"""Several requests answered at once: each is judged, recorded and answered on its own. One put off is not decided."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from .desk import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "ws", tmp_path / "storage") as opened:
        yield opened


async def waiting(desk: Desk, text: str, *about: str) -> tuple[asyncio.Task[Any], list[dict]]:
    """The turn and its cards, one about each of these texts."""
    turn = desk.prompt(await desk.thread(), text)
    return turn, [await desk.card(each) for each in about]


async def batch(desk: Desk, ids: list[str], decision: str, **more: str | list[str]) -> list[dict]:
    params = {"approvalIds": ids, "decision": decision, **more}
    return (await desk.peer.request("tool/approvalBatch", params))["results"]


async def test_one_that_cannot_be_answered_keeps_no_other_from_its_answer(desk: Desk):
    (desk.workspace / "a.txt").write_text("old")
    text = "run touch one and also edit a.txt: replace old with new and also run touch two"
    turn, cards = await waiting(desk, text, "touch one", "a.txt", "touch two")
    (desk.workspace / "a.txt").write_text("old and more")
    ids = [card["approvalId"] for card in cards]
    results = await batch(desk, [ids[0], "forged", ids[1], ids[2], ids[0]], "allow_once")
    assert [result["approvalId"] for result in results] == [ids[0], "forged", ids[1], ids[2], ids[0]]
    assert [result.get("state") or result["error"]["kind"] for result in results] == [
        "allowed", "unknownApproval", "stale", "allowed", "alreadyResolved"
    ]  # fmt: skip
    again = await desk.card("a.txt")
    assert [(await desk.ended(card))["state"] for card in cards] == ["allowed", "interrupted", "allowed"]
    (result,) = await batch(desk, [again["approvalId"]], "reject_once", reason="leave it")
    assert result["state"] == "denied"
    await turn
    assert sorted(path.name for path in desk.workspace.iterdir()) == ["a.txt", "one", "two"]
    assert (desk.workspace / "a.txt").read_text() == "old and more"
    decided = [row for row in desk.rows() if row["phase"] == "decided" and row.get("by") == "user"]
    assert sorted(row["approvalId"] for row in decided) == sorted([ids[0], ids[2], again["approvalId"]])


async def test_a_batch_answers_only_the_cards_whose_bytes_were_seen(desk: Desk):
    turn, cards = await waiting(desk, "run touch one and also run touch two", "touch one", "touch two")
    ids, digests = [card["approvalId"] for card in cards], [card["digest"] for card in cards]
    results = await batch(desk, ids, "allow_once", digests=[digests[0], digests[0]])
    assert [result.get("state") or result["error"]["kind"] for result in results] == ["allowed", "stale"]
    with pytest.raises(Exception, match="a digest for each"):
        await batch(desk, ids[1:], "allow_once", digests=digests)
    (result,) = await batch(desk, ids[1:], "reject_once", digests=digests[1:])
    assert result["state"] == "denied"
    await turn
    assert [path.name for path in desk.workspace.iterdir()] == ["one"]


async def test_a_batch_never_widens(desk: Desk):
    turn, (card,) = await waiting(desk, "run touch one", "touch one")
    (result,) = await batch(desk, [card["approvalId"]], "allow_once")
    assert result["state"] == "allowed"
    await turn
    assert (await desk.peer.request("grant/list", {}))["grants"] == []


async def test_a_request_that_is_put_off_is_not_decided_and_does_not_expire(tmp_path: Path):
    layers = {"user": {"approvals": {"timeout": 2}}}
    async with open_desk(tmp_path / "ws", tmp_path / "storage", settings=layers) as desk:
        turn, (kept, other) = await waiting(desk, "run touch one and also run touch two", "touch one", "touch two")
        put_off = {"approvalId": kept["approvalId"], "postponed": True}
        assert await desk.peer.request("tool/approvalPostpone", put_off) == {"approvalId": kept["approvalId"]}
        assert (await desk.ended(other))["state"] == "expired"
        (still,) = (await desk.peer.request("tool/pendingApprovals", {}))["approvals"]
        assert still["approvalId"] == kept["approvalId"]
        taken_up = await desk.peer.request("tool/approvalPostpone", {**put_off, "postponed": False})
        assert taken_up["expiresAt"] > kept["expiresAt"]
        (result,) = await batch(desk, [kept["approvalId"]], "allow_once")
        assert result["state"] == "allowed"
        await turn
        assert (desk.workspace / "one").exists()
