"""Whether settings that programs take from a person's home lie in the workspace.

A program that only reads is safe with its person's settings and not with those that an agent may write: ``bat`` starts
the pager that they name, ``curl --version`` empties the file that they name. They lie in the workspace where that is a
folder of settings (``~/.config``), or one that the home's links lead into (a repository of dot files).
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

_FOLDERS = (".config", ".local/share", "Library/Application Support", "Library/Preferences")
"""Folders of the home that hold a file or a folder for each program."""

_VARIABLES = ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")

_HARMLESS = re.compile(r"PATH|(?:OLD)?PWD|INIT_CWD|PYTHONPATH|_|VIRTUAL_ENV\w*|(?:VSCODE|ELECTRON|COUNTERSIGN)_\w*")
"""Variables that say where something stands, and tell programs nothing, or only those whose records say it."""

_GAPS = re.compile(r"[\s:;,='\"]+")

_LEVELS = 3
"""How many folders deep links in the home are looked for (``~/.rustup/toolchains/own``)."""

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
    if any(_leads_in(value, tops) for name, value in disk.variables() if not _HARMLESS.fullmatch(name)):
        return True
    return disk.combined(_links_lead_into, (paths.home, tuple(named), tops))


def _leads_in(value: str, tops: Sequence[str]) -> bool:
    """Whether a place in the workspace stands in the value of a variable."""
    pieces = _GAPS.split(value) if "/" in value else ()
    return any(f"{os.path.normpath(piece)}/".startswith(f"{top}/") for piece in pieces for top in tops if piece)


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


def _links_lead_into(asked: tuple[str, tuple[str, ...], tuple[str, ...]]) -> bool:
    home, named, tops = asked
    left = _MOST_ENTRIES
    for link, is_link in _settings_of(home, named):
        left -= 1
        if left < 0 or (is_link and _lies_in(link, tops)):
            return True
    return False


def _settings_of(home: str, named: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """What may be a program's settings, each with whether it is a symlink."""
    others = [f"{home}/{name}" for name in _FOLDERS if not name.startswith(".")]
    ahead = [(home, 0), *((folder, _LEVELS - 2) for folder in (*others, *named))]
    while ahead:
        folder, level = ahead.pop()
        entries = disk.entries_in(folder)
        for name, is_folder in entries if entries is not None else ():
            if level or name.startswith("."):
                yield f"{folder}/{name}", is_folder is None
                if is_folder and level + 1 < _LEVELS:
                    ahead.append((f"{folder}/{name}", level + 1))


def packages_inside(program: Sequence[str], folders: Sequence[str], paths: PathJudge) -> bool:
    """Whether a package folder of Python names a place in the workspace, as ``pip install -e`` makes one do: what lies
    there is loaded by each program in Python that looks for a module of its name. ``folders`` are patterns below each
    prefix where Python may be, that of ``program`` (a path, or nothing) among them."""
    places = [os.path.dirname(os.path.dirname(each)) for each in program]
    places += [disk.variable("VIRTUAL_ENV"), *_PREFIXES, f"{paths.home}/.local"]
    places += [f"{paths.home}/{_VERSIONS}/{name}" for name in disk.names_in(f"{paths.home}/{_VERSIONS}")]
    tops = (paths.workspace, disk.first_resolved(paths.workspace))
    return disk.combined(_packages_name, (tuple(dict.fromkeys(filter(None, places))), tuple(folders), tops))


_PREFIXES = ("/usr", "/usr/local", "/opt/homebrew")
_VERSIONS = ".pyenv/versions"
_MOST_FOLDERS = 500
_MOST_PATHS = 100_000


def _packages_name(asked: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> bool:
    prefixes, patterns, tops = asked
    for prefix, pattern in itertools.product(prefixes, patterns):
        folders = disk.matching(pattern, prefix, _MOST_FOLDERS)
        if folders is None:
            return True
        for folder in folders:
            names = disk.names_in(f"{prefix}/{folder}")
            if any(_leads(f"{prefix}/{folder}", name, tops) for name in names if name.endswith(".pth")):
                return True
    return False


def _leads(folder: str, file: str, tops: Sequence[str]) -> bool:
    """Whether a line of a file is a path into the workspace; one of code is a path to nothing."""
    text = disk.beginning(f"{folder}/{file}", _MOST_PATHS + 1)
    if text is None or len(text) > _MOST_PATHS:
        return text is not None
    return any(_lies_in(os.path.join(folder, os.fsdecode(line).strip()), tops) for line in text.splitlines() if line)
