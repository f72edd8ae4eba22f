"""Blocking work of hosted agents: in threads of its own, and over soon after whoever waited was cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from countersign.gate.approvals import file_binding
from countersign.gate.approvals.file_binding import IDENTITY, blocking_state, blocking_states, blocking_still_true
from countersign.gate.workers import (
    LIGHT,
    WORKERS,
    Turns,
    Workers,
    check_cancelled,
    in_worker,
    in_worker_to_the_end,
    sharing,
)
from countersign.tools.files import safe_open
from tests.patience import PATIENCE

from .support import make_house


def sparse(path: Path, size: int) -> str:
    with path.open("wb") as file:
        file.truncate(size)
    return str(path)


@pytest.mark.parametrize(
    ("module", "work"),
    [(file_binding, blocking_state), (safe_open, lambda path: safe_open.look_at(path, 0))],
    ids=["bind", "look"],
)
async def test_a_cancelled_hash_stops_between_two_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, work: Callable[[str], object]
):
    path, pieces = sparse(tmp_path / "long", 200 << 20), 0
    started, release = threading.Event(), threading.Event()

    def check() -> None:
        nonlocal pieces
        pieces += 1
        started.set()
        release.wait(PATIENCE)
        check_cancelled()

    monkeypatch.setattr(module, "check_cancelled", check)
    workers = Workers("slow")
    with sharing(workers):
        hashing = asyncio.ensure_future(in_worker(work, path))
    await asyncio.to_thread(started.wait, PATIENCE)
    hashing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await hashing
    release.set()
    await asyncio.to_thread(workers.pool().shutdown)
    assert pieces == 1


async def test_work_that_must_not_be_cut_goes_on(tmp_path: Path):
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def put() -> None:
        started.set()
        release.wait(PATIENCE)
        check_cancelled()
        ended.set()

    writing = asyncio.ensure_future(in_worker_to_the_end(put))
    await asyncio.to_thread(started.wait, PATIENCE)
    writing.cancel()
    release.set()
    assert await asyncio.to_thread(ended.wait, PATIENCE)


async def test_each_agent_works_in_its_own_threads():
    release, slow, quick = threading.Event(), Workers("slow"), Workers("quick")
    with sharing(slow):
        blocked = [asyncio.ensure_future(in_worker(release.wait, PATIENCE)) for _ in range(20)]
    async with asyncio.timeout(PATIENCE):
        with sharing(quick):
            assert (await in_worker(threading.current_thread)).name.startswith("agent quick")
        assert not (await in_worker(threading.current_thread)).name.startswith("agent")
    release.set()
    await asyncio.gather(*blocked)


def test_files_over_the_bound_of_one_call_are_known_by_their_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_binding, "MOST_HASHED", 100)
    paths = [tmp_path / name for name in "abcde"]
    for path, size in zip(paths, (60, 60, 40, 1000, 0), strict=True):
        path.write_bytes(b"x" * size)
    (tmp_path / "link").symlink_to(paths[3])
    states = blocking_states([*map(str, paths), str(tmp_path / "link")])
    known = [(state.sha256 or "").startswith(IDENTITY) for state in states]
    assert known == [False, True, False, True, False, True]
    paths = [path for path, by_identity in zip(paths, known, strict=False) if not by_identity] + [paths[3]]
    house = make_house()
    house.bound = states
    call = house.preparing("touch made")(None).call
    house.ledger.close()
    assert blocking_still_true(call)
    for path in paths:
        kept = path.read_bytes()
        path.write_bytes(kept + b"y")
        assert not blocking_still_true(call)
        path.write_bytes(kept)


@pytest.mark.parametrize("heavy", [False, True], ids=["light", "heavy"])
@pytest.mark.parametrize("followed", [False, True], ids=["the last in the queue", "others wait behind it"])
async def test_work_that_is_cancelled_while_another_ends_takes_no_turn(heavy: bool, followed: bool):
    """The turn is handed on before the cancelled task has run again."""
    turns, workers = Turns(), Workers("agent")
    if heavy:
        workers.charge(10 * LIGHT)
    held = [await turns.begin(workers)]
    while workers.running < WORKERS and not heavy:
        held.append(await turns.begin(workers))
    cancelled = asyncio.ensure_future(turns.begin(workers))
    behind = [asyncio.ensure_future(turns.begin(workers)) for _ in range(2 * followed)]
    await asyncio.sleep(0)
    cancelled.cancel()
    turns.end(held.pop(), 0)
    await asyncio.wait([cancelled], timeout=PATIENCE)
    async with asyncio.timeout(PATIENCE):
        for task in behind:
            held.append(await task)
            turns.end(held.pop(), 0)
        for turn in held:
            turns.end(turn, 0)
        turns.end(await turns.begin(workers), 0)
    assert (cancelled.cancelled(), workers.running) == (True, 0)
