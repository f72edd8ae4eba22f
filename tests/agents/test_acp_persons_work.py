"""An hour of a person's work beside an agent, compressed: no label falls, and few notices, all of them uncertain.

Who else is at work is looked up as in the product. Each kind of work is done sixty times, as often as somebody might in
an hour, without its pauses.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.unpermitted import MOST_UNCERTAIN
from countersign.tools.shell.process_tree import blocking_others_at_work
from tests.agents.scripted_agent_fixture import Player

from .desk import BOUND, Place

ROUNDS = 60
LOOK_EVERY = 5
"""Rounds after which the watcher has to have looked; else it would see all of them as one change."""
SAID = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "at work"}}}
GIT = "git -c user.name=x -c user.email=x@x"
FOLLOW = """
import os, sys
last = None
print("ready", flush=True)
while not os.path.exists("stop"):
    now = open("f.py").read()
    if now != last:
        last = now
        open("bundle.js", "w").write(now)
        print("wrote", flush=True)
"""


class Terminal:
    """A shell of the person's in a terminal of its own, in the workspace. A class because it owns that terminal."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = os.openpty()
        self._shell = subprocess.Popen(
            ["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs, cwd=folder, text=True, bufsize=1,
            preexec_fn=lambda: (os.setsid(), os.close(os.open(os.ttyname(2), os.O_RDWR))),  # noqa: PLW1509
        )  # fmt: skip
        os.close(theirs)

    def run(self, line: str) -> None:
        """Run a line to its end."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{{ {line}; }} >/dev/null 2>&1; echo done\n")
        assert self._shell.stdout.readline() == "done\n"

    def close(self) -> None:
        self._shell.communicate()
        os.close(self._ours)


class Scene:
    """What the kinds of work use. `looks` counts how often it was looked up who else is at work."""

    def __init__(self, place: Place) -> None:
        self.workspace = place.workspace
        self.terminal = Terminal(place.workspace)
        self.looks = threading.Semaphore(0)
        self.watch = ChangeWatch(str(place.workspace), place.gate.running, place.shells, others=self._others)

    def _others(self, workspace: str, roots: Iterable[int]) -> bool:
        found = blocking_others_at_work(workspace, roots)
        self.looks.release()
        return found

    def save(self, name: str, text: str) -> None:
        """Save in the editor, which tells of it."""
        (self.workspace / name).write_text(text)
        self.watch.saved([str(self.workspace / name)])

    def looked(self, round_: int) -> None:
        if round_ % LOOK_EVERY == LOOK_EVERY - 1:
            assert self.looks.acquire(timeout=BOUND), "the watcher did not look at these changes"


def saves(scene: Scene) -> None:
    for round_ in range(ROUNDS):
        scene.save(f"f{round_ % 7}.py", f"x = {round_}\n")


def formatter_on_save(scene: Scene) -> None:
    for round_ in range(ROUNDS):
        scene.save("f.py", f"x={round_}\n")
        # The editor formats what it has saved, and saves it again.
        scene.save("f.py", f"x = {round_}\n")


def build(scene: Scene) -> None:
    for round_ in range(ROUNDS):
        scene.terminal.run(
            f"for n in 1 2 3 4 5 6 7 8; do echo {round_} > built-$n.js; echo {round_} > a-{round_}-$n; done"
        )
        scene.looked(round_)


def git_checkout(scene: Scene) -> None:
    for line in ("git init -q -b main", "echo a > tracked.txt", "git add tracked.txt", f"{GIT} commit -qm one",
                 "git checkout -qb other", "echo b > tracked.txt", f"{GIT} commit -qam two"):  # fmt: skip
        scene.terminal.run(line)
    scene.looked(LOOK_EVERY - 1)
    for round_ in range(ROUNDS):
        scene.terminal.run(f"git checkout -q {'main' if round_ % 2 else 'other'}")
    assert (scene.workspace / "tracked.txt").read_text() == "a\n"


def file_watcher(scene: Scene) -> None:
    scene.save("f.py", "")
    command = [sys.executable, "-c", FOLLOW]
    with subprocess.Popen(command, cwd=scene.workspace, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "ready\n"
        assert watcher.stdout.readline() == "wrote\n"
        for round_ in range(ROUNDS):
            scene.save("f.py", f"x = {round_}\n")
            # A half-written file is followed, too.
            while (scene.workspace / "bundle.js").read_text() != f"x = {round_}\n":
                assert watcher.stdout.readline() == "wrote\n"
            scene.looked(round_)
        scene.save("stop", "")


@asynccontextmanager
async def scene_of(place: Place) -> AsyncIterator[Scene]:
    scene = Scene(place)
    try:
        yield scene
    finally:
        await scene.watch.close()
        await asyncio.to_thread(scene.terminal.close)


QUIET = (saves, formatter_on_save)
"""Of these the editor tells, so that nobody is asked who wrote."""


@pytest.mark.skipif(sys.platform != "linux", reason="who is at work is found in /proc; elsewhere nothing is certain")
@pytest.mark.parametrize("work", [*QUIET, build, git_checkout, file_watcher])
async def test_no_label_falls_and_few_notices_are_shown(place: Place, work: Callable[[Scene], None]):
    async with scene_of(place) as scene:
        player = Player(place, [SAID, {"until": "file"}], gated=True, changes=scene.watch)
        playing = asyncio.ensure_future(player.play())
        await place.until(lambda: bool(place.texts()))
        await asyncio.to_thread(work, scene)
        (place.folder / "scripted.go").touch()
        await playing
        told = place.of("unpermitted")
        assert player.agent.label == "gated"
        assert {event.certain for event in told} <= {False}
        assert len(told) <= (0 if work in QUIET else MOST_UNCERTAIN + 1)
        assert bool(told) == (work not in QUIET)
