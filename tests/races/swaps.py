"""Files, folders and links swapped at random moments while a file tool works on them, and whether anything but what was
approved was ever written, deleted, moved or read.

A swapper in a process of its own takes things away and puts others in their place. It never destroys anything, and
every content in the arena is unlike all others; so whatever is missing afterwards was destroyed by the tool, and
whatever is found shows by its content where it came from. The tool may do away with the one content that stood on the
card, and may add the one that stood there, in the very folder that was approved; both only if it says that it did.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import multiprocessing
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from countersign.gate.permit import Stale
from tests.tools.workbench import Workbench

OLD, NEW, OTHER, OUTSIDE = "old text\n", "new text\n", "another file\n", "outside\n"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("write_file", {"path": "dir/new.txt", "content": NEW}),
    "create deep": ("write_file", {"path": "dir/x/y/new.txt", "content": NEW}),
    "replace": ("write_file", {"path": "dir/a.txt", "content": NEW}),
    "replace by link": ("write_file", {"path": "link", "content": NEW}),
    "edit": ("edit_file", {"path": "dir/a.txt", "edits": [{"old_text": "old", "new_text": "new"}]}),
    "delete": ("delete_file", {"path": "dir/a.txt"}),
    "delete by link": ("delete_file", {"path": "dir-link/a.txt"}),
    "move": ("move_file", {"path": "dir/a.txt", "to": "dir/b.txt"}),
    "move deep": ("move_file", {"path": "dir/a.txt", "to": "dir/x/b.txt"}),
    "move to link": ("move_file", {"path": "dir/a.txt", "to": "to-link/b.txt"}),
    "read": ("read_file", {"path": "dir/a.txt"}),
    "read by link": ("read_file", {"path": "link"}),
}
MOMENTS = 4
"""Swaps in one race, at most."""
LONGEST_PAUSE = 400e-6
"""Seconds between two swaps, at most: a tool is done within one or two milliseconds."""


@dataclass
class Race:
    """One arena: a workspace with a few files and links, and what lies outside. ``made`` are the contents that the
    swapper brought; ``elsewhere`` the folders that nothing may come to be in, but by a link."""

    folder: Path
    call: str
    seed: str
    made: list[str] = field(default_factory=list)
    elsewhere: frozenset[int] = frozenset()


def races(seed: int, numbers: range) -> Iterator[str]:
    """What went wrong in the races of these numbers, one sentence each."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    swapper = context.Process(target=_swap_for_ever, args=(theirs,), daemon=True)
    swapper.start()
    theirs.close()
    root = Path(tempfile.mkdtemp(prefix="countersign-races-")).resolve()
    try:
        for number in numbers:
            call = Random(f"call {seed}/{number}").choice(list(CALLS))
            folder = root / str(number)
            folder.mkdir()
            for fault in asyncio.run(_race(Race(folder, call, f"{seed}/{number}"), ours)):
                yield f"{seed}/{number} {call}: {fault}"
            shutil.rmtree(folder)
    finally:
        ours.close()
        swapper.join(5)
        shutil.rmtree(root, ignore_errors=True)


async def _race(race: Race, swapper: Connection) -> list[str]:
    bench = Workbench(race.folder)
    lay_out(bench)
    name, arguments = CALLS[race.call]
    prepared = bench.prepare(name, **arguments)
    others = [bench.outside, bench.workspace, bench.workspace / ("dir" if race.call == "move to link" else "to")]
    race.elsewhere = frozenset(folder.stat().st_ino for folder in others)
    swapper.send((str(race.folder), race.seed))
    swapper.recv()
    # Both begin at once; how far each has come when the other acts is what differs from race to race.
    outcome = None
    with contextlib.suppress(Stale):
        outcome = await bench.run(name, prepared)
    race.made = swapper.recv()
    await bench.desk.close()
    done = outcome is not None and outcome.success
    said = outcome.output if outcome is not None else ""
    return list(_faults(race, done=done, said=said))


def lay_out(bench: Workbench) -> None:
    bench.file("dir/a.txt", OLD)
    bench.file("other.txt", OTHER)
    bench.file("to/c.txt", "c\n")
    (bench.outside / "a.txt").write_text(OUTSIDE)
    os.symlink("dir/a.txt", bench.workspace / "link")
    os.symlink("dir", bench.workspace / "dir-link")
    os.symlink("to", bench.workspace / "to-link")


def _faults(race: Race, *, done: bool, said: str) -> Iterator[str]:
    found: Counter[str] = Counter()
    places: dict[str, Path] = {}
    for path in race.folder.rglob("*"):
        if ".countersign-" in path.name:
            yield f"`{path.name}` was left behind"
        if path.is_file() and not path.is_symlink():
            content = path.read_text()
            found[content] += 1
            places[content] = path
    tool = CALLS[race.call][0]
    adds = tool in ("write_file", "edit_file")
    takes = race.call in ("replace", "replace by link", "edit", "delete", "delete by link")
    expected = Counter({OTHER: 1, OUTSIDE: 1, "c\n": 1, **dict.fromkeys(race.made, 1)})
    expected[OLD] = 0 if done and takes else 1
    expected[NEW] = 1 if done and adds else 0
    for content in found.keys() | expected.keys():
        if found[content] != expected[content]:
            yield f"{content!r} is there {found[content]} times, not {expected[content]} (done: {done}, {said!r})"
    if [path.name for path in (race.folder / "outside").iterdir()] != ["a.txt"]:
        yield "something was put or taken outside"
    if done and tool in ("write_file", "move_file"):
        place = places.get(NEW if adds else OLD)
        if place is not None and place.parent.stat().st_ino in race.elsewhere:
            yield f"it came to be in another folder than was approved: {place.relative_to(race.folder)}"
    if tool == "read_file" and (OUTSIDE.strip() in said or OTHER.strip() in said):
        yield f"it read what was not approved: {said!r}"


# --- the swapper -----------------------------------------------------------------------------------------------------


def _swap_for_ever(line: Connection) -> None:
    """Swap on request, until the line is closed."""
    with contextlib.suppress(EOFError):
        while True:
            folder, seed = line.recv()
            swapper = Swapper(Path(folder), Random(f"swaps {seed}"))
            line.send("go")
            line.send(swapper.swap())


class Swapper:
    """Takes away and puts in place, destroying nothing and following no link."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.random = random
        self.made: list[str] = []
        self.grave = folder / "grave"
        self.grave.mkdir()
        self.number = 0

    def swap(self) -> list[str]:
        """Swap a few times; the contents that were brought."""
        for _ in range(self.random.randint(1, MOMENTS)):
            until = time.perf_counter() + self.random.random() * LONGEST_PAUSE
            while time.perf_counter() < until:
                pass
            with contextlib.suppress(OSError):
                self.random.choice(self.moves())()
        return self.made

    def moves(self) -> list[Callable[[], None]]:
        path = self.workspace
        return [
            lambda: self.put(path / "dir/a.txt", self.file()),
            lambda: self.put(path / "dir/a.txt", self.link("../other.txt")),
            lambda: self.put(path / "dir/a.txt", self.link(self.folder / "outside/a.txt")),
            lambda: self.put(path / "dir/a.txt", self.made_folder()),
            lambda: self.take(path / "dir/a.txt"),
            lambda: self.put(path / self.fresh_name(), self.file()),
            lambda: self.put(path / self.fresh_name(), self.link(self.folder / "outside/made.txt")),
            lambda: self.put(path / self.fresh_name(), self.link("../other.txt")),
            lambda: self.put(path / self.linked_folder(), self.link(self.folder / "outside")),
            lambda: self.put(path / self.linked_folder(), self.link("to")),
            lambda: self.put(path / self.linked_folder(), self.made_folder()),
            lambda: self.take(path / self.linked_folder()),
            lambda: self.put(path / "link", self.link("other.txt")),
            lambda: self.put(path / "link", self.link(self.folder / "outside/a.txt")),
            lambda: self.put(path / "link", self.file()),
        ]

    def fresh_name(self) -> str:
        return self.random.choice(("dir/new.txt", "dir/b.txt", "dir/x", "to/b.txt"))

    def linked_folder(self) -> str:
        return self.random.choice(("dir", "dir", "dir-link", "to-link", "to"))

    def grave_name(self) -> Path:
        self.number += 1
        return self.grave / str(self.number)

    def file(self) -> Path:
        path, content = self.grave_name(), f"foreign {self.number}\n"
        path.write_text(content)
        self.made.append(content)
        return path

    def link(self, target: str | Path) -> Path:
        path = self.grave_name()
        path.symlink_to(target)
        return path

    def made_folder(self) -> Path:
        path = self.grave_name()
        path.mkdir()
        content = f"foreign in {self.number}\n"
        (path / "a.txt").write_text(content)
        self.made.append(content)
        return path

    def put(self, place: Path, thing: Path) -> None:
        """In one step: what stood there is in the grave then. Where nothing stands, it is put there."""
        with held(place.parent) as folder:
            try:
                rename(folder, place.name, _HERE, str(thing), EXCHANGE)
            except FileNotFoundError:
                rename(_HERE, str(thing), folder, place.name, NOREPLACE)

    def take(self, place: Path) -> None:
        with held(place.parent) as folder:
            rename(folder, place.name, _HERE, str(self.grave_name()), NOREPLACE)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


NOREPLACE, EXCHANGE = 1, 2
_HERE = -100


def rename(source: int, name: str, folder: int, new: str, flags: int) -> None:
    """``renameat2`` of Linux, which Python has no word for."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(source, os.fsencode(name), folder, os.fsencode(new), flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
