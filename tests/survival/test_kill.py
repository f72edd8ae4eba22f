"""kill -9 under five working agents: twenty of the thousand that ``make soak`` counts, and the judges on trial."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.survival.post_crash_checks import Remains, forgotten, left_open, unrecorded

from .kill import rounds

Json = Any
TOKEN = "tok-Chat0-1-2-end"


async def test_after_kill_9_everything_that_happened_is_on_record_and_nothing_happened_twice() -> None:
    # Two storage folders at once: two processors, and a server mostly waits for its agents.
    both = await asyncio.gather(rounds(1, range(10)), rounds(2, range(10)))
    assert [fault for faults, _ in both for fault in faults] == []
    met = sum((seen for _, seen in both), Counter[str]())
    assert min(met.values()) > 4, met


def row(phase: str, verdict: str = "allow", **more: Json) -> Json:
    return {"receiptId": "r", "phase": phase, "verdict": verdict, "input": f"echo {TOKEN}", "outcome": None, **more}


DECIDED, STARTED, FINISHED = row("decided", approvalId="a"), row("started"), row("finished")
SHOWN = {"method": "tool/approvalRequest", "params": {"approvalId": "a"}}
ENDED = {"method": "tool/approvalResolved", "params": {"approvalId": "a", "state": "allowed"}}
TOLD = {
    "method": "thread/update",
    "params": {"events": [{"type": "toolResult", "receiptId": "r", "success": True}]},
}


@pytest.mark.parametrize(
    ("rows", "effects", "faults"),
    [
        ([DECIDED, STARTED], 1, 0),
        ([DECIDED, STARTED], 0, 0),
        ([], 0, 0),
        ([], 1, 1),
        ([DECIDED], 1, 1),
        ([row("decided", "ask"), row("decided", "deny")], 1, 1),
        ([DECIDED, STARTED], 2, 1),
        ([DECIDED, STARTED, STARTED], 1, 1),
    ],
)
def test_an_effect_without_a_record_and_a_second_one_are_found(rows: list[Json], effects: int, faults: int) -> None:
    assert len(list(unrecorded(Remains(rows, {}, +Counter({TOKEN: effects}))))) == faults


@pytest.mark.parametrize(
    ("rows", "messages", "answers", "faults"),
    [
        ([DECIDED], [SHOWN], {}, 0),
        ([], [SHOWN], {}, 1),
        ([DECIDED | {"outcome": {"state": "allowed"}}], [SHOWN, ENDED], {"a": "allowed"}, 0),
        ([DECIDED], [ENDED], {}, 1),
        ([DECIDED], [], {"a": "allowed"}, 1),
        ([DECIDED, STARTED, FINISHED], [TOLD], {}, 0),
        ([DECIDED, STARTED], [TOLD], {}, 1),
    ],
)
def test_a_lost_record_is_found(rows: list[Json], messages: list[Json], answers: Json, faults: int) -> None:
    assert len(list(forgotten(Remains(rows, {}, Counter()), messages, answers))) == faults


def test_what_a_restart_left_half_way_is_found() -> None:
    remains = Remains([DECIDED, STARTED], {"a": "open", "b": "allowed"}, Counter())
    assert len(list(left_open(remains))) == 2
