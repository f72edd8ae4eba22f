"""Deadlines: each request expires once, in its time, and not when it was dropped before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from countersign.gate.deadlines import Deadlines

from .support import BOUND


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
    Deadlines(lambda one: expired.append(one.approval_id)).set(pending(1), -5.0)
    assert expired == []
    await asyncio.sleep(0.01)
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
    expired: list[float] = []
    loop = asyncio.get_running_loop()
    deadlines, one = Deadlines(lambda _one: expired.append(loop.time())), pending(1)
    began = loop.time()
    deadlines.set(one, 0.01)
    deadlines.drop(one)
    deadlines.set(one, 0.03)
    await asyncio.sleep(0.06)
    assert len(expired) == 1
    assert expired[0] - began > 0.025
