"""An end that was told and not recorded: written before anything else, and nothing new runs before it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.gate.permit import Permit
from countersign.gate.receipt import Outcome, Ran, Refused
from countersign.wire.history import HistoryFilter
from tests.gate.ledger.failing_ledger import WHY, Disk, live

from .support import BOUND, make_house

WAYS = {"allowed by a rule": 3, "approved": 4, "denied": 2, "closed": 2}
"""By way of a call: the number of the commit that records its end."""


def ends_of(path: Path) -> list[tuple[str, str | None]]:
    """What the ledger says of the ends of requests and calls, oldest first."""
    rows = Ledger(path)
    try:
        assert rows.verify().fault is None
        assert rows.requests("/projects") == []
        assert rows.unfinished("/projects") == []
        told = [entry.outcome or {} for entry in reversed(rows.query(HistoryFilter(), workspace=None))]
        return [(kind, str(one[kind])) for one in told for kind in ("state", "ended") if kind in one]
    finally:
        rows.close()


def told_by(house, settled) -> list[tuple[str, str | None]]:
    """What the client and the model heard of them."""
    ended = [("ended", "done")] if isinstance(settled, Ran) else []
    return [("state", notice.state) for notice in house.desk.ended] + ended


@pytest.mark.parametrize("way", WAYS)
async def test_an_end_that_was_told_is_what_is_written_once_there_is_room(tmp_path, monkeypatch, way):
    house = make_house(tmp_path / LEDGER_FILE)
    disk = Disk(monkeypatch, WAYS[way], stays=True)
    settled = await live(house, way)
    assert isinstance(settled, Ran) == (way in ("allowed by a rule", "approved"))
    disk.mend()
    house.ledger.close()
    assert ends_of(tmp_path / LEDGER_FILE) == told_by(house, settled)


@pytest.mark.parametrize("way", WAYS)
async def test_an_end_that_fails_once_is_written_at_once(tmp_path, monkeypatch, way):
    house = make_house(tmp_path / LEDGER_FILE)
    Disk(monkeypatch, WAYS[way], stays=False)
    settled = await live(house, way)
    assert isinstance(await asyncio.wait_for(house.submit("forbidden"), BOUND), Refused)
    assert house.ledger.requests("/projects") == []
    assert house.ledger.unfinished("/projects") == []
    house.ledger.close()
    assert ends_of(tmp_path / LEDGER_FILE) == told_by(house, settled)


async def test_while_an_end_waits_unwritten_nothing_new_is_asked_or_run_and_then_it_comes_first(tmp_path, monkeypatch):
    house = make_house(tmp_path / LEDGER_FILE)
    disk = Disk(monkeypatch, 3, stays=True)
    assert isinstance(await live(house, "allowed by a rule"), Ran)
    for way in ("allowed by a rule", "approved"):
        refused = await live(house, way)
        assert (refused.kind, refused.by, refused.reason) == ("denied", "floor", WHY)
    assert (house.runs, house.desk.shown) == (["touch made"], [])
    disk.mend()
    assert isinstance(await live(house, "allowed by a rule"), Ran)
    phases = [phase for phase, _, _ in house.rows()]
    assert phases == ["decided", "started", "finished"] * 2
    house.ledger.close()


async def test_an_end_that_waits_is_written_without_anybody_asking_for_more(tmp_path, monkeypatch):
    monkeypatch.setattr("countersign.gate.ledger.writer.IDLE", 0.01)
    house = make_house(tmp_path / LEDGER_FILE)
    disk = Disk(monkeypatch, 2, stays=True)
    settled = await live(house, "denied")
    assert isinstance(settled, Refused)
    assert [stored.state for stored in house.ledger.requests("/projects")] == ["open"]
    disk.mend()
    async with asyncio.timeout(BOUND):
        while await asyncio.to_thread(house.ledger.requests, "/projects"):
            pass
    assert house.rows()[-1] == ("decided", "deny", "floor")
    house.ledger.close()


async def test_a_call_that_was_stopped_while_its_end_is_written_keeps_that_end(tmp_path, monkeypatch):
    house = make_house(tmp_path / LEDGER_FILE)
    house.verdict = "allow"
    disk = Disk(monkeypatch, 3, stays=True)
    running = asyncio.Event()

    async def run(permit: Permit) -> Outcome:
        permit.use()
        running.set()
        await asyncio.Event().wait()
        return Outcome(True, "never")

    call = house.submit(run=run)
    await asyncio.wait_for(running.wait(), BOUND)
    call.cancel()
    await asyncio.wait({call}, timeout=BOUND)
    assert call.cancelled()
    disk.mend()
    house.ledger.close()
    assert ends_of(tmp_path / LEDGER_FILE) == [("ended", "cancelled")]


async def test_the_person_is_told_once_that_ends_could_not_be_recorded(tmp_path, monkeypatch):
    house = make_house(tmp_path / LEDGER_FILE)
    cards = []
    calls = [house.submit(f"touch {number}") for number in range(3)]
    for number in range(3):
        cards.append(await house.desk.card(number + 1))
    disk = Disk(monkeypatch, 1, stays=True)
    for card in cards[:2]:
        assert await house.answer(card) == "denied"
    (warning,) = house.desk.warnings
    assert "could not be recorded" in warning
    assert "nothing new runs" in warning
    disk.mend()
    assert await house.answer(cards[2]) == "allowed"
    await asyncio.wait_for(asyncio.gather(*calls), BOUND)
    again = Disk(monkeypatch, 3, stays=True)
    house.verdict = "allow"
    assert isinstance(await live(house, "allowed by a rule"), Ran)
    assert len(house.desk.warnings) == 2
    again.mend()
    house.ledger.close()


async def test_an_end_that_can_never_be_a_row_does_not_keep_all_others_from_running(tmp_path):
    house = make_house(tmp_path / LEDGER_FILE)
    house.verdict = "allow"

    async def run(permit: Permit) -> Outcome:
        permit.use()
        return Outcome(True, "ran", record={"bytes": b"no JSON"})  # type: ignore[dict-item]

    assert isinstance(await asyncio.wait_for(house.submit("one", run=run), BOUND), Ran)
    assert isinstance(await asyncio.wait_for(house.submit("two"), BOUND), Ran)
    assert [row.phase for row in house.ledger.unfinished("/projects")] == ["started"]
    house.ledger.close()


@pytest.mark.parametrize("at", ["the card", "what follows it"])
async def test_a_card_that_cannot_be_shown_is_closed_and_runs_nothing(tmp_path, monkeypatch, at, caplog):
    house = make_house(tmp_path / LEDGER_FILE)

    def fails(*_):
        raise RuntimeError("the editor's side is broken")

    if at == "the card":
        monkeypatch.setattr(house.desk, "show", fails)
    else:
        monkeypatch.setattr(house.gate._live, "shown", fails)
    settled = await asyncio.wait_for(house.submit(), BOUND)
    assert (settled.kind, settled.by) == ("interrupted", "floor")
    assert house.states() == [("interrupted", "floor")]
    assert (len(house.gate.asking.table), house.runs) == (0, [])
    assert house.ledger.requests("/projects") == []
    assert "could not be shown" in caplog.text
    house.ledger.close()
