"""Whether settings that programs take from a person's home lie in the workspace.

A program that only reads is safe with its person's settings and not with those that an agent may write: ``bat`` starts
the pager that they name, ``curl --version`` empties the file that they name. They lie in the workspace where that is a
folder of settings (``~/.config``), or one that the home's links lead into (a repository of dot files).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

_FOLDERS = (".config", ".local/share", "Library/Application Support", "Library/Preferences")
"""Folders of the home that hold a file or a folder for each program."""

_VARIABLES = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")

_MOST_ENTRIES = 20_000
"""Names in the home that are looked at; with more, any of them may lead into the workspace."""


_NEAR = 2
"""How many folders deep in a place programs keep settings."""


def settings_inside(paths: PathJudge) -> bool:
    """Whether settings of a program may lie in the workspace. Looks at the home's names that begin with a dot, and at
    those in their folders, for symlinks that lead there."""
    tops = tuple(dict.fromkeys((paths.workspace, disk.first_resolved(paths.workspace))))
    kept = [f"{paths.home}/{folder}" for folder in _FOLDERS]
    below = [top[len(paths.home) + 1 :] for top in tops if top.startswith(f"{paths.home}/.")]
    if any(_is_near(name.split("/")) for name in below) or any(_lies_in(folder, tops) for folder in kept):
        return True
    named = [place for variable in _VARIABLES for place in disk.variable(variable).split(":") if place]
    if any(not place.startswith("/") or _lies_in(place, tops) for place in named):
        return True
    return disk.combined(_links_lead_into, (paths.home, tops))


def _is_near(below: Sequence[str]) -> bool:
    return len(below) <= _NEAR


def _lies_in(path: str, tops: Sequence[str]) -> bool:
    """Whether a place lies in the workspace, or the workspace near below it."""
    for way in dict.fromkeys((os.path.normpath(path), disk.resolved(path))):
        if any(f"{way}/".startswith(f"{top}/") for top in tops):
            return True
        if any(_is_near(top[len(way) + 1 :].split("/")) for top in tops if top.startswith(f"{way}/")):
            return True
    return False


def _links_lead_into(asked: tuple[str, tuple[str, ...]]) -> bool:
    home, tops = asked
    left = _MOST_ENTRIES
    for link, is_link in _settings_of(home):
        left -= 1
        if left < 0 or (is_link and _lies_in(link, tops)):
            return True
    return False


def _settings_of(home: str) -> Iterator[tuple[str, bool]]:
    """What may be a program's settings, each with whether it is a symlink."""
    folders = [home, *(f"{home}/{name}" for name in _FOLDERS)]
    below: list[str] = []
    for folder in folders:
        entries = disk.entries_in(folder)
        yield folder, folder != home and disk.is_link(folder)
        for name, is_folder in entries if entries is not None else ():
            path = f"{folder}/{name}"
            if folder != home or name.startswith("."):
                yield path, is_folder is None
                if is_folder and path not in folders:
                    below.append(path)
    for folder in below:
        entries = disk.entries_in(folder)
        for name, is_folder in entries if entries is not None else ():
            yield f"{folder}/{name}", is_folder is None
