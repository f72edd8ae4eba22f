"""A request that waited on disk is believed in nothing that the chain does not hold."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from countersign.gate.approvals.stored_requests import Tampered, blocking_question
from countersign.gate.ledger.entry import StoredRequest
from countersign.wire.approvals import ApprovalRequest
from tests.gate.ledger.ledger_support import harm
from tests.gate.support import WorkspaceServer, make_house
from tests.patience import PATIENCE

HOUR = "2031-01-01T00:00:00.000000Z"
COLUMNS = {
    "approval_id": "another", "owner": "another", "workspace": "/elsewhere", "thread_id": "another",
    "tool_call_id": "another", "receipt_id": "another", "agent_name": "another", "state": "open", "parked": 0,
    "created_at": HOUR, "request": "{}",
}  # fmt: skip
"""A false value for each column of the table of requests."""
SHOWN = {
    "approvalId": "another",
    "threadId": "another",
    "agentName": "another",
    "subagent": "another",
    "toolCall": {"toolCallId": "x", "kind": "read", "category": "read", "tool": "echo", "rawInput": {"command": "ls"}},
    "preview": {"kind": "command", "command": "echo harmless", "cwd": "/nowhere", "parts": []},
    "effects": [],
    "reason": "nothing to see here",
    "risks": [],
    "options": [{"optionId": "allow_once", "name": "No", "kind": "allow_once"}],
    "digest": "0" * 64,
    "createdAt": HOUR,
    "expiresAt": HOUR,
}
"""A false value for each thing that a stored request would show."""


async def park(path: Path, command: str = "touch made", edited: str | None = None) -> ApprovalRequest:
    first = make_house(path / "ledger.db")
    task = first.submit(command)
    card = await first.desk.card()
    if edited is not None:
        await first.answer(card, editedInput=json.dumps({"command": edited}))
        card = await first.desk.card(2)
    await first.gate.park()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE):
            await task
    first.ledger.close()
    return card


def stored_in(path: Path) -> StoredRequest:
    with closing(sqlite3.connect(path / "ledger.db")) as database:
        database.row_factory = sqlite3.Row
        row = dict(database.execute("SELECT * FROM requests ORDER BY created_at DESC").fetchone())
    return StoredRequest(**row)


def change(path: Path, **columns: object) -> None:
    newest = "SELECT rowid FROM requests ORDER BY created_at DESC LIMIT 1"
    names = ", ".join(f"{name} = :{name}" for name in columns)
    with closing(sqlite3.connect(path / "ledger.db")) as database, database:
        done = database.execute(f"UPDATE requests SET {names} WHERE rowid = ({newest})", columns)
        assert done.rowcount == 1


async def take_up(path: Path, command: str = "touch made") -> tuple[WorkspaceServer, asyncio.Future]:
    second = make_house(path / "ledger.db")
    return second, second.submit(command, restored=stored_in(path))


async def outcome(house: WorkspaceServer, task: asyncio.Future) -> ApprovalRequest | None:
    """The card that is shown; None where the call ends without one."""
    card = asyncio.ensure_future(house.desk.card())
    await asyncio.wait({card, task}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    return card.result() if card.done() else (card.cancel(), None)[1]


async def finish(house: WorkspaceServer, task: asyncio.Future) -> None:
    for card in house.desk.shown:
        if not house.desk.ended:
            await house.answer(card)
    async with asyncio.timeout(PATIENCE):
        await task
    house.ledger.close()


@pytest.mark.parametrize("name", SHOWN)
async def test_a_parked_card_is_drawn_anew_whatever_is_stored_of_it(name: str, tmp_path: Path):
    true = await park(tmp_path)
    lie = {**json.loads(stored_in(tmp_path).request or ""), name: SHOWN[name]}
    change(tmp_path, request=json.dumps(lie))
    house, task = await take_up(tmp_path)
    assert await outcome(house, task) == true
    await finish(house, task)
    assert house.runs == ["touch made"]


@pytest.mark.parametrize("text", [None, "", "{", "null", "[]", '{"toolCall": 3}', "[" * 50_000])
async def test_a_stored_request_that_cannot_be_read_is_not_needed(text: str | None, tmp_path: Path):
    true = await park(tmp_path)
    change(tmp_path, request=text)
    house, task = await take_up(tmp_path)
    assert await outcome(house, task) == true
    await finish(house, task)


@pytest.mark.parametrize("name", COLUMNS)
async def test_each_stored_column_is_derived_or_compared_with_the_chain(name: str, tmp_path: Path):
    assert set(COLUMNS) == set(StoredRequest._fields)
    true = await park(tmp_path)
    change(tmp_path, **{name: COLUMNS[name]})
    house, task = await take_up(tmp_path)
    card = await outcome(house, task)
    assert card in (None, true)
    derived = {"owner", "state", "parked", "request"}
    assert (card is None) == (name not in derived)
    await finish(house, task)
    assert house.runs == ([] if card is None else ["touch made"])
    if card is None:
        assert [notice.state for notice in house.desk.ended] == ["interrupted"]
        assert "changed there" in house.desk.warnings[0]
        # The question that the chain knows has its end there, once.
        assert [row[1:] for row in house.rows()] == [("ask", "mode"), ("deny", "change")]


async def test_a_call_that_was_changed_in_the_chat_ends_as_interrupted(tmp_path: Path):
    await park(tmp_path)
    house, task = await take_up(tmp_path, "echo harmless")
    assert await outcome(house, task) is None
    await finish(house, task)
    assert (house.runs, house.states()) == ([], [("interrupted", "change")])


@pytest.mark.parametrize("where", ["the edit", "the chat"])
async def test_an_edited_call_is_covered_too(where: str, tmp_path: Path):
    await park(tmp_path, edited="floored")
    command = "touch made"
    if where == "the edit":
        lie = json.loads(stored_in(tmp_path).request or "")
        lie["toolCall"]["rawInput"] = {"command": "touch evil"}
        change(tmp_path, request=json.dumps(lie))
    else:
        command = "floored"
    house, task = await take_up(tmp_path, command)
    assert await outcome(house, task) is None
    await finish(house, task)
    assert (house.runs, house.states()) == ([], [("interrupted", "change")])


async def test_a_request_that_was_answered_is_not_opened_again_by_a_changed_row(tmp_path: Path):
    first = make_house(tmp_path / "ledger.db")
    task = first.submit()
    card = await first.desk.card()
    kept = stored_in(tmp_path)
    await first.answer(card)
    await task
    first.ledger.close()
    change(tmp_path, state="open", parked=1, request=kept.request)
    house, task = await take_up(tmp_path)
    assert await outcome(house, task) is None
    await finish(house, task)
    assert house.runs == []
    assert [row[0] for row in house.rows()] == ["decided", "decided", "started", "finished"]


async def test_a_changed_row_of_the_chain_is_not_believed(tmp_path: Path):
    await park(tmp_path)
    harm(tmp_path / "ledger.db", "UPDATE entries SET outcome = replace(outcome, '{', '{\"expiresAt\": null,')")
    house = make_house(tmp_path / "ledger.db")
    with pytest.raises(Tampered, match="row 1"):
        blocking_question(house.ledger, stored_in(tmp_path))
    house.ledger.close()
