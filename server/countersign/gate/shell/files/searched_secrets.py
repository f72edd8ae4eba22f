"""Secrets that a search reads below a folder it names (docs/gate.md "Secrets"): `id_rsa`, `server.pem`, all below a
folder of such a name, hidden files that an ignore file brings back, and whatever file has a link of that name, as `rg`
prints lines that are no patterns.

``rg`` leaves out what is hidden and what ignore files name. The folder is walked as the disk is now, within a bound. A
name counts as left out only where a plain line of an ignore file says so and no line brings it back.
"""

from __future__ import annotations

import os
import re
import stat
from typing import NamedTuple

from countersign.gate.paths.sensitive_paths import secret_name
from countersign.gate.patterns import fold, glob_segment
from countersign.gate.probes import disk

MOST_SEARCHED = 20_000
"""Names below one folder that are looked at."""
IGNORE_FILES = (".ignore", ".rgignore", ".gitignore", ".git/info/exclude")
_REPOSITORIES = (".git", ".jj")
"""At which rg looks for no further ignore files above; before version 15 at the first alone."""
IGNORE_NAMES = (*(file.rpartition("/")[2] for file in IGNORE_FILES), *_REPOSITORIES)
MAX_IGNORE = 100_000
"""Bytes of an ignore file that are looked at; a longer one counts as bringing something back."""
MOST_FOUND = 500
"""Secrets after which none is looked for."""
_PLAIN = re.compile(r"/?[\w.@+-]+(?:/[\w.@+-]+)*/?|\*(?:\.[\w-]+)+")


class Search(NamedTuple):
    """What is searched: ``folder`` is absolute. ``ignores``: ignore files leave names out. ``endings``: of files, and
    of hidden ones too, only those with one of these endings are read. ``entered``: folders of these names, and with
    these endings, are entered although they are hidden or left out; both are in small letters. ``place``: where rg
    runs, resolved. ``all_names``: nothing counts as hidden or left out."""

    folder: str
    ignores: bool = True
    endings: frozenset[str] | None = None
    further: tuple[str, ...] = ()
    """Ignore files of a person's, one of which may count everywhere: any may bring a name back, none leaves one out."""
    entered: frozenset[str] = frozenset()
    place: str = "/"
    all_names: bool = False


class _Lines(NamedTuple):
    """What ignore files say: ``names`` and ``endings`` are left out below, and so are ``paths``, which are absolute; a
    slash stands behind those that are folders alone. ``kept`` are
    patterns for names that are brought back, each with whether it is for folders alone."""

    names: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()
    kept: tuple[tuple[str, bool], ...] = ()


def searched_secrets(search: Search) -> tuple[str, ...] | None:
    """Return secrets and links that this search reads, at most ``MOST_FOUND``; None if more names lie there than are
    looked at, or a folder cannot be listed."""
    return disk.combined(_searched, search)


def _searched(search: Search) -> tuple[str, ...] | None:
    lines = _Lines()
    for file in search.further:
        lines = _Lines(kept=_with(lines, file, "/").kept)
    in_repository = False
    above: list[str] = []
    folder = search.folder
    while folder != "/":
        folder = os.path.dirname(folder)
        above.insert(0, folder)
    for folder in above:
        lines = _with_folder(lines, folder)
        in_repository = in_repository or disk.is_there(f"{folder}/.git")
    in_repository = in_repository or disk.is_there(f"{search.folder}/.git")
    # Below the folder of an ignore file rg before 15 takes the paths in it for others (ripgrep's issue 829).
    lines = lines._replace(paths=frozenset())
    left = MOST_SEARCHED
    found = [link for each in above for link in _linked_ignores(each, search)]
    found += _shared_above(search.folder)
    waiting = [(search.folder, lines)]
    while waiting:
        folder, lines = waiting.pop()
        entries = disk.entries_in(folder)
        if entries is None:
            return None  # it may be read by another path
        left -= len(entries)
        if left < 0:
            return None
        if any(name in _IN_FOLDER for name, _ in entries):
            lines = _with_folder(lines, folder)
            found += _linked_ignores(folder, search)
        for name, is_folder in entries:
            path = f"{folder}/{name}"
            if is_folder is None:
                continue  # links are not followed
            if is_folder:
                if not _is_entered(name, path, search, lines, ruled=in_repository):
                    continue
                waiting.append((path, lines))
                if _may_be_secret(name):
                    found.append(path)
            elif _may_be_secret(name) and (
                _is_read(name, path, search, lines, ruled=in_repository) or _has_other_names(path)
            ):
                found.append(path)
        if len(found) >= MOST_FOUND:
            break
    return tuple(found[:MOST_FOUND])


def _shared_above(folder: str) -> list[str]:
    """Secrets with other names between a folder and the top of its repository: one of these may lie below it."""
    found: list[str] = []
    while folder != "/" and not disk.is_there(f"{folder}/.git"):
        folder = os.path.dirname(folder)
        found += [
            path
            for name, is_folder in disk.entries_in(folder) or ()
            if is_folder is False and _may_be_secret(name) and _has_other_names(path := f"{folder}/{name}")
        ]
    return found if folder != "/" else []


def _has_other_names(path: str) -> bool:
    """Whether this secret is a hard link, so that a file of any name may be the same (``paths/hard_links.py``)."""
    standing = disk.path_stat(path)
    return not isinstance(standing, int) and standing.names > 1


def _linked_ignores(folder: str, search: Search) -> list[str]:
    """The ignore files of a folder that lie elsewhere, whatever options say: some leave out a few of them alone."""
    found = [
        f"{folder}/{file}"
        for file, parts in _PARTS.items()
        if any(disk.is_link(f"{folder}/{part}") for part in parts) or _has_other_names(f"{folder}/{file}")
    ]
    return found if _shared_excludes(folder, search.place) is not None else [*found, f"{folder}/.git"]


_PARTS = {file: [file[: at.end()] for at in re.finditer(r"[^/]+", file)] for file in IGNORE_FILES}
"""Each ignore file, with the places on the way to it."""


_IN_FOLDER = frozenset({".ignore", ".rgignore", ".gitignore", *_REPOSITORIES})


def _may_be_secret(name: str) -> bool:
    return secret_name(name) is not None


def _is_entered(name: str, path: str, search: Search, lines: _Lines, *, ruled: bool) -> bool:
    if search.all_names:
        return True
    if search.entered and not search.entered.isdisjoint((name.lower(), f".{name.lower().rpartition('.')[2]}")):
        return True
    if name.startswith("."):
        return _is_kept(name, lines, folder=True)
    said = not lines.names.isdisjoint((name, f"{name}/")) or not lines.paths.isdisjoint((path, f"{path}/"))
    left_out = said and ruled and search.ignores
    return not left_out or _is_kept(name, lines, folder=True)


def _is_read(name: str, path: str, search: Search, lines: _Lines, *, ruled: bool) -> bool:
    if search.all_names:
        return True
    if search.endings is not None:
        return name.lower().rpartition(".")[2] in search.endings
    if name.startswith("."):
        return _is_kept(name, lines, folder=False)
    left_out = name in lines.names or path in lines.paths or name.endswith(lines.endings)
    return not (ruled and search.ignores and left_out) or _is_kept(name, lines, folder=False)


def _is_kept(name: str, lines: _Lines, *, folder: bool) -> bool:
    """Whether a line may bring this name back."""
    folded = fold(name)
    return any(_may_match(pattern, folded) for pattern, for_folders in lines.kept if folder or not for_folders)


def _may_match(pattern: str, name: str) -> bool:
    return pattern == "" or glob_segment(pattern).matches_by_code(name)


def _with_folder(lines: _Lines, folder: str) -> _Lines:
    if any(disk.is_there(f"{folder}/{name}") for name in _REPOSITORIES):
        lines = _Lines(kept=lines.kept)  # what stands above a repository leaves out nothing in it
    for name in IGNORE_FILES:
        lines = _with(lines, f"{folder}/{name}", folder)
    # Where this is not known, the search asks anyway.
    file = _shared_excludes(folder, "/")
    return _with(lines, file, folder) if file else lines


def _shared_excludes(folder: str, place: str) -> str | None:
    """The ignore file that rg takes from another folder where ``.git`` is a file; empty if it takes no such file, and
    None where ``.git`` is not as git writes it for a linked worktree or a submodule: rg reads it otherwise than git,
    and takes a relative path from where it runs."""
    standing = disk.path_stat(f"{folder}/.git")
    if standing in disk.MISSING or (not isinstance(standing, int) and standing.kind == stat.S_IFDIR):
        return ""
    text = disk.beginning(f"{folder}/.git", _MOST_GITDIR + 1) or b""
    named = _GITDIR.fullmatch(text)
    if named is None or len(text) > _MOST_GITDIR:
        return None
    own = os.fsdecode(named[1])
    relative = not own.startswith("/")
    for each in dict.fromkeys(os.path.normpath(f"{start}/{own}") if relative else own for start in (folder, place)):
        # git writes it for a linked worktree alone, whose path is absolute unless a person chose otherwise.
        if not _is_straight(f"{each}/commondir") or (relative and disk.is_there(f"{each}/commondir")):
            return None
    shared = disk.beginning(f"{own}/commondir", _MOST_GITDIR) if not relative else None
    if shared is None:
        return ""
    file = os.path.normpath(f"{own}/../../info/exclude")
    return file if shared == b"../..\n" and _is_straight(file) else None


def _is_straight(path: str) -> bool:
    """Whether a path is the same for rg as here: no link on the way, and no folder that is another for each process."""
    parts = os.path.normpath(path).split("/")
    ways = ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]
    return parts[1:2] not in (["proc"], ["dev"]) and not any(disk.is_link(way) for way in ways)


_KEPT = re.compile(r"![\w.@+*?/~$,=%# -]*")
_GITDIR = re.compile(rb"gitdir: ([^\s\0][^\r\n\0]*)\n?")
_MOST_GITDIR = 4_000


def _with(lines: _Lines, file: str, folder: str) -> _Lines:
    """What the ignore files say together with this one, whose paths count from a folder."""
    text = disk.beginning(file, MAX_IGNORE + 1)
    if text is None:
        return lines
    if len(text) > MAX_IGNORE:
        return lines._replace(kept=(*lines.kept, ("", False)))
    names, endings, paths, kept = set[str](), list[str](), set[str](), list[tuple[str, bool]]()
    readable = True
    for line in text.split(b"\n"):
        written = line.decode("utf-8", errors="replace")
        readable = readable and "\ufffd" not in written  # rg leaves away what stands behind
        said = written.removeprefix("\ufeff").rstrip()
        if said.startswith("!"):
            last = fold(said[1:].rstrip("/").rsplit("/", 1)[-1])
            # Unlike git, rg expands braces; what is escaped, and brackets, which may hold a slash, are not looked into.
            strange = _KEPT.fullmatch(said) is None or "**" in last or len(last) > 200
            kept.append(("" if strange else last, said.endswith("/")))
        elif readable and _PLAIN.fullmatch(named := written.rstrip(" \t\r")) is not None:
            if named.startswith("*"):
                endings.append(named[1:])
            elif "/" in named.rstrip("/"):
                paths.add(f"{folder}/{named.lstrip('/')}")
            else:
                names.add(named)
    return _Lines(lines.names | names, (*lines.endings, *endings), lines.paths | paths, (*lines.kept, *kept))
