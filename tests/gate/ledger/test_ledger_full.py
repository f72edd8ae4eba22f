"""A disk that is full or cannot be written: nothing runs, the person is told why, and what ran is on record."""

from __future__ import annotations

import resource

import pytest

from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.gate.receipt import Ran, Refused
from countersign.wire.threads import ToolResultEvent
from tests.gate.ledger.failing_ledger import FULL, WHY, Disk, live
from tests.gate.ledger.ledger_support import entry
from tests.gate.support import BOUND, make_house


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
        # An end that could not be written to the last is found by the next start, which closes the call.
        assert [row.phase for row in with_open.unfinished("/projects")] == ["started"] * stays
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
