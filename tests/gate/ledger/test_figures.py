"""Sums over the ledger: how long calls waited and ran, and in how many hours any was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.ledger.entry import again
from countersign.gate.ledger.figures import (
    BUCKETS,
    blocking_active_hours,
    blocking_call_figures,
    blocking_call_times,
)
from countersign.gate.ledger.writer import Ledger
from countersign.wire.history import CallTimes, HistoryFilter
from tests.gate.ledger.ledger_support import entry, write

LAST = BUCKETS[-1]
ROWS = [
    entry(1, at="2026-11-20T09:59:59.000Z", outcome={"waitedMs": BUCKETS[0]}),
    entry(2, at="2026-11-20T10:00:00.000Z", outcome={"waitedMs": BUCKETS[0] + 1}),
    entry(3, at="2026-11-20T10:30:00.000Z"),  # decided by a rule: nobody waited
    entry(4, at="2026-11-21T10:00:00.000Z", agent_name="Other", outcome={"waitedMs": LAST + 1}),
    entry(1, phase="finished", at="2026-11-20T13:00:00.000Z", outcome={"durationMs": 0}),
    entry(4, phase="finished", at="2026-11-21T10:00:01.000Z", agent_name="Other", outcome={"ended": "cancelled"}),
]


@pytest.mark.parametrize(
    ("wanted", "waited", "ran", "hours"),
    [
        ({}, [1, 1, 0, 0, 1], [1, 0, 0, 0, 0], 3),
        ({"agent_name": "Other"}, [0, 0, 0, 0, 1], [0, 0, 0, 0, 0], 1),
        ({"agent_name": "Nobody"}, [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], 0),
        ({"since": "2026-11-21T00:00:00Z"}, [0, 0, 0, 0, 1], [0, 0, 0, 0, 0], 1),
    ],
    ids=["all rows", "one agent", "an agent without calls", "one day"],
)
def test_times_and_hours_are_those_of_the_rows_that_are_wanted(
    tmp_path: Path, wanted: dict[str, str], waited: list[int], ran: list[int], hours: int
) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    try:
        write(ledger, *ROWS)
        chosen = HistoryFilter(**wanted)
        assert blocking_call_times(ledger.rows, chosen, "/projects") == [
            CallTimes(up_to_ms=limit, waited=one, ran=other)
            for limit, one, other in zip((*BUCKETS, None), waited, ran, strict=True)
        ]
        assert blocking_active_hours(ledger.rows, chosen, "/projects") == hours
        assert blocking_active_hours(ledger.rows, chosen, "/elsewhere") == 0
    finally:
        ledger.close()


def test_calls_and_times_are_summed_by_model(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    try:
        write(
            ledger,
            entry(1, at="2026-11-20T10:00:00.000Z", model="claude", outcome={"waitedMs": 40}),
            entry(1, at="2026-11-20T10:00:01.000Z", model="claude", phase="finished", outcome={"durationMs": 7}),
            entry(2, at="2026-11-20T10:00:02.000Z", model="gpt"),
            entry(2, at="2026-11-20T10:00:03.000Z", model="gpt", phase="finished", outcome={"durationMs": 5}),
            entry(3, at="2026-11-20T10:00:04.000Z"),
            entry(4, at="2026-11-21T10:00:00.000Z", model="gpt", outcome={"waitedMs": 2}),
        )
        found = blocking_call_figures(ledger.rows, HistoryFilter(), "/projects")
        assert [(each.day, each.model, each.calls, each.waited_ms, each.tool_ms) for each in found] == [
            ("2026-11-20", None, 1, 0, 0),
            ("2026-11-20", "claude", 1, 40, 7),
            ("2026-11-20", "gpt", 1, 0, 5),
            ("2026-11-21", "gpt", 1, 2, 0),
        ]
        rows = ledger.rows("SELECT * FROM entries ORDER BY seq", ())
        assert [again(row).model for row in rows] == ["claude", "claude", "gpt", "gpt", None, "gpt"]
    finally:
        ledger.close()
