"""A change that is cancelled is never cut in the middle, and says how far it got."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from countersign.tools import cancellation

from .workbench import PATIENCE, Workbench


class SlowDisk:
    """Holds whoever flushes until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached = asyncio.Event()
        self.go = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._flush = os.fsync
        monkeypatch.setattr(os, "fsync", self.flush)

    def flush(self, descriptor: int) -> None:
        self._loop.call_soon_threadsafe(self.reached.set)
        self.go.wait(PATIENCE)
        self._flush(descriptor)


async def cancelled_at_the_disk(bench: Workbench, disk: SlowDisk) -> asyncio.Task[object]:
    running = asyncio.create_task(bench.do("write_file", path="a.txt", content="new"))
    async with asyncio.timeout(PATIENCE):
        await disk.reached.wait()
    running.cancel()
    return running


async def test_a_write_that_is_under_way_is_finished_and_told(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk(monkeypatch)
    running = await cancelled_at_the_disk(bench, disk)
    disk.go.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    outcome = vars(caught.value)["outcome"]
    assert outcome is not None
    assert outcome.output == "created `a.txt`"
    assert (bench.workspace / "a.txt").read_text() == "new"


async def test_a_write_that_found_something_changed_did_nothing(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk(monkeypatch)
    running = await cancelled_at_the_disk(bench, disk)
    bench.file("a.txt", "somebody else's")
    disk.go.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    outcome = vars(caught.value)["outcome"]
    assert outcome is not None
    assert outcome.output == "stopped; nothing was done"
    assert (bench.workspace / "a.txt").read_text() == "somebody else's"


async def test_a_disk_that_does_not_answer_holds_nobody_up(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "LAST_WAIT", 0.05)
    disk = SlowDisk(monkeypatch)
    running = await cancelled_at_the_disk(bench, disk)
    with pytest.raises(asyncio.CancelledError) as caught:
        await running
    outcome = vars(caught.value)["outcome"]
    assert outcome is not None
    assert outcome.record == {"state": "unknown"}
    disk.go.set()
