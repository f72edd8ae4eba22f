"""Undo over the wire: from history, once, and never over what somebody did since."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agents.scripted_agent_fixture import ask, done

from .desk import Desk, Json, open_desk
from .peer import RpcError
from .test_agent_sessions import Stage


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path / "ws", tmp_path / "storage") as opened:
        yield opened


async def approved(desk: Desk, text: str) -> str:
    """The receipt of a change that was asked for, approved and made."""
    turn = desk.prompt(await desk.thread(), text)
    await desk.answer(await desk.card())
    await turn
    result = await desk.peer.request("history/query", {"filter": {"phase": "finished"}, "limit": 1})
    return result["entries"][0]["receiptId"]


async def refused(desk: Desk, receipt: str) -> str | None:
    with pytest.raises(RpcError) as told:
        await desk.peer.request("history/undo", {"receiptId": receipt})
    return told.value.kind


async def test_each_change_is_taken_back_once_and_every_step_is_in_history(desk: Desk):
    file = desk.workspace / "a.txt"
    created = await approved(desk, "create a.txt saying one")
    assert file.read_text() == "one"
    edited = await approved(desk, "edit a.txt: replace one with two")
    assert file.read_text() == "two"
    assert await refused(desk, created) == "conflict"
    assert await desk.peer.request("history/undo", {"receiptId": edited}) == {"path": str(file)}
    assert file.read_text() == "one"
    # By another way the file comes to be as the change left it: what was taken back stays taken back.
    file.write_text("two")
    assert await refused(desk, edited) == "conflict"
    file.write_text("one")
    assert await desk.peer.request("history/undo", {"receiptId": created}) == {"path": str(file)}
    assert not file.exists()
    undone = [row for row in desk.rows() if row["tool"] == "undo"]
    done = [row["outcome"] for row in undone if row["phase"] == "finished"]
    assert [row["phase"] for row in undone] == ["decided", "started", "finished"] * 3
    assert [(told["ended"], told.get("of")) for told in done] == [("stale", None), ("done", edited), ("done", created)]
    receipts = {row["receiptId"] for row in undone}
    assert {await refused(desk, receipt) for receipt in receipts} == {"invalid"}


@pytest.mark.parametrize("harm", ["changed", "emptied", "removed"])
async def test_a_kept_file_that_was_tampered_with_is_never_written_back(desk: Desk, harm: str):
    file = desk.workspace / "a.txt"
    await approved(desk, "create a.txt saying one")
    edited = await approved(desk, "edit a.txt: replace one with two")
    (kept,) = (desk.storage / "before").iterdir()
    assert kept.read_bytes() == b"one"
    if harm == "removed":
        kept.unlink()
    else:
        kept.write_bytes(b"" if harm == "emptied" else b"0ne")
    assert await refused(desk, edited) is not None
    assert file.read_text() == "two"


def by_itself(file: Path) -> list[Json]:
    """The agent asks, and then writes with its own hand."""
    given = {"kind": "edit", "rawInput": {"file_path": str(file), "content": "two"}}
    writes = {"if": 1, "option": "yes", "do": [{"write": [str(file), "two"]}, done("a")]}
    return [ask("a", **given), writes]


def through_us(file: Path) -> list[Json]:
    """The agent has the editor write, which asks."""
    return [{"ask": "fs/write_text_file", "id": 1, "params": {"path": str(file), "content": "two"}}]


@pytest.mark.parametrize("steps", [by_itself, through_us])
@pytest.mark.parametrize("before", ["one", None])
async def test_a_change_of_a_hosted_agent_is_taken_back(tmp_path: Path, steps, before: str | None):
    stage = Stage(tmp_path)
    file = stage.workspace / "a.txt"
    stage.play(steps(file))
    async with stage.server() as desk:
        if before is not None:
            file.write_text(before)
        turn = desk.prompt(await desk.thread(agentName="Scripted"), "go")
        await desk.answer(await desk.card())
        await turn
        assert file.read_text() == "two"
        done_last = await desk.peer.request("history/query", {"filter": {"phase": "finished"}, "limit": 1})
        receipt = done_last["entries"][0]["receiptId"]
        # By this the history offers the undo.
        told = done_last["entries"][0]["outcome"]
        assert (told["ended"], told["operation"], told["path"]) == ("done", "edit" if before else "create", str(file))
        assert "beforeKept" not in told
        assert await desk.peer.request("history/undo", {"receiptId": receipt}) == {"path": str(file)}
        assert (file.read_text() if file.exists() else None) == before
        assert await refused(desk, receipt) == "conflict"
