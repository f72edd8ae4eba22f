"""Which program runs under a name, and whether files of others have a say in it.

Only a compiled program in one of the system's folders is what its name says, wherever it runs and whoever wrote files
there. Any other program is not in the read-only set (docs/gate.md "Commands that only read"), nor is one that is found
only in the workspace, or that a file chooses which an agent or a stranger may have written (`rust-toolchain.toml`, and
all those by which a version manager chooses what its shims run).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.system_folders import DEFAULT_PATH, PACKAGED_FOLDERS, SYSTEM_FOLDERS
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.shell.effects.settings_inside import lies_in, workspace_tops
from countersign.gate.shell.programs.tables import FACETS, SHELLS, WRAPPERS, field_of, names_with


class ProgramPath(NamedTuple):
    """The folders of the path in the workspace, those elsewhere, and of these the folders of shims; the home as it is
    spelled and resolved; and the workspace, with a slash behind it, in the same way, and how scripts may name places in
    it."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    shims: frozenset[str]
    homes: tuple[str, ...]
    tops: tuple[str, ...]
    named: tuple[str, ...]


def program_path(workspace: str, home: str) -> ProgramPath:
    """The path, as it is now."""
    return _program_path(disk.variable("PATH"), workspace, home)


@lru_cache(maxsize=16)
def _program_path(path: str, workspace: str, home: str) -> ProgramPath:
    folders = [folder for folder in path.split(":") if folder.startswith("/")] or DEFAULT_PATH.split(":")
    # Links of the path are followed once, as it costs much: an agent that can make one outside may make programs there.
    tops = (f"{workspace.rstrip('/')}/", f"{disk.first_resolved(workspace).rstrip('/')}/")
    inside = tuple(
        folder
        for folder in folders
        if any(f"{each}/".startswith(tops) for each in (folder, disk.first_resolved(folder)))
    )
    outside = tuple(dict.fromkeys(folder for folder in folders if folder not in inside))
    homes = tuple(dict.fromkeys((home, disk.first_resolved(home))))
    below_home = [top[len(each) :].rstrip("/") for each in homes for top in tops if top.startswith(f"{each}/")]
    named = [*filter(None, below_home)] or [top.rstrip("/") for top in tops]
    shims = frozenset(folder for folder in outside if _holds_shims(folder) or _holds_shims(disk.first_resolved(folder)))
    return ProgramPath(inside, outside, shims, homes, tops, tuple(dict.fromkeys(named)))


def _holds_shims(folder: str) -> bool:
    return f"{os.path.normpath(folder)}/".endswith(_SHIM_FOLDERS)


_SHIM_FOLDERS = ("/shims/", *(f"/{folder}/" for folder in field_of("shims", "folder").values()))

_CHOSEN_BY = {key[0]: tuple(files.split()) for key, files in field_of("read_only", "chosen_by").items()}
"""Files by which these choose what they run, even to tell their version: a tool chain's folder, a script that stands
for the program, what the virtual machine loads."""

CHOOSING_FILES = frozenset(part for files in _CHOSEN_BY.values() for file in files for part in file.split("/"))
"""The names of all such files, and of the folders in which they lie."""

_LED_BY = {key[0]: tuple(names.split()) for key, names in field_of("read_only", "led_by").items()}
"""Variables that name places from which these load code."""

_BUILTINS = names_with("builtin")
_START_NO_OTHER = names_with("starts_no_other")


def chosen_by_others(
    name: str, places: Iterable[str], path: ProgramPath, paths: PathJudge, made: Collection[str] = ()
) -> bool:
    """Whether a file may choose what runs under this name, seen from these places, or a variable leads the program
    into the workspace. Files of folders above the workspace count as well, but the home's own, which its person wrote
    (where they are no links, which may lead anywhere).
    ``made`` are folded names of files that are made before it runs.
    """
    files, variables = _CHOSEN_BY.get(name, ()), _LED_BY.get(name, ())
    if any(_leads_inside(disk.variable(variable), paths) for variable in variables):
        return True
    if (files or variables) and _in_workspace(paths.home, paths):
        # What these take from a home (`~/.cargo`) is written as freely as the rest of the workspace.
        return True
    if name not in _BUILTINS and runs_by_shim(name, path):
        return True
    if not files:
        return False
    if made and any(fold(part) in made for file in files for part in file.split("/")):
        return True
    if any(disk.is_link(f"{home}/{file}") for home in paths.homes for file in files):
        return True
    return any(disk.combined(_chooses, (folder, files)) for folder in _folders_above(places, paths))


def _folders_above(places: Iterable[str], paths: PathJudge) -> Iterator[str]:
    """These places and all folders above them, by each spelling."""
    seen: set[str] = set()
    for place in places:
        resolved = paths.resolve(place, cwd=paths.workspace).resolved
        for spelling in dict.fromkeys((os.path.normpath(place), resolved or "/")):
            folder = spelling
            while folder not in seen:
                seen.add(folder)
                if folder not in paths.homes or f"{folder}/".startswith(f"{paths.workspace}/"):
                    yield folder
                folder = os.path.dirname(folder)


def _chooses(at: tuple[str, tuple[str, ...]]) -> bool:
    folder, files = at
    return any(_may_be_there("" if folder == "/" else folder, name) for name in files)


def _may_be_there(base: str, name: str) -> bool:
    return disk.path_stat(f"{base}/{name}") not in disk.MISSING or _behind_link(base, name)


def _behind_link(base: str, name: str) -> bool:
    """Whether a link stands on the way, which may lead each process elsewhere (``/proc/self/cwd``)."""
    parts = name.split("/")[:-1]
    ways = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(disk.is_link(f"{base}/{way}") for way in ways)


def runs_by_shim(name: str, path: ProgramPath) -> bool:
    """Whether the shim of a version manager runs under this name. What it starts is chosen by files of many names in
    every folder above, in the home and of plug-ins, which may name any program."""
    way = disk.first_program(name, path.outside)
    return bool(way) and (
        os.path.dirname(way[0]) in path.shims or any(_holds_shims(os.path.dirname(each)) for each in way[1:])
    )


def _leads_inside(value: str, paths: PathJudge) -> bool:
    """Whether a variable names a place in the workspace, or one that depends on the folder."""
    pieces = re.split(r":|\s+", value) if value else []
    return any(
        _in_workspace(piece, paths) or lies_in(piece, workspace_tops(paths))
        if piece.startswith("/")
        else not piece.startswith(("-", "+"))
        for piece in pieces
    )


def _in_workspace(path: str, paths: PathJudge) -> bool:
    """Whether a spelling of this path lies in the workspace."""
    resolved = paths.resolve(path, cwd="/")
    return any(
        spelling is None or paths.inside_workspace(spelling, cwd="/")
        for spelling in (resolved.lexical, resolved.resolved)
    )


STARTS = {key[0]: tuple(names.split()) for key, names in field_of("read_only", "starts").items()}
"""All the programs that others start by their names while they read, as scripts or by what lies in a file."""

_SHELL_SCRIPTS = names_with("shell_script")
"""Programs that may be scripts for a shell, which load nothing and start only what their records say."""

_COMPILED = tuple(map(bytes.fromhex, "7f454c46 feedface feedfacf cefaedfe cffaedfe cafebabe".split()))
"""How programs begin that a system runs by itself (ELF, Mach-O)."""


def why_strange(name: str, path: ProgramPath, *, by_shell: bool = False) -> str | None:
    """Why the program of this name may be another, or load code of others, or None: it does not lie in one of the
    system's folders, or it is a script of which no record says what it loads. ``by_shell``: the shell runs it itself,
    which may have a builtin of this name. A shim asks in any case (``chosen_by_others``)."""
    way = () if by_shell and name in _BUILTINS else disk.first_program(name, path.outside)
    if not way or runs_by_shim(name, path):
        return None
    if not _is_of_system(way, path):
        return f"`{name}` is not one of the system's programs on this machine, and what it loads is not known"
    if not _is_compiled(way[-1]) and not (name in _SHELL_SCRIPTS and _runs_by_system_shell(way[-1], path)):
        return f"`{name}` is a script on this machine, and what it loads is not known"
    file = os.path.basename(way[-1])
    if not _is_called(file, name):
        return f"`{name}` leads to `{file}` on this machine, which may run another program"
    return None


def _is_called(file: str, name: str) -> bool:
    """Whether the file of a program is that of this name: `python3.11` of `python3`, `mawk` of `awk`, or one that is
    many programs. A wrapper (`ccache`) looks up by the name what it runs."""
    base = _OF_MACHINE.sub("", file)
    if base == name or file in _MANY_IN_ONE or (name in SHELLS and base in SHELLS):
        return True
    alone, _, ending = base.partition(".")
    return (
        (base.startswith(name) and _VERSION_BEHIND.fullmatch(base, len(name)) is not None)
        or (alone == name and ending.isalpha())
        or base == f"g{name}"  # GNU's, beside others
        or base in _SAME_FILES.get(name, ())
        or name in _SAME_FILES.get(base, ())
    )


_OF_MACHINE = re.compile(r"\A\w+-(?:\w+-)?linux-\w+-")
_VERSION_BEHIND = re.compile(r"[-.]?\d[\d.]*")
_MANY_IN_ONE = names_with("many_in_one")
_SAME_FILES = {key[0]: frozenset(names.split()) for key, names in FACETS["same_file"].items()}
"""By program names of its file, and names of links to it, for which it runs no other program."""


def _is_of_system(way: Sequence[str], path: ProgramPath) -> bool:
    """Whether a program and all links to it lie in the system's folders, none of which is in the home, and none of
    which the workspace holds or is."""
    if any(map(_overlaps_system, path.tops)):
        return False
    folders = (disk.first_resolved(os.path.dirname(way[0])), *map(os.path.dirname, way[1:]))
    return all(
        f"{folder}/".startswith(SYSTEM_FOLDERS) and not any(f"{folder}/".startswith(f"{home}/") for home in path.homes)
        for folder in folders
    )


@lru_cache(maxsize=16)
def _overlaps_system(top: str) -> bool:
    if any(folder.startswith(top) for folder in (*SYSTEM_FOLDERS, *_LOADED)):
        return True
    return top.startswith((*SYSTEM_FOLDERS, *_LOADED)) and not top.startswith(_SOURCES)


_LOADED = ("/etc/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/Library/", "/System/")
"""Where programs of the system have their libraries and settings, beside the folders in which they lie."""
_SOURCES = ("/usr/src/", "/usr/local/src/")


def _runs_by_system_shell(script: str, path: ProgramPath) -> bool:
    started = [*_started_by(script)]
    if len(started) != 1 or not started[0].startswith("/") or os.path.basename(started[0]) not in SHELLS:
        return False
    way = disk.way_to(started[0])
    return _is_of_system(way, path) and _is_compiled(way[-1])


def _is_compiled(file: str) -> bool:
    return disk.magic(file).startswith(_COMPILED)


def starts_by_name(name: str, path: ProgramPath) -> bool:
    """Whether a program may start others by their names: it is a script, or one that does while it reads."""
    way = disk.first_program(name, path.outside)
    return bool(STARTS.get(name, bool(way) and not _is_compiled(way[-1])))


def only_in_workspace(name: str, path: ProgramPath, *, by_shell: bool = True, scripts: int = 2) -> bool:
    """Whether the program of this name lies in the workspace: it is found there and nowhere else on the path but as a
    shim, which runs the next program of the name where its manager has none; a link elsewhere leads to it; a script
    elsewhere names a place there, or runs by an interpreter there; or a compiled program that no package manager
    brought names such a place, from which it may load libraries. ``by_shell``: the shell runs it itself, which may
    have a builtin of this name. ``scripts`` says how many scripts are looked into, one an interpreter of the other.

    Such a program is not in the set (docs/gate.md "Commands that only read").
    Looks at the disk, at most once for each folder of the path.
    """
    if by_shell and name in _BUILTINS:
        return False
    if path.inside and any(disk.is_there(f"{folder}/{name}") for folder in path.inside):
        own = tuple(folder for folder in path.outside if folder not in path.shims)
        if disk.first_that_runs(name, own) is None:
            return True
    way = disk.first_program(name, path.outside)
    if not way or not scripts:
        return False
    if any(each.startswith(path.tops) for each in way):
        return True
    file = way[-1]
    if _is_compiled(file):
        return not file.startswith(PACKAGED_FOLDERS) and disk.holds_path(
            file, tuple(top.rstrip("/") for top in path.tops)
        )
    return name not in _START_NO_OTHER and _leads_in(file, path, scripts)


def _leads_in(script: str, path: ProgramPath, scripts: int) -> bool:
    """Whether a script names a place in the workspace, or runs by a program there."""
    if _names_place(script, path):
        return True
    for each in _started_by(script) if scripts else ():
        if not each.startswith("/"):
            if only_in_workspace(each, path, by_shell=False, scripts=scripts - 1):
                return True
            continue
        way = disk.way_to(each)
        if any(passed.startswith(path.tops) for passed in way) or _leads_in(way[-1], path, scripts - 1):
            return True
    return False


def _names_place(program: str, path: ProgramPath) -> bool:
    """Whether a script names a place in the workspace, as it is or below the home."""
    text = disk.beginning(program, _MOST_SCRIPT) or b""
    return text.startswith(b"#!") and any(os.fsencode(place) in text for place in path.named)


def _started_by(program: str) -> Iterator[str]:
    """The programs that run a script: its interpreter, and what ``env`` starts in its first line."""
    text = disk.beginning(program, _MOST_SCRIPT) or b""
    first = text.partition(b"\n")[0]
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") and b"\0" not in first else []
    if not words:
        return
    yield words[0]
    if os.path.basename(words[0]) in WRAPPERS:
        yield from [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]


_MOST_SCRIPT = 200_000
