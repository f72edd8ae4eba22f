"""Deadlines: each request expires once, in its time, and not when it was dropped before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from countersign.gate.approvals.deadlines import Deadlines
from tests.gate.support import BOUND


def pending(number: int) -> Any:
    return SimpleNamespace(approval_id=str(number))


async def test_each_expires_in_its_time_whatever_the_order_they_were_set_in() -> None:
    expired: list[str] = []
    all_gone = asyncio.Event()

    def expire(one: Any) -> None:
        expired.append(one.approval_id)
        if len(expired) == 4:
            all_gone.set()

    deadlines, dropped = Deadlines(expire), pending(5)
    for number, seconds in ((3, 0.03), (1, 0.01), (4, 0.04), (2, 0.02)):
        deadlines.set(pending(number), seconds)
    deadlines.set(dropped, 0.015)
    deadlines.drop(dropped)
    await asyncio.wait_for(all_gone.wait(), BOUND)
    assert expired == ["1", "2", "3", "4"]


async def test_one_that_is_past_expires_at_once_but_not_before_it_was_set() -> None:
    expired: list[str] = []
    gone = asyncio.Event()
    Deadlines(lambda one: (expired.append(one.approval_id), gone.set())[0]).set(pending(1), -5.0)
    assert expired == []
    await asyncio.wait_for(gone.wait(), BOUND)
    assert expired == ["1"]


async def test_nothing_is_kept_of_what_was_dropped() -> None:
    deadlines = Deadlines(lambda _one: None)
    last = pending(0)
    deadlines.set(last, 300)
    for number in range(1, 1001):
        one = pending(number)
        deadlines.set(one, 300 + number)
        deadlines.drop(one)
        deadlines.drop(one)
    assert len(deadlines._order) <= 103
    deadlines.drop(last)
    assert (deadlines._order, deadlines._timer, deadlines._set) == ([], None, {})


async def test_the_same_request_may_be_set_anew() -> None:
    expired: list[str] = []
    all_gone = asyncio.Event()

    def expire(one: Any) -> None:
        expired.append(one.approval_id)
        if one.approval_id == "last":
            all_gone.set()

    deadlines, one = Deadlines(expire), pending(1)
    deadlines.set(one, 0.01)
    deadlines.set(SimpleNamespace(approval_id="between"), 0.02)  # type: ignore[arg-type]
    deadlines.drop(one)
    deadlines.set(one, 0.03)
    deadlines.set(SimpleNamespace(approval_id="last"), 0.04)  # type: ignore[arg-type]
    await asyncio.wait_for(all_gone.wait(), BOUND)
    assert expired == ["between", "1", "last"]


async def test_one_that_cannot_be_ended_does_not_hold_up_the_others() -> None:
    expired: list[str] = []
    gone = asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)

    def expire(one: Any) -> None:
        if one.approval_id == "1":
            raise RuntimeError("not my day")
        expired.append(one.approval_id)
        gone.set()

    deadlines = Deadlines(expire)
    for number in (1, 2):
        deadlines.set(pending(number), 0.0)
    await asyncio.wait_for(gone.wait(), BOUND)
    assert expired == ["2"]


async def test_a_clock_that_stands_still_goes_on_where_it_stopped() -> None:
    expired: list[str] = []
    gone = asyncio.Event()

    def expire(one: Any) -> None:
        expired.append(one.approval_id)
        if one.approval_id == "last":
            gone.set()

    deadlines = Deadlines(expire)
    held, other, last = pending(1), pending(2), SimpleNamespace(approval_id="last")
    deadlines.set(held, 0.01)
    deadlines.hold(held)
    deadlines.hold(held)
    deadlines.set(other, 0.02)
    deadlines.set(last, 0.05)
    await asyncio.wait_for(gone.wait(), BOUND)
    assert expired == ["2", "last"]
    gone.clear()
    left = deadlines.resume(held)
    assert left is not None
    assert left <= 0.01
    assert deadlines.resume(held) is None
    deadlines.set(last, 0.02)
    await asyncio.wait_for(gone.wait(), BOUND)
    assert expired[2:] == ["1", "last"]


async def test_one_that_ended_while_it_was_held_is_forgotten() -> None:
    deadlines = Deadlines(lambda _one: None)
    one = pending(1)
    deadlines.set(one, 300)
    deadlines.hold(one)
    deadlines.drop(one)
    assert deadlines.resume(one) is None
