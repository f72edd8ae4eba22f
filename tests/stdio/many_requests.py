"""Many requests open at once in a real server: how much memory they take, and how they come back after a reload."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests import patience

from .desk import Desk, open_desk

PATIENCE = 2 * patience.PATIENCE
"""Seconds that a crowd may take for one step; a figure of time is no test (`tests/bench/reload.py`)."""

ANY_NUMBER = {"user": {"limits": {"callsPerMessage": 100_000}}}
"""Settings under which one message may hold all of a crowd's calls."""


@dataclass(frozen=True)
class Crowd:
    """How many were shown, listed and ended as denied, and by how many MB the server had grown at the worst look."""

    shown: int
    listed: int
    denied: int
    grown: float


async def crowd(number: int, folder: Path) -> Crowd:
    """Open so many requests, list them, answer them all, and look at the server's memory after each step."""
    async with open_desk(folder / "ws", folder / "storage", settings=ANY_NUMBER) as desk:
        # What is loaded with the first command is none of theirs.
        turn = desk.prompt(await desk.thread(), "run touch warm")
        await desk.answer(await desk.card(), "reject_once")
        await turn
        before, sizes = resident(desk.peer.pid), list[float]()
        turn = await opened(desk, number)
        cards = shown(desk)[1:]
        sizes.append(resident(desk.peer.pid))
        listed = await desk.peer.request("tool/pendingApprovals", {}, bound=PATIENCE)
        sizes.append(resident(desk.peer.pid))
        params = {"approvalIds": cards, "decision": "reject_once"}
        answered = (await desk.peer.request("tool/approvalBatch", params, bound=PATIENCE))["results"]
        await turn
        sizes.append(resident(desk.peer.pid))
        denied = sum(result.get("state") == "denied" for result in answered)
        return Crowd(len(set(cards)), len(listed["approvals"]), denied, max(sizes) - before)


async def opened(desk: Desk, number: int) -> asyncio.Task[object]:
    """One prompt with so many calls that ask, all of them shown."""
    there = len(shown(desk))
    text = " and also ".join(f"run touch file{each}" for each in range(number))
    _, answer = desk.peer.start_request("thread/prompt", {"threadId": await desk.thread(), "text": text})
    await desk.peer.wait_until(lambda: len(shown(desk)) >= there + number, what="all cards", bound=PATIENCE)
    return asyncio.ensure_future(desk.peer.result_of(answer, bound=PATIENCE))


def shown(desk: Desk) -> list[str]:
    """The ids of all cards that this client was shown."""
    return [card["approvalId"] for card in desk.peer.seen("tool/approvalRequest")]


def resident(pid: int) -> float:
    """MB of a process that are in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass(frozen=True)
class Reload:
    """The cards before a reload and what the next server lists of them, as JSON; ``seconds`` from `initialized` on
    until it had listed them all."""

    before: list[dict]
    after: list[dict]
    seconds: float


async def reloaded(number: int, folder: Path) -> Reload:
    """Open so many requests, end the server as a window that reloads does, and let the next one take them up."""
    async with open_desk(folder / "ws", folder / "storage", settings=ANY_NUMBER) as desk:
        turn = await opened(desk, number)
        before = (await desk.peer.request("tool/pendingApprovals", {}, bound=PATIENCE))["approvals"]
        turn.cancel()
    began = time.perf_counter()
    async with open_desk(folder / "ws", folder / "storage", settings=ANY_NUMBER) as desk:
        began = time.perf_counter()
        await desk.peer.wait_until(lambda: len(shown(desk)) >= number, what="all cards again", bound=PATIENCE)
        after = (await desk.peer.request("tool/pendingApprovals", {}, bound=PATIENCE))["approvals"]
        return Reload(before, after, time.perf_counter() - began)


def too_much(seed: int, numbers: range) -> Iterator[str]:
    """For ``make soak``: ten thousand, within the memory that is promised."""
    import tempfile  # noqa: PLC0415 of no use to the tests

    for _ in numbers:
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(crowd(10_000, Path(folder)))
        if (found.shown, found.listed, found.denied) != (10_000, 10_000, 10_000) or found.grown > 200:
            yield f"{seed}: {found}"
