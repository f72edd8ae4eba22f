"""Whether settings that programs take from a person's home lie in the workspace.

A program that only reads is safe with its person's settings and not with those that an agent may write: ``rustc
--version`` runs the tool chain that they name, ``file`` believes what they say of a file. They lie in the workspace
where that is a folder of settings (``~/.config``), or one that the home's links lead into (a repository of dot files).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

_FOLDERS = (".config", ".local/share", "Library/Application Support", "Library/Preferences")
"""Folders of the home that hold a file or a folder for each program."""

_LISTS = frozenset({"XDG_CONFIG_DIRS", "XDG_DATA_DIRS"})
_OF_THE_SYSTEM = ("/usr/", "/etc/", "/var/", "/snap/", "/run/", "/nix/", "/opt/")
"""Where the folders that these variables name hold what nobody but the system's own packages puts there."""

_HARMLESS = re.compile(
    r"PATH|(?:OLD)?PWD|INIT_CWD|PYTHONPATH|_|VIRTUAL_ENV\w*|(?:VSCODE|ELECTRON|COUNTERSIGN)_\w*|HOME|SHELL|TE?MP|TMPDIR"
    r"|(?:MAN|INFO|WINDOW)PATH"
)
"""Variables that say where something stands, and tell programs nothing, or only those whose records say it."""

_FOLDERS_NAMED = re.compile(r"\w*(?:PATHS?|DIRS?|HOME|PREFIX|ROOT|FILES?|CONF|RC|CACHE|COVERAGE)", re.IGNORECASE)
"""Variables that name folders or files, or list them: an empty or a relative one is the folder where a program runs."""

_NO_PLACE = re.compile(r"\d+|true|false|yes|no|on|off|none|auto|.*=/.*", re.IGNORECASE)
"""Values of such variables that name no relative place: a switch, or a place behind a name."""

_NOT_EXPANDED = ("./", "../", "~/", "$", "%", "@{")
"""How relative paths begin, and what only a shell expands: elsewhere it is the name of a folder."""

_GAPS = re.compile(r"[\s:;,='\"]+")

_LEVELS = 3
"""How many folders deep links in the home are looked for (``~/.rustup/toolchains/own``)."""

_MOST_ENTRIES = 20_000
"""Names in the home that are looked at; with more, any of them may lead into the workspace."""

_NEAR = 3
"""How many folders deep in a place programs keep settings."""


def settings_inside(paths: PathJudge) -> bool:
    """Whether settings of a program may lie in the workspace. Looks at the home's names that begin with a dot, and at
    those in their folders, for symlinks that lead there."""
    tops = workspace_tops(paths)
    # Some programs ask the system for the home (sqlite3), whatever `HOME` says.
    asked = disk.home_of_person()
    homes = tuple(dict.fromkeys(filter(None, (*paths.homes, asked))))
    kept = [f"{home}/{folder}" for home in homes for folder in _FOLDERS]
    below = [top[len(home) + 1 :] for home in homes for top in tops if top.startswith(f"{home}/.")]
    if any(_is_near(name.split("/")) for name in below) or any(lies_in(folder, tops) for folder in kept):
        return True
    named: list[str] = []
    for name, value in disk.variables():
        if _HARMLESS.fullmatch(name):
            continue
        if _depends_on_folder(name, value):
            return True
        pieces = [piece for piece in _GAPS.split(value) if piece.startswith("/")] if "/" in value else []
        if any(lies_in(piece, tops) for piece in pieces):
            return True
        walked = (piece for piece in pieces if not _is_above(piece, homes))
        named += [piece for piece in walked if name not in _LISTS or not f"{piece}/".startswith(_OF_THE_SYSTEM)]
    return any(
        disk.combined(_links_lead_into, (home, tuple(dict.fromkeys(named)), tops))
        for home in dict.fromkeys(filter(None, (paths.home, asked)))
    )


def workspace_tops(paths: PathJudge) -> tuple[str, ...]:
    """The workspace as it is spelled, and as it resolves."""
    return tuple(dict.fromkeys((paths.workspace, disk.first_resolved(paths.workspace))))


def _depends_on_folder(name: str, value: str) -> bool:
    """Whether a variable names a place by the folder where a program runs: by a relative path, or as a list of folders
    by an empty one."""
    if value in {".", ".."} or any("/" in each and each.startswith(_NOT_EXPANDED) for each in _GAPS.split(value)):
        return True
    parts = value.split(":") if _FOLDERS_NAMED.fullmatch(name) and value else ()
    return any(not part.startswith("/") and not _NO_PLACE.fullmatch(part) for part in parts)


def _is_above(path: str, places: Sequence[str]) -> bool:
    return any(f"{place}/".startswith(f"{path.rstrip('/')}/") for place in places)


def _is_near(below: Sequence[str]) -> bool:
    return len(below) <= _NEAR


def lies_in(path: str, tops: Sequence[str], resolve: Callable[[str], str] = disk.resolved) -> bool:
    """Whether a place lies in the workspace, or the workspace near below it."""
    for way in dict.fromkeys((os.path.normpath(path), resolve(path))):
        if any(f"{way}/".startswith(f"{top}/") for top in tops):
            return True
        if any(_is_near(top[len(way) + 1 :].split("/")) for top in tops if top.startswith(f"{way}/")):
            return True
    return False


def _links_lead_into(asked: tuple[str, tuple[str, ...], tuple[str, ...]]) -> bool:
    home, named, tops = asked
    left, resolve = _MOST_ENTRIES, disk.Resolver()
    for link, is_link in _settings_of(home, named):
        left -= 1
        if left < 0 or (is_link and lies_in(link, tops, resolve)):
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
                # Behind a link there may be a folder as well.
                if is_folder is not False and level + 1 < _LEVELS:
                    ahead.append((f"{folder}/{name}", level + 1))
