"""Changes without a permit are reported; a person's edits, a build or a checkout lower no label."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from countersign.agents.acp import change_watch
from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.tracked_files import TrackedFiles
from countersign.gate.running_calls import RunningCalls
from tests.agents.scripted_agent_fixture import Player, ask, done, report

from .desk import BOUND, Place, make_place


class Told:
    """Hears which files have changed."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, paths: list[str], certain: bool) -> None:
        self.paths += paths


class Watched:
    """A place with a watcher. `others`: somebody else is at work there."""

    def __init__(self, place: Place, others: bool) -> None:
        self.place = place
        self.others = others
        self.looks = threading.Semaphore(0)
        """Released each time the watcher asks whether somebody else is at work."""
        self.watch = ChangeWatch(str(place.workspace), place.gate.running, place.shells, others=self.look)

    def look(self, workspace: str, roots: object) -> bool:
        self.looks.release()
        return self.others

    def player(self, *prompts: list, **script) -> Player:
        steps = json.loads(json.dumps(prompts).replace("{ws}", str(self.place.workspace)))
        return Player(self.place, *steps, gated=True, changes=self.watch, **script)

    def changed(self) -> list[tuple[str, bool]]:
        return [(path, event.certain) for event in self.place.of("unpermitted") for path in event.paths or ()]


@pytest.fixture
async def make_watched(tmp_path: Path) -> AsyncIterator[Callable[[bool], Watched]]:
    place = make_place(tmp_path)
    made: list[Watched] = []

    def make(others: bool = False) -> Watched:
        made.append(Watched(place, others))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            await each.watch.close()
        await place.close()


RUN = {"kind": "execute", "rawInput": {"command": "make"}}
WRITE = {"kind": "edit", "rawInput": {"path": "{ws}/a.txt", "content": "x\n"}}
ROWS = {
    "a write without a word": ([{"write": ["{ws}/a.txt", "x\n"]}], ["a.txt"]),
    "a write that was allowed": ([ask("a", **WRITE), {"write": ["{ws}/a.txt", "x\n"]}, done("a")], []),
    "a write of another file beside it": ([ask("a", **WRITE), {"write": ["{ws}/b.txt", "x\n"]}, done("a")], ["b.txt"]),
    "by a temporary file": ([ask("a", **WRITE), {"write": ["{ws}/.a.txt.tmp1", "x"]}, done("a")], []),
    "what a command changes that was allowed": ([ask("a", **RUN), {"write": ["{ws}/b.txt", "x"]}, done("a")], []),
    "what was told as a read": (
        [ask("a", kind="read", rawInput={"path": "{ws}/a.txt"}), {"write": ["{ws}/a.txt", "x"]}, done("a")], ["a.txt"]),
    "an ignored file": ([{"write": ["{ws}/out/a.o", "x"]}], []),
    "a file that steers an agent, though ignored": ([{"write": ["{ws}/.claude/x.json", "x"]}], [".claude/x.json"]),
    "the same bytes again": ([{"write": ["{ws}/there.txt", "there\n"]}], []),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "told"), ROWS.values(), ids=ROWS)
async def test_a_change_that_no_permit_accounts_for_lowers_the_label(make_watched, steps: list, told: list[str]):
    watched = make_watched()
    for folder in ("out", ".claude"):
        (watched.place.workspace / folder).mkdir()
    (watched.place.workspace / ".gitignore").write_text("out/\n.claude/\n")
    (watched.place.workspace / "there.txt").write_text("there\n")
    watched.place.person.decide = lambda card: {"option": "allow_once"}
    player = watched.player(steps)
    await player.play()
    assert watched.changed() == [(path, True) for path in told]
    assert player.agent.label == ("unguarded" if told else "gated")
    noticed = [row for row in watched.place.rows() if row.phase == "noticed"]
    assert len(noticed) == len(told)


async def test_an_empty_file_that_a_sandbox_may_have_left_is_told_once_and_lowers_no_label(make_watched):
    watched = make_watched()
    (watched.place.workspace / ".agents").touch()  # it was there before
    steps = [{"write": ["{ws}/.git", ""]}, {"write": ["{ws}/.codex", ""]}]
    player = watched.player(steps, [{"write": ["{ws}/.codex", "x"]}], [SAID])
    await player.play()
    assert sorted(watched.changed()) == [(".codex", False), (".git", False)]
    assert player.agent.label == "gated"
    await player.play()
    assert (".codex", True) in watched.changed()[2:]
    assert player.agent.label == "unguarded"


async def test_an_empty_file_that_a_permitted_command_left_is_told_once_the_command_has_ended(
    make_watched, monkeypatch: pytest.MonkeyPatch
):
    watched = make_watched()
    player = watched.player([{"write": ["{ws}/.git", ""]}])
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(watched.place.gate.running, "account_for", lambda path: True)
        await player.play()
        assert watched.changed() == []
    await watched.place.until(lambda: bool(watched.changed()))
    assert (watched.changed(), player.agent.label) == ([(".git", False)], "gated")


async def test_a_change_is_told_once_in_a_chat_whatever_turns_it_had_before(make_watched):
    watched = make_watched()
    player = watched.player([SAID], [SAID], [{"write": ["{ws}/a.txt", "x"]}])
    for _ in range(3):
        await player.play()
    assert watched.changed() == [("a.txt", True)]


async def test_an_empty_file_that_is_gone_at_the_end_is_not_told(make_watched):
    watched = make_watched()
    path = watched.place.workspace / ".git"
    player = watched.player([{"write": ["{ws}/.git", ""]}, SAID, {"until": "file"}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    path.unlink()
    (watched.place.folder / "scripted.go").touch()
    await playing
    assert (watched.changed(), player.agent.label) == ([], "gated")


async def test_where_somebody_else_is_at_work_it_is_uncertain_and_the_label_stays(make_watched):
    watched = make_watched(True)
    player = watched.player([{"write": ["{ws}/a.txt", "x"]}])
    await player.play()
    assert watched.changed() == [("a.txt", False)]
    assert player.agent.label == "gated"
    assert [row.outcome for row in watched.place.rows()] == [{"certain": False}]


async def test_a_change_is_told_of_while_the_turn_goes_on(make_watched):
    watched = make_watched()
    player = watched.player([SAID, {"until": "file"}, {"write": ["{ws}/a.txt", "x"]}, {"until": "cancel"}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    (watched.place.folder / "scripted.go").touch()
    await watched.place.until(lambda: bool(watched.changed()))
    row = next(row for row in watched.place.rows() if row.phase == "noticed")
    assert row.tool == "workspace"
    await player.agent.cancel("thread")
    await playing


async def test_a_first_scan_that_outlasts_the_turn_is_waited_for(make_watched, monkeypatch: pytest.MonkeyPatch):
    watched = make_watched()
    monkeypatch.setattr(change_watch, "FIRST_SCAN_SECONDS", 0.0)
    scan, scanned, written = watched.watch._files.blocking_scan, threading.Event(), threading.Event()

    def slow() -> list[str]:
        found = scan()
        scanned.set()
        assert written.wait(BOUND)
        return found

    monkeypatch.setattr(watched.watch._files, "blocking_scan", slow)
    player = watched.player([{"until": "file"}, {"write": ["{ws}/a.txt", "x"]}, SAID])
    playing = asyncio.ensure_future(player.play())
    assert await asyncio.to_thread(scanned.wait, BOUND)
    (watched.place.folder / "scripted.go").touch()
    await watched.place.until(lambda: bool(watched.place.texts()))
    written.set()
    await playing
    assert watched.changed() == [("a.txt", True)]
    assert player.agent.label == "unguarded"


async def test_what_changes_before_the_watcher_runs_is_told_of(make_watched, monkeypatch: pytest.MonkeyPatch):
    watched = make_watched()
    loaded, load = asyncio.Event(), change_watch.load

    async def slow(name: str) -> None:
        await loaded.wait()
        await load(name)

    monkeypatch.setattr(change_watch, "load", slow)
    player = watched.player([{"write": ["{ws}/a.txt", "x"]}, SAID, {"until": "cancel"}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    loaded.set()
    await watched.place.until(lambda: bool(watched.changed()))
    await player.agent.cancel("thread")
    await playing
    assert watched.changed() == [("a.txt", True)]


SAID = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "at work"}}}


async def test_what_is_written_after_a_stop_is_told_of(make_watched):
    watched = make_watched()
    player = watched.player([SAID, {"until": "cancel"}, {"answer": "cancelled"}, {"until": "file"},
                             {"write": ["{ws}/late.txt", "x"]}])  # fmt: skip
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    await player.agent.cancel("thread")
    assert await playing == "cancelled"
    (watched.place.folder / "scripted.go").touch()
    await watched.place.until(lambda: bool(watched.changed()))
    assert watched.changed() == [("late.txt", True)]


async def test_a_save_in_the_editor_is_the_persons(make_watched):
    watched = make_watched()
    player = watched.player([SAID, {"until": "file"}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    path = watched.place.workspace / "mine.txt"
    watched.watch.saved([str(path)])
    path.write_text("mine")
    (watched.place.folder / "scripted.go").touch()
    await playing
    assert watched.changed() == []
    assert player.agent.label == "gated"


async def test_a_folder_that_is_moved_or_deleted_in_the_editor_is_the_persons(make_watched, monkeypatch):
    """What the agent writes below it meanwhile is not."""
    watched = make_watched()
    workspace = watched.place.workspace
    for name in ("moved/a.txt", "deleted/b.txt"):
        (workspace / name).parent.mkdir()
        (workspace / name).write_text(name)
    monkeypatch.setattr(change_watch, "_is_recent", lambda path: path.endswith("evil.txt"))
    player = watched.player([SAID, {"until": "file"}, {"write": ["{ws}/target/evil.txt", "x"]}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    watched.watch.saved([str(workspace / name) for name in ("moved", "target", "deleted")])
    (workspace / "moved").rename(workspace / "target")
    shutil.rmtree(workspace / "deleted")
    (watched.place.folder / "scripted.go").touch()
    await playing
    assert watched.changed() == [("target/evil.txt", True)]
    assert player.agent.label == "unguarded"


def test_a_file_that_was_just_written_is_recent_and_one_that_is_gone_is_not(tmp_path: Path):
    (tmp_path / "a").touch()
    assert change_watch._is_recent(str(tmp_path / "a"))
    assert not change_watch._is_recent(str(tmp_path / "gone"))


@pytest.mark.parametrize("stays", [False, True])
async def test_a_name_that_a_change_of_ours_uses_is_told_only_where_it_stays(make_watched, stays: bool):
    watched = make_watched()
    name = f".countersign-{'a' * 16}-{'b' * 16}.new"
    listener = change_watch.Listener("it", lambda: None, told_to := Told())
    await watched.watch.begin(listener)
    path = watched.place.workspace / name
    if stays:
        path.write_text("x")
    await watched.watch._tell([str(path)])
    assert told_to.paths == ([name] if stays else [])


async def test_two_agents_at_work_leave_it_uncertain(make_watched):
    watched = make_watched()
    other = watched.player([SAID, {"until": "file"}], name="other")
    playing = asyncio.ensure_future(other.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    player = watched.player([{"write": ["{ws}/a.txt", "x"]}])
    await player.play()
    assert {certain for _, certain in watched.changed()} == {False}
    assert (player.agent.label, other.agent.label) == ("gated", "gated")
    (watched.place.folder / "other.go").touch()
    await playing


GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@x")


async def test_a_persons_work_beside_an_agent_lowers_no_label(make_watched):
    """Saves, a build, a formatter, `git checkout` and a watcher that writes, all while an agent works."""
    watched = make_watched(True)
    workspace = watched.place.workspace

    def git(*words: str) -> None:
        subprocess.run([*GIT, *words], cwd=workspace, check=True, capture_output=True)

    def work() -> None:
        for round_ in range(5):
            git("checkout", "-q", "other" if round_ % 2 else "main")
            for number in range(20):
                (workspace / f"built-{number}.js").write_text(f"{round_}")
            (workspace / "f.py").write_text(f"x = {round_}\n")
            assert watched.looks.acquire(timeout=BOUND), "the watcher did not look at these changes"

    def prepare() -> None:
        git("init", "-q", "-b", "main")
        for branch in ("main", "other"):
            (workspace / "tracked.txt").write_text(branch)
            git("add", "tracked.txt")
            git("commit", "-qm", branch)
            if branch == "main":
                git("checkout", "-q", "-b", "other")

    await asyncio.to_thread(prepare)
    player = watched.player([SAID, {"until": "file"}])
    playing = asyncio.ensure_future(player.play())
    await watched.place.until(lambda: bool(watched.place.texts()))
    await asyncio.to_thread(work)
    (watched.place.folder / "scripted.go").touch()
    await playing
    assert player.agent.label == "gated"
    assert {certain for _, certain in watched.changed()} <= {False}
    assert len(watched.place.of("unpermitted")) <= 5


# What is compared.


def test_the_first_scan_knows_every_file_and_later_ones_say_what_differs(tmp_path: Path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.gitignore").write_text("*.log\n!keep.log\n")
    (tmp_path / "sub/x.log").write_text("")
    (tmp_path / "sub/keep.log").write_text("")
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / ".git/index").write_text("")
    files = TrackedFiles(str(tmp_path))
    names = {os.path.relpath(path, tmp_path) for path in files.blocking_scan()}
    assert names == {"a", "sub/.gitignore", "sub/keep.log"}
    (tmp_path / "a").write_text("b")
    (tmp_path / "sub/x.log").write_text("more")
    (tmp_path / "sub/keep.log").unlink()
    (tmp_path / ".git/index").write_text("more")
    (tmp_path / ".git/hooks/post-commit").write_text("evil")
    (tmp_path / "link").symlink_to("/etc/passwd")
    found = {os.path.relpath(path, tmp_path) for path in files.blocking_scan()}
    assert found == {"a", "sub/keep.log", ".git/hooks/post-commit", "link"}
    assert files.blocking_scan() == []


def test_a_file_with_its_old_times_is_still_seen_to_have_changed(tmp_path: Path):
    path = tmp_path / "a"
    path.write_text("one")
    files = TrackedFiles(str(tmp_path))
    files.blocking_scan()
    state = path.stat()
    path.write_text("two")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert files.blocking_scan() == [str(path)]


def test_a_pipe_is_not_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    assert TrackedFiles(str(tmp_path)).blocking_scan() == [str(tmp_path / "pipe")]


def test_nothing_runs_nothing_is_accounted_for():
    assert not RunningCalls().account_for("/w/a")


async def test_a_silent_read_only_turn_says_nothing(make_watched):
    watched = make_watched()
    player = watched.player([report("a", kind="read", rawInput={"path": "x"}), done("a")])
    await player.play()
    assert watched.changed() == []
    assert player.agent.label == "gated"
