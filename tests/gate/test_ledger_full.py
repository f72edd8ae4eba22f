"""A disk that is full or cannot be written: nothing runs, the person is told why, and what ran is on record."""

from __future__ import annotations

import asyncio
import resource
import sqlite3

import pytest

from countersign.gate.ledger import Ledger
from countersign.gate.reader import LEDGER_FILE
from countersign.gate.receipt import Ran, Refused
from countersign.wire.errors import CountersignError
from countersign.wire.threads import ToolResultEvent

from .ledger_support import entry
from .support import BOUND, make_house

FULL = "database or disk is full"
WHY = f"the ledger cannot be written ({FULL}), so nothing runs; free its disk"


class Disk:
    """Fails the commits whose numbers it is given, and all after the last when ``stays``."""

    def __init__(self, monkeypatch, fails: int, *, stays: bool) -> None:
        self.commits = 0
        insert = Ledger._insert

        def counted(ledger, connection, batch):
            self.commits += 1
            found = insert(ledger, connection, batch)
            if self.commits == fails or (stays and self.commits > fails):
                raise sqlite3.OperationalError(FULL)
            return found

        monkeypatch.setattr(Ledger, "_insert", counted)


async def live(house, way: str):
    """One call from the ask to its end; what a person's answer met with is not raised."""
    house.verdict = "allow" if way == "allowed by a rule" else "ask"
    call = house.submit("forbidden" if way == "denied by a rule" else "touch made")
    if way in ("approved", "denied", "closed"):
        done, _ = await asyncio.wait({call, shown := asyncio.ensure_future(house.desk.card())},
                                     timeout=BOUND, return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        if shown in done:
            option = {"approved": "allow_once", "denied": "reject_once", "closed": None}[way]
            try:
                await house.answer(shown.result(), option)
            except CountersignError:
                call.cancel()
        shown.cancel()
    return (await asyncio.wait_for(asyncio.gather(call, return_exceptions=True), BOUND))[0]


@pytest.mark.parametrize("stays", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("fails", range(1, 6))
@pytest.mark.parametrize("way", ["allowed by a rule", "denied by a rule", "approved", "denied", "closed"])
async def test_at_whatever_commit_it_fails_nothing_runs_unrecorded(tmp_path, monkeypatch, way, fails, stays):
    house = make_house(tmp_path / LEDGER_FILE)
    disk = Disk(monkeypatch, fails, stays=stays)
    settled = await live(house, way)
    ran = bool(house.runs)
    phases = [phase for phase, _, _ in house.rows()]
    assert not ran or "started" in phases
    assert ran == isinstance(settled, Ran)
    failed = disk.commits >= fails
    if isinstance(settled, Refused) and failed and not (way == "denied by a rule" and fails > 1):
        assert settled.reason == WHY
        assert settled.kind == "denied"
    results = [event for event in house.events if isinstance(event, ToolResultEvent)]
    assert len(results) == 1
    if isinstance(settled, Refused) and failed:
        assert FULL in results[0].output
    if failed and not stays:
        # A commit that failed leaves nothing behind that would make the next one fail.
        house.ledger.put([entry(9)]).result(timeout=BOUND)
    house.ledger.close()
    with_open = Ledger(tmp_path / LEDGER_FILE)
    assert with_open.verify().fault is None
    if ran and failed:
        # The end could not be written: the next start finds the call and closes it.
        assert [row.phase for row in with_open.unfinished("/work")] == ["started"]
    with_open.close()


async def test_when_the_disk_has_room_again_calls_run_again(tmp_path):
    house = make_house(tmp_path / LEDGER_FILE)
    house.verdict = "allow"
    assert isinstance(await house.submit("one"), Ran)
    room = (tmp_path / f"{LEDGER_FILE}-wal").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The real thing: the system refuses to let the log grow.
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        settled = await house.submit("two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(settled, Refused)
    assert settled.reason.startswith("the ledger cannot be written (")
    assert isinstance(await house.submit("three"), Ran)
    assert house.runs == ["one", "three"]
    assert house.ledger.verify().fault is None
    house.ledger.close()
    assert isinstance(await house.submit("four"), Refused)
    assert house.runs == ["one", "three"]
