"""Walking a folder by descriptors: no link is followed, ``.git`` is not entered, what is not ours to read is passed by.

Folders that tools fill (dependencies, caches, build output) come last, so that whoever stops early has seen the
project's own files first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from countersign.tools.files.safe_open import held_folder
from countersign.tools.visible import file_name

Kind = Literal["file", "folder", "link", "other"]
DEPTH = 100
"""Deeper folders are passed by."""
_FILLED_BY_TOOLS = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", "target", "dist", "build", ".tox", ".cache", ".pytest_cache"}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder, ``shown`` as it may be printed."""

    name: str
    shown: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that a walk came to: its path below the start, and the folder it is in, held until the next step."""

    path: str
    folder: int
    entry: Entry


Walk = Generator[Found, None, None]
"""To be closed by whoever stops early: it holds folders open."""


@contextmanager
def held_for_listing(path: str) -> Iterator[int]:
    """A descriptor of this folder that can be listed. Raises as ``held_folder`` does."""
    with held_folder(path) as folder:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def entries(folder: int) -> list[Entry]:
    """What is in this folder, by name."""
    with os.scandir(folder) as scanned:
        listed = [Entry(item.name, file_name(item.name), _kind(item)) for item in scanned]
    return sorted(listed, key=lambda entry: entry.name)


def walk(folder: int, enter: Callable[[str], bool]) -> Walk:
    """Everything below this folder, files of a folder before its folders.

    ``enter`` says of a folder's path below the start whether to go in.
    """
    later: list[str] = []
    yield from _walk(folder, enter, "", later)
    for path in later:
        with suppress(OSError), ExitStack() as held:
            inner = folder
            for part in path.split("/"):
                inner = held.enter_context(_entered(inner, part))
            yield from _walk(inner, enter, path + "/", None)


def in_walking_order(paths: Iterable[str]) -> list[str]:
    """Return paths of files in the order in which ``walk`` comes to them."""

    def place(path: str) -> tuple[bool, list[tuple[bool, str]]]:
        *folders, name = path.split("/")
        return not _FILLED_BY_TOOLS.isdisjoint(folders), [*((True, folder) for folder in folders), (False, name)]

    return sorted(paths, key=place)


def known_files(folder: int, paths: Iterable[str], enter: Callable[[str], bool]) -> Walk:
    """Those of these files that ``walk`` would come to: through folders that may be entered, following no link."""
    entered: dict[str, bool] = {}
    for path in paths:
        *folders, name = path.split("/")
        if not name or ".git" in folders or ".." in folders or "" in folders or len(folders) > DEPTH:
            continue
        above = ["/".join(folders[: number + 1]) for number in range(len(folders))]
        if not all(entered[each] if each in entered else entered.setdefault(each, enter(each)) for each in above):
            continue
        with suppress(OSError), ExitStack() as held:
            inner = folder
            for part in folders:
                inner = held.enter_context(_entered(inner, part))
            if stat.S_ISREG(os.stat(name, dir_fd=inner, follow_symlinks=False).st_mode):
                yield Found(path, inner, Entry(name, file_name(name), "file"))


def filled_by_tools(path: str) -> bool:
    """Whether this path lies in a folder that tools fill."""
    return not _FILLED_BY_TOOLS.isdisjoint(path.split("/"))


def _walk(folder: int, enter: Callable[[str], bool], below: str, later: list[str] | None) -> Walk:
    try:
        listed = entries(folder)
    except OSError:
        return
    for entry in listed:
        if entry.kind != "folder":
            yield Found(below + entry.name, folder, entry)
    for entry in listed:
        if entry.kind != "folder":
            continue
        path = below + entry.name
        yield Found(path, folder, entry)
        if entry.name == ".git" or below.count("/") >= DEPTH or not enter(path):
            continue
        if later is not None and entry.name in _FILLED_BY_TOOLS:
            later.append(path)
            continue
        # A folder that is no folder any more, or not for us, is passed by.
        with suppress(OSError), _entered(folder, entry.name) as inner:
            yield from _walk(inner, enter, path + "/", later)


@contextmanager
def _entered(folder: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _kind(item: os.DirEntry[str]) -> Kind:
    try:
        if item.is_symlink():
            return "link"
        if item.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if stat.S_ISREG(item.stat(follow_symlinks=False).st_mode) else "other"
    except OSError:
        return "other"
