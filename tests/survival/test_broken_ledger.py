"""A ledger that was harmed between two runs, on the real server: what still runs, what the client hears, the way on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gate.ledger.ledger_support import harm
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import RpcError

Json = Any


async def approve(desk: Desk, text: str) -> str:
    """Prompt, approve the card, and return the result of the call."""
    thread = await desk.thread()
    turn = desk.prompt(thread, text)
    await desk.answer(await desk.card())
    await turn
    return result(await desk.events(thread))


async def without_card(desk: Desk, text: str) -> str:
    thread = await desk.thread()
    await desk.prompt(thread, text)
    return result(await desk.events(thread))


def result(events: list[Json]) -> str:
    (found,) = [event for event in events if event["type"] == "toolResult"]
    return found["output"]


HARM: dict[str, Callable[[Path], object]] = {
    "a changed row": lambda storage: harm(storage / "ledger.db", "UPDATE entries SET tool = 'x' WHERE seq = 1"),
    "garbage": lambda storage: (storage / "ledger.db").write_bytes(b"garbage" * 999),
    "no file": lambda storage: (storage / "ledger.db").unlink(),
    "everything removed": lambda storage: [path.unlink() for path in storage.glob("ledger.*")],
}


@pytest.mark.parametrize("name", HARM)
async def test_only_reads_run_until_a_person_begins_a_new_chain(name: str, tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    async with open_desk(workspace, storage) as desk:
        await desk.peer.wait_for("ledger/changed", lambda told: told["state"] == "whole")
        await approve(desk, "create one.txt saying it")
        anchor = await desk.peer.wait_for("ledger/head", lambda head: head["seq"] >= 3)
    for log in storage.glob("ledger.db-*"):
        log.unlink()
    HARM[name](storage)
    async with open_desk(workspace, storage, ledgerAnchor=anchor) as desk:
        status = await desk.peer.request("ledger/status", {})
        assert status["state"] == "broken"
        assert "Begin a New Ledger Chain" in await without_card(desk, "create two.txt saying it")
        assert not (workspace / "two.txt").exists()
        assert "it" in await without_card(desk, "read one.txt")
        begun = await desk.peer.request("ledger/newChain", {"reason": "it was a test"})
        assert begun["state"] in ("checking", "whole")
        await desk.peer.wait_for("ledger/changed", lambda told: told["state"] == "whole")
        await approve(desk, "create two.txt saying it")
        assert (workspace / "two.txt").read_text().strip() == "it"
        with pytest.raises(RpcError, match="not broken"):
            await desk.peer.request("ledger/newChain", {"reason": "once more"})
        newer = await desk.peer.wait_for("ledger/head", lambda head: head["chainId"] != anchor["chainId"])
    for kept in (anchor, newer):
        async with open_desk(workspace, storage, ledgerAnchor=kept) as desk:
            await desk.peer.wait_for("ledger/changed", lambda told: told["state"] == "whole")


async def test_a_client_is_told_the_end_of_each_card_that_it_still_shows(tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    async with open_desk(workspace, storage) as desk:
        thread = await desk.thread()
        turn = desk.prompt(thread, "create one.txt saying it")
        denied = await desk.card()
        await desk.answer(denied, "reject_once")
        await turn
        desk.prompt(thread, "create two.txt saying it")
        killed = await desk.card()
        known = [denied["approvalId"], killed["approvalId"]]
        first = await desk.peer.request("tool/pendingApprovals", {"known": known})
        assert [one["approvalId"] for one in first["approvals"]] == [killed["approvalId"]]
        assert first["ended"] == [{"approvalId": denied["approvalId"], "state": "denied", "by": "user"}]
        desk.peer._running().kill()
        await desk.peer._running().wait()
    async with open_desk(workspace, storage) as desk:
        await desk.peer.wait_for("ledger/changed", lambda told: told["state"] == "whole")
        await desk.ended(killed)
        ended = (await desk.peer.request("tool/pendingApprovals", {"known": [*known, "never-heard-of"]}))["ended"]
        assert ended == [
            {"approvalId": denied["approvalId"], "state": "denied", "by": "user"},
            {"approvalId": killed["approvalId"], "state": "interrupted", "by": "restart"},
            {"approvalId": "never-heard-of", "state": "interrupted", "by": "restart"},
        ]
