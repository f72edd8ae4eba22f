"""kill -9 of the real server under five working agents, again and again on one storage folder.

Each round is one server: it must first put in order what the one before left, then it works, then it is killed at a
moment that only the seed and the round's number say. What must hold is in ``remains``.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import BOUND
from tests.survival.agents_under_load import MARK, Crew, marked_server
from tests.survival.post_crash_checks import (
    Remains,
    blocking_remains,
    broken_chain,
    forgotten,
    left_open,
    unrecorded,
    until_nobody,
)

Json = Any
MOST_MESSAGES = 300
"""A round is killed at the latest after so many messages to the client: all agents are well under way by then."""
MOST_DELAY = 0.05
"""Seconds between that message and the kill: some thirty commits, a command's whole start."""
MOST_WORK = 1.5
"""Seconds of a round in which so many messages do not come, because every agent waits for something."""
HASTY = 0.15
"""Share of the rounds whose server is killed while it still puts in order what the one before left."""


@dataclass(frozen=True)
class Killed:
    """A server that was killed: what it left, and what was still open then."""

    remains: Remains
    threads: frozenset[str]

    @property
    def open_requests(self) -> set[str]:
        return {approval_id for approval_id, state in self.remains.requests.items() if state == "open"}

    @property
    def running(self) -> set[str]:
        """The receipts of calls that had begun and not ended."""
        begun = Counter(row["receiptId"] for row in self.remains.rows if row["phase"] == "started")
        return set(begun - Counter(row["receiptId"] for row in self.remains.rows if row["phase"] == "finished"))


def failures(seed: int, numbers: range) -> Iterator[str]:
    """What is wrong, one sentence each; the rounds of a range share a storage folder."""
    faults, _ = asyncio.run(rounds(seed, numbers))
    yield from faults


async def rounds(seed: int, numbers: range) -> tuple[list[str], Counter[str]]:
    """As ``failures``, in an event loop; and what the rounds met, to show that they met something."""
    root = Path(tempfile.mkdtemp(prefix="survival-"))
    crew, found, met, before = Crew(root), list[str](), Counter[str](), None
    try:
        for number in numbers:
            faults, before = await _round(crew, seed, number, before)
            found += [f"seed {seed}, round {number}: {fault}" for fault in faults]
            met["requests that were open at a kill"] += len(before.open_requests)
            met["calls that ran at a kill"] += len(before.running)
        async with _server(crew, f"last-{root.name}") as desk:
            found += [f"seed {seed}, after {numbers}: {fault}" for fault in await _put_in_order(crew, desk, before)]
        met["effects"] = blocking_remains(crew.workspace, crew.storage).effects.total()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return found, met


async def _round(crew: Crew, seed: int, number: int, before: Killed | None) -> tuple[list[str], Killed]:
    random = Random(f"{seed}-{number}")
    mark = f"{seed}-{number}-{crew.workspace.parent.name}"
    crew.rehearse(number)
    faults: list[str] = []
    answers: dict[str, str] = {}
    working: list[asyncio.Task[None]] = []
    async with _server(crew, mark) as desk:
        hasty = before is not None and random.random() < HASTY
        if not hasty:
            faults += await _put_in_order(crew, desk, before)
            working = crew.set_to_work(desk, number, random, answers)
            await _until_well_under_way(desk, random)
        # The moment of the kill is the case itself: a time, and nothing to wait for.
        await asyncio.sleep(random.random() * MOST_DELAY)
        desk.peer.kill()
        await desk.peer.exit_code()
        faults += [f"somebody is left: {process}" for process in await until_nobody(MARK, mark)]
        await asyncio.wait_for(asyncio.gather(*working), BOUND)
        remains = blocking_remains(crew.workspace, crew.storage)
        faults += [*unrecorded(remains), *forgotten(remains, desk.peer.messages, answers)]
        faults += _told_of_the_restart(desk, before, whole=not hasty)
    threads = {update["threadId"] for update in desk.peer.seen("thread/update")}
    return faults, Killed(remains, frozenset(threads | (before.threads if before is not None else frozenset())))


def _server(crew: Crew, mark: str):
    return open_desk(crew.workspace, crew.storage, peer=marked_server(mark), settings=crew.settings)


async def _until_well_under_way(desk: Desk, random: Random) -> None:
    enough = len(desk.peer.messages) + random.randrange(1, MOST_MESSAGES)
    with suppress(TimeoutError):
        await desk.peer.wait_until(lambda: len(desk.peer.messages) >= enough, what="working agents", bound=MOST_WORK)


async def _put_in_order(crew: Crew, desk: Desk, before: Killed | None) -> list[str]:
    """What the new server must do with what the killed one left, and that it does nothing else."""
    if before is None:
        return []
    peer, told = desk.peer, before.open_requests
    open_chats = {
        thread for thread in before.threads if (events := await desk.events(thread)) and events[-1]["type"] != "done"
    }
    try:
        await peer.wait_until(
            lambda: told <= {notice["approvalId"] for notice in peer.seen("tool/approvalResolved")},
            what="end of every open request",
        )
        for thread in open_chats:
            await peer.wait_for("thread/update", lambda update, thread=thread: _is_over(update, thread))
    except TimeoutError as late:
        return [f"after the restart: {late}"]
    faults: list[str] = []
    after = blocking_remains(crew.workspace, crew.storage)
    faults += [*unrecorded(after), *left_open(after), *broken_chain(crew.storage)]
    if after.effects != before.remains.effects:
        faults.append(f"something ran by itself after the restart: {after.effects - before.remains.effects}")
    for row in after.rows[len(before.remains.rows) :]:
        if row["by"] != "restart":
            faults.append(f"the restart wrote a row by {row['by']}: {row}")
    if pending := (await peer.request("tool/pendingApprovals", {}))["approvals"]:
        faults.append(f"{len(pending)} requests are offered again after a crash")
    for thread in before.threads:
        faults += _uneven(thread, await desk.events(thread))
    return faults


def _is_over(update: Json, thread: str) -> bool:
    return update["threadId"] == thread and any(event["type"] == "done" for event in update["events"])


def _uneven(thread: str, events: list[Json]) -> Iterator[str]:
    """Each call of a chat has one result, and each turn one end."""
    calls = {event["toolCallId"] for event in events if event["type"] == "toolCall"}
    results = Counter(event["toolCallId"] for event in events if event["type"] == "toolResult")
    if set(results) != calls or max(results.values(), default=1) > 1:
        yield f"{thread} has {len(calls)} calls and the results {results}"
    kinds = Counter(event["type"] for event in events)
    if kinds["prompt"] != kinds["done"]:
        yield f"{thread} has {kinds['prompt']} prompts and {kinds['done']} ends"


def _told_of_the_restart(desk: Desk, before: Killed | None, *, whole: bool) -> Iterator[str]:
    """What was open is told as interrupted by the restart: once each (if there was time for all), and nothing else."""
    told = Counter(
        notice["approvalId"] for notice in desk.peer.seen("tool/approvalResolved") if notice["by"] == "restart"
    )
    wanted = Counter(before.open_requests if before is not None else ())
    if told - wanted or (whole and wanted - told):
        yield f"told as ended by the restart: {told - wanted} too much, {wanted - told} too little"
