"""A full disk and a read-only home: nothing runs that is not on record, and the person is told why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import RpcError
from tests.survival.post_crash_checks import blocking_remains

from .failing import Heard, ask_and_approve, judge
from .mounts import Inside, fill, mounted, read_only, small, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

Json = Any
KILOBYTES = 700
"""Of a small disk: room for a ledger, chats and a few calls."""
TRIES = 12
"""Approvals on a full disk: the first of them may still find room in files that are there already."""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    workspace.mkdir()
    storage.mkdir()
    return workspace, storage


async def approve(desk: Desk, inside: Inside, number: int) -> Heard:
    """Have a file made, approve it, and see that it either ran on record or was said not to have run."""
    heard, token = Heard(), f"tok-disk-0-{number}-end"
    await ask_and_approve(desk, token, f"create {token}.txt saying {token}", heard)
    storage = inside.blocking_copy(desk.storage, desk.storage.with_name("copy"))
    remains = blocking_remains(inside.seen(desk.workspace), storage)
    assert list(judge(remains, token, heard)) == []
    return heard


def refusals(heard: Heard) -> str:
    return " ".join([*heard.refusals, *(result["output"] for result in heard.results if not result["success"])])


async def test_on_a_full_disk_nothing_runs_unrecorded_and_all_goes_on_once_there_is_room(places) -> None:
    workspace, storage = places
    async with (
        mounted(small(storage, KILOBYTES)) as inside,
        open_desk(workspace, storage, peer=inside.server()) as desk,
    ):
        assert refusals(await approve(desk, inside, 0)) == ""
        filler = fill(inside.seen(storage))
        said = [refusals(await approve(desk, inside, number)) for number in range(1, TRIES)]
        assert "full" in said[-1]
        assert "free its disk" in said[-1]
        filler.unlink()
        assert refusals(await approve(desk, inside, TRIES)) == ""


async def test_a_file_that_finds_no_room_in_the_workspace_is_not_written_at_all(places) -> None:
    workspace, storage = places
    async with (
        mounted(small(workspace, 64)) as inside,
        open_desk(workspace, storage, peer=inside.server()) as desk,
    ):
        filler = fill(inside.seen(workspace))
        assert "nothing was written" in refusals(await approve(desk, inside, 0))
        assert [path.name for path in inside.seen(workspace).iterdir()] == ["filler"]
        filler.unlink()
        assert refusals(await approve(desk, inside, 1)) == ""


async def nothing_runs(desk: Desk, why: str) -> None:
    """The server is there, the person has been told why, and whatever is asked of it has no effect."""
    shown = await desk.peer.wait_for("window/showMessage")
    assert shown["type"] == 1
    assert why in shown["message"].lower()
    assert "nothing runs" in shown["message"]
    for method, params in (
        ("thread/create", {}),
        ("thread/list", {}),
        ("tool/pendingApprovals", {}),
        ("thread/prompt", {"threadId": "t", "text": "run touch made.txt"}),
    ):
        with pytest.raises(RpcError) as told:
            await desk.peer.request(method, params)
        assert told.value.kind == "ledgerUnavailable"
        assert why in told.value.message
        assert str(desk.storage) not in told.value.message
    assert os.listdir(desk.workspace) == []


@pytest.mark.parametrize("before", ["a new storage folder", "one that was used before"])
async def test_a_server_whose_storage_is_read_only_says_so_and_runs_nothing(places, before: str) -> None:
    workspace, storage = places
    if before == "one that was used before":
        async with open_desk(workspace, storage) as desk:
            await desk.thread()
    async with (
        mounted(read_only(storage)) as inside,
        open_desk(workspace, storage, peer=inside.server()) as desk,
    ):
        await nothing_runs(desk, "read-only")


async def test_a_server_whose_home_is_read_only_says_so_and_runs_nothing(places, tmp_path: Path) -> None:
    workspace, home = places
    async with mounted(read_only(home)) as inside:
        peer = inside.server(HOME=str(home), XDG_DATA_HOME="")
        async with peer:
            await peer.initialize(workspace, {"trusted": True})
            await nothing_runs(Desk(peer, workspace, home), "read-only")
            assert await peer.shut_down() == 0


async def test_a_server_that_finds_its_disk_full_says_so_and_works_after_a_restart_with_room(places) -> None:
    workspace, storage = places
    async with mounted(small(storage, KILOBYTES)) as inside:
        filler = fill(inside.seen(storage))
        async with open_desk(workspace, storage, peer=inside.server()) as desk:
            await nothing_runs(desk, "full")
        filler.unlink()
        async with open_desk(workspace, storage, peer=inside.server()) as desk:
            assert refusals(await approve(desk, inside, 0)) == ""
