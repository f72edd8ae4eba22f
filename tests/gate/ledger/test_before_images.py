"""What files held before a change is kept for seven days, and swept while the server runs, not only at its start."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from countersign.gate.ledger.before_images import KEPT_SECONDS, BeforeImages
from countersign.lsp import workspace
from tests.patience import PATIENCE

AGED = KEPT_SECONDS + 60


def aged(folder: Path, name: str, seconds: float) -> None:
    at = time.time() - seconds
    os.utime(folder / name, (at, at))


@pytest.fixture
def images(tmp_path: Path) -> BeforeImages:
    made = BeforeImages(tmp_path / "before")
    for name in ("old-1", "old-2", "new"):
        made.blocking_keep(name, b"bytes")
    aged(tmp_path / "before", "old-1", AGED)
    aged(tmp_path / "before", "old-2", AGED)
    aged(tmp_path / "before", "new", KEPT_SECONDS - 60)
    return made


def test_only_what_is_older_than_a_week_goes(images: BeforeImages, tmp_path: Path) -> None:
    images.blocking_sweep()
    assert os.listdir(tmp_path / "before") == ["new"]
    assert images.blocking_read("new") == b"bytes"


def test_kept_bytes_are_their_owners_alone(images: BeforeImages, tmp_path: Path) -> None:
    assert (tmp_path / "before").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "before" / "new").stat().st_mode & 0o777 == 0o600


def test_what_another_server_sweeps_meanwhile_stops_nothing(
    images: BeforeImages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = sorted((tmp_path / "before").iterdir())
    (tmp_path / "before" / "old-1").unlink()
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([listed[1], listed[0], listed[2]]))
    images.blocking_sweep()
    monkeypatch.undo()
    assert os.listdir(tmp_path / "before") == ["new"]


async def test_a_running_server_sweeps_again_and_again_and_goes_on_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweeps, thrice = list[int](), asyncio.Event()
    loop = asyncio.get_running_loop()

    def sweep() -> None:
        sweeps.append(1)
        if len(sweeps) == 1:
            raise OSError(5, "the disk refuses")
        if len(sweeps) == 3:
            loop.call_soon_threadsafe(thrice.set)

    monkeypatch.setattr(workspace, "SWEEP_EVERY", 0.0)
    house = SimpleNamespace(images=SimpleNamespace(blocking_sweep=sweep))
    task = asyncio.ensure_future(workspace.WorkspaceServer.sweep_images(house))  # type: ignore[arg-type]
    async with asyncio.timeout(PATIENCE):
        await thrice.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
