"""No change falls between two looks at the workspace: overlapping turns, a failed watcher, links and closed folders."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from countersign.agents.acp import change_watch
from countersign.agents.acp.change_watch import ChangeWatch, Listener
from countersign.agents.acp.tracked_files import TrackedFiles
from countersign.gate.running_calls import RunningCalls

from .desk import BOUND


class Told:
    """Turns at one watcher, and the files that any of them was told of."""

    def __init__(self, workspace: Path) -> None:
        workspace.mkdir()
        self.workspace = workspace
        self.watch = ChangeWatch(str(workspace), RunningCalls(), others=lambda *_: True)
        self.paths: set[str] = set()

    async def say(self, paths: list[str], _certain: bool) -> None:
        self.paths.update(paths)

    @property
    def task(self) -> asyncio.Task[None]:
        assert self.watch._task is not None
        return self.watch._task

    def turn(self, agent: str) -> Listener:
        return Listener(agent, lambda: None, self.say)


@asynccontextmanager
async def told_in(workspace: Path) -> AsyncIterator[Told]:
    told = Told(workspace)
    try:
        async with asyncio.timeout(BOUND):
            yield told
    finally:
        await told.watch.close()


async def no_events(*_: object, **__: object) -> AsyncIterator[set[tuple[int, str]]]:
    await asyncio.Event().wait()
    yield set()


async def fails(*_: object, **__: object) -> AsyncIterator[set[tuple[int, str]]]:
    raise OSError("the limit of watches is reached")
    yield set()


def orders() -> Iterator[tuple[str, ...]]:
    """Each order in which two turns begin and end, the first of them begun first."""
    for order in itertools.permutations(("begin a", "end a", "begin b", "end b")):
        at = order.index
        if at("begin a") < at("end a") and at("begin a") < at("begin b") < at("end b"):
            yield order


@pytest.mark.parametrize("order", list(orders()), ids=", ".join)
@pytest.mark.parametrize("awatch", [no_events, fails], ids=["the watcher is silent", "the watcher fails"])
async def test_turns_that_overlap_or_follow_hide_no_change(
    tmp_path: Path, awatch: object, order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("watchfiles.awatch", awatch)
    async with told_in(tmp_path / "w") as told:
        turns = {name: told.turn(name) for name in "ab"}
        for number, step in enumerate(order):
            what, name = step.split()
            await (told.watch.begin if what == "begin" else told.watch.end)(turns[name])
            (told.workspace / f"{number}.txt").write_text(step)
            if awatch is fails:
                await asyncio.wait({told.task})
        last = told.turn("c")
        await told.watch.begin(last)
        await told.watch.end(last)
        assert told.paths == {f"{number}.txt" for number in range(4)}


@pytest.mark.parametrize("again", [False, True], ids=["the first scan", "a scan between turns"])
async def test_a_turn_that_begins_during_a_scan_hides_no_change(
    tmp_path: Path, again: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("watchfiles.awatch", no_events)
    monkeypatch.setattr(change_watch, "FIRST_SCAN_SECONDS", 0.0)
    monkeypatch.setattr(change_watch, "AFTER_SECONDS", 0.0)
    async with told_in(tmp_path / "w") as told:
        if again:
            earlier = told.turn("a")
            await told.watch.begin(earlier)
            await told.watch.end(earlier)
        scan, scanned, go_on = told.watch._files.blocking_scan, threading.Event(), threading.Event()

        def slow() -> list[str]:
            found = scan()
            scanned.set()
            assert go_on.wait(BOUND)
            return found

        monkeypatch.setattr(told.watch._files, "blocking_scan", slow)
        first, second = told.turn("a"), told.turn("b")
        begins = [asyncio.create_task(told.watch.begin(first))]
        assert await asyncio.to_thread(scanned.wait, BOUND)
        (told.workspace / "a.txt").write_text("x")
        begins.append(asyncio.create_task(told.watch.begin(second)))
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*begins)
        await told.watch.end(first)
        assert told.paths == {"a.txt"}


async def test_the_first_event_tells_of_a_file_that_no_scan_reaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with told_in(tmp_path / "w") as told:
        path = told.workspace / "a.txt"

        async def one_event(*_: object, **__: object) -> AsyncIterator[set[tuple[int, str]]]:
            path.write_text("x")
            yield {(1, str(path))}
            heard.set()
            await asyncio.Event().wait()

        heard = asyncio.Event()
        monkeypatch.setattr("watchfiles.awatch", one_event)
        monkeypatch.setattr("countersign.agents.acp.tracked_files.MOST_FILES", 0)
        await told.watch.begin(told.turn("a"))
        await heard.wait()
        assert told.paths == {"a.txt"}


# What a scan finds.

MADE = {
    "a hook that is a link": (".git/hooks/pre-commit", "../../evil"),
    "a link to a folder": ("src", "/etc"),
    "a link to a folder where files of an agent lie": (".claude", "/etc"),
    "hooks that are a link": (".git/hooks", "../empty"),
    "a hook that is a link to a folder": (".git/hooks/pre-push", "/etc"),
    "a file that steers, below an ignored folder": (".github/hooks/x", None),
    "a file in a folder of the hooks": (".git/hooks/_/pre-commit", None),
}


@pytest.mark.parametrize(("name", "target"), MADE.values(), ids=MADE)
def test_a_scan_and_the_watcher_find_the_same(tmp_path: Path, name: str, target: str | None):
    (tmp_path / ".git").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / ".gitignore").write_text(".github/\n")
    path = tmp_path / name
    scanned, watched = TrackedFiles(str(tmp_path)), TrackedFiles(str(tmp_path))
    scanned.blocking_scan()
    watched.blocking_scan()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x") if target is None else path.symlink_to(target)
    assert watched.blocking_changed([str(path)]) == [str(path)]
    assert scanned.blocking_scan() == [str(path)]
    assert watched.blocking_scan() == []


def test_a_folder_that_cannot_be_read_hides_no_other_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hooks = tmp_path / ".git/hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("mine")
    files = TrackedFiles(str(tmp_path))
    files.blocking_scan()
    (tmp_path / "a.txt").write_text("x")
    scandir = os.scandir

    def closed(path: str) -> object:
        if Path(path) == hooks:
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    assert sorted(files.blocking_scan()) == [str(hooks / "pre-commit"), str(tmp_path / "a.txt")]


@pytest.mark.parametrize("name", [".git", ".codex", ".agents"])
def test_a_placeholder_of_an_agents_own_sandbox_is_no_change(tmp_path: Path, name: str):
    scanned, watched = TrackedFiles(str(tmp_path)), TrackedFiles(str(tmp_path))
    path = tmp_path / name
    for put, removed in ((path.touch, path.unlink), (path.mkdir, path.rmdir)):
        for change in (put, removed):
            change()
            assert (scanned.blocking_scan(), watched.blocking_changed([str(path)])) == ([], [])


@pytest.mark.parametrize("name", [".codex", ".agents"])
def test_what_is_put_in_the_place_of_a_placeholder_is_a_change(tmp_path: Path, name: str):
    scanned, watched = TrackedFiles(str(tmp_path)), TrackedFiles(str(tmp_path))
    path = tmp_path / name
    for text in ("x", ""):
        path.write_text(text)
        assert (scanned.blocking_scan(), watched.blocking_changed([str(path)])) == ([str(path)], [str(path)]), text


def test_an_empty_file_elsewhere_is_a_change(tmp_path: Path):
    files = TrackedFiles(str(tmp_path))
    (tmp_path / "lib").mkdir()
    paths = [str(tmp_path / "lib/.codex"), str(tmp_path / "AGENTS.md")]
    for path in paths:
        Path(path).touch()
    assert files.blocking_changed(paths) == paths


def test_a_file_that_becomes_a_folder_is_gone(tmp_path: Path):
    scanned, watched = TrackedFiles(str(tmp_path)), TrackedFiles(str(tmp_path))
    path = tmp_path / "a"
    path.write_text("x")
    assert (scanned.blocking_scan(), watched.blocking_scan()) == ([str(path)], [str(path)])
    path.unlink()
    path.mkdir()
    assert (scanned.blocking_scan(), watched.blocking_changed([str(path)])) == ([str(path)], [str(path)])


@pytest.mark.parametrize("name", ["commondir", "config.worktree", "info/attributes", "config", "hooks/pre-commit"])
def test_a_file_of_git_that_leads_it_elsewhere_is_a_change(tmp_path: Path, name: str):
    scanned, watched = TrackedFiles(str(tmp_path)), TrackedFiles(str(tmp_path))
    path = tmp_path / ".git" / name
    path.parent.mkdir(parents=True)
    path.write_text("x")
    assert (scanned.blocking_scan(), watched.blocking_changed([str(path)])) == ([str(path)], [str(path)])


class WantedLock(asyncio.Lock):
    """Says when somebody has to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = asyncio.Event()

    async def acquire(self):
        if self.locked():
            self.wanted.set()
        return await super().acquire()


async def test_a_turn_ends_after_what_the_watcher_found_was_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    changed, looking, go_on = asyncio.Event(), threading.Event(), threading.Event()
    path = tmp_path / "w/a.txt"

    async def watches(*_: object, **__: object) -> AsyncIterator[set[tuple[int, str]]]:
        yield set()
        await changed.wait()
        yield {(1, str(path))}
        await asyncio.Event().wait()

    def others(*_: object) -> bool:
        looking.set()
        return go_on.wait(BOUND)

    monkeypatch.setattr("watchfiles.awatch", watches)
    async with told_in(tmp_path / "w") as told:
        told.watch._others = others
        told.watch._looking = looks = WantedLock()
        turn = told.turn("a")
        await told.watch.begin(turn)
        path.write_text("x")
        changed.set()
        await asyncio.to_thread(looking.wait, BOUND)
        looks.wanted.clear()
        ending = asyncio.create_task(told.watch.end(turn))
        waiting = asyncio.create_task(looks.wanted.wait())
        try:
            await asyncio.wait({ending, waiting}, return_when=asyncio.FIRST_COMPLETED)
            assert not ending.done()
        finally:
            go_on.set()
            waiting.cancel()
        await ending
        assert told.paths == {"a.txt"}


def test_a_pipe_named_gitignore_holds_up_no_look_at_the_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "a.txt").write_text("a")
    files = TrackedFiles(str(tmp_path))
    files.blocking_scan()
    (tmp_path / "a.txt").write_text("other")
    assert files.blocking_scan() == [str(tmp_path / "a.txt")]
