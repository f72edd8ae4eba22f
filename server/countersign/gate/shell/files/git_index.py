"""The names in git's index, read from its bytes: what ``git ls-files`` lists without looking at the folders.

Versions 2 and 3 with SHA-1, by git's `gitformat-index`; anything else is left to whoever can look at the folders.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from countersign.gate.paths.ruled_files import is_ruled
from countersign.gate.paths.sensitive_paths import TELLING, secret_at, secret_in_home
from countersign.gate.patterns import PathPattern
from countersign.gate.probes import disk

_HEAD = 62
_SYMLINK = 0o120000
_FOLDER = 0o040000
_SPARSE = b"sdir\0\0\0\0"
"""The extension by which an index holds folders."""
_EXTENDED = 0x4000
_STAGE = 0x3000
_KIND = 0o170000
_GITLINK = 0o160000
"""The kind of an entry: git looks at these bits of its mode alone."""
_MOST_BYTES = 64 << 20
_MOST_GITLINKS = 1_000
_MOST_NAMES = 200_000
_PLAIN_VERSIONS = (b"\0\0\0\2", b"\0\0\0\3")
"""Versions in which each name stands as it is."""
_LIKELY = re.compile(TELLING.pattern.replace("s", "(?:s|\xc5\xbf)").encode("latin-1"), re.IGNORECASE)
"""In UTF-8. `ſ` is the only other letter that a disk without case may take for one of these."""


class Tracked(NamedTuple):
    """A file in the index, with its mode, and what git saw of it (``disk.FileState``). ``unmerged``: it has several
    versions, so that git compares them with the file."""

    path: bytes
    mode: int
    state: disk.FileState
    unmerged: bool


def index_names(data: bytes, most: int) -> tuple[tuple[str, bool], ...] | None:
    """Return each path with whether it is a symlink; None if the index has another form or more than ``most`` names."""
    found = _tracked(data, most)
    if found is None or any(map(_is_folder, found)):
        return None
    return tuple((os.fsdecode(each.path), each.mode & _KIND == _SYMLINK) for each in found)


def _tracked(data: bytes, most: int) -> list[Tracked] | None:
    if len(data) < 12 or data[:4] != b"DIRC":
        return None
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3) or count > most:
        return None
    found: list[Tracked] = []
    at = 12
    for _ in range(count):
        if len(data) < at + _HEAD:
            return None
        changed, parts, written, rest, _, inode, mode, user, group, size = struct.unpack_from(">10I", data, at)
        (flags,) = struct.unpack_from(">H", data, at + 60)
        start = at + _HEAD + (2 if flags & _EXTENDED else 0)
        end = data.find(b"\0", start)
        if end < 0:
            return None
        path = data[start:end]
        named = path.removesuffix(b"/") if mode & _KIND == _FOLDER else path
        if flags & 0xFFF != min(end - start, 0xFFF) or _STRAY.search(named):
            return None
        state = disk.FileState(
            written * 1_000_000_000 + rest, changed * 1_000_000_000 + parts, inode, user, group, size
        )
        found.append(Tracked(path, mode, state, unmerged=flags & _STAGE != 0))
        at += (end - at) // 8 * 8 + 8
    return found if _has_known_extensions(data, at) else None


_STRAY = re.compile(rb"(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)
"""A path that git adds to no index, and follows where one has it: absolute, upwards, or into ``.git``."""
_MAY_STRAY = re.compile(rb"\A[./]|/[./]")
"""What few paths have and each of those does."""
_EXTENSIONS = frozenset({b"TREE", b"REUC", b"UNTR", b"FSMN", b"sdir"})
"""None of these says what the names are, or where they stand. A split index keeps most of them in another file."""
_CHECKSUM = 20


def _has_known_extensions(data: bytes, at: int) -> bool:
    """Whether nothing but such extensions stands behind the names."""
    end = len(data) - _CHECKSUM
    while at < end:
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if name not in _EXTENSIONS:
            return False
        at += 8 + size
    return at == end


@lru_cache(maxsize=2)
def _is_sound(data: bytes) -> bool:
    """Whether the names are read as git reads them, and all are such as git adds."""
    return _tracked(data, _MOST_NAMES) is not None


def tracks_any(file: str, patterns: tuple[PathPattern, ...]) -> bool:
    """Whether one of these patterns, counted from the top of the work tree, is about a path in this index, or that is
    not known."""
    return disk.combined(_tracks_any, (file, patterns))


def _tracks_any(at: tuple[str, tuple[PathPattern, ...]]) -> bool:
    file, patterns = at
    data = disk.beginning(file, _MOST_BYTES + 1)
    return data is None or not _is_whole(data, file) or _names_any(data, patterns)


@lru_cache(maxsize=2)
def _names_any(data: bytes, patterns: tuple[PathPattern, ...]) -> bool:
    names = index_names(data, _MOST_NAMES)
    return names is None or any(is_ruled(name, patterns) for name, _ in names)


def holds_unmerged(file: str) -> bool:
    """Whether this index has files that were not merged, or may have. What it keeps of one may come from a file of
    another name: a merge follows what was renamed."""
    return disk.combined(_holds_unmerged, file)


def _holds_unmerged(file: str) -> bool:
    data = disk.beginning(file, _MOST_BYTES + 1)
    return data is not None and (not _is_whole(data, file) or _any_unmerged(data))


@lru_cache(maxsize=2)
def _any_unmerged(data: bytes) -> bool:
    found = _tracked(data, _MOST_NAMES)
    return found is None or any(each.unmerged for each in found)


def tracked_links(file: str) -> tuple[str, ...] | None:
    """Return the paths in this index that are symlinks; None where they cannot be read from it."""
    return disk.combined(_tracked_links, file)


def _tracked_links(file: str) -> tuple[str, ...] | None:
    data = disk.beginning(file, _MOST_BYTES + 1)
    if data is None or _SYMLINK.to_bytes(4, "big") not in data:
        return ()
    found = _tracked(data, _MOST_NAMES)
    return None if found is None else tuple(os.fsdecode(each.path) for each in found if each.mode & _KIND == _SYMLINK)


def tracked_secrets(file: str) -> tuple[Tracked, ...] | None:
    """Return the files in this index whose names are those of secrets; None where they cannot be read from it."""
    return disk.combined(_tracked_secrets, file)


def _tracked_secrets(file: str) -> tuple[Tracked, ...] | None:
    data = disk.beginning(file, _MOST_BYTES + 1)
    if data is None:
        return () if _has_no_commit(os.path.dirname(file)) else None
    if not _is_whole(data, file) or data[4:8] not in _PLAIN_VERSIONS or not _is_sound(data):
        return None
    if _LIKELY.search(data) is None and _SPARSE not in data:
        return ()
    found = _tracked(data, _MOST_NAMES)
    if found is None or any(map(_is_folder, found)):
        return None
    return tuple(each for each in found if names_secret(each.path))


class WayHome(NamedTuple):
    """The names on the way from the home to a work tree below it (``above``), or from a work tree to the home."""

    above: tuple[str, ...]
    below: tuple[str, ...]


def tracked_in_home(file: str, way: WayHome) -> tuple[Tracked, ...]:
    """Return the files in this index whose names are those of secrets counted from the home."""
    return disk.combined(_tracked_in_home, (file, way))


def _tracked_in_home(at: tuple[str, WayHome]) -> tuple[Tracked, ...]:
    file, way = at
    found = _tracked(disk.beginning(file, _MOST_BYTES + 1) or b"", _MOST_NAMES)
    return tuple(each for each in found or () if is_secret_in_home(each.path, way))


def is_secret_in_home(path: bytes, way: WayHome) -> bool:
    """Return whether a path that git tracks is called like a secret, counted from the home."""
    parts, below = (*way.above, *os.fsdecode(path).split("/")), way.below
    return parts[: len(below)] == below and secret_in_home(parts[len(below) :]) is not None


def _has_no_commit(git_dir: str) -> bool:
    """Whether a repository without an index has no commit either, by its loose and packed refs."""
    head = disk.beginning(f"{git_dir}/HEAD", 1_000)
    if head is None:
        return True  # git takes it for no repository
    if disk.path_stat(f"{git_dir}/commondir") not in disk.MISSING:
        return False  # its refs lie elsewhere
    named = re.fullmatch(rb"ref: (refs/[\w./-]+)\s*", head)
    if named is None or disk.path_stat(f"{git_dir}/packed-refs") not in disk.MISSING:
        return False
    return disk.path_stat(f"{git_dir}/{os.fsdecode(named[1])}") in disk.MISSING and not disk.names_in(
        f"{git_dir}/refs/remotes"
    )


def reaches_through_link(file: str, folder: str, *, unmerged: bool = False) -> bool:
    """Whether a folder of this work tree that holds files of the index is a link by now, or that is not known.
    ``unmerged``: only such files count."""
    return disk.combined(_reaches_through_link, (file, folder, unmerged))


def _reaches_through_link(at: tuple[str, str, bool]) -> bool:
    file, folder, unmerged = at
    data = disk.beginning(file, _MOST_BYTES + 1)
    if data is None:
        return False
    if unmerged and data[4:8] not in _PLAIN_VERSIONS:
        return True
    found = _tracked(data, _MOST_NAMES) if _is_whole(data, file) else None
    if found is None or any(map(_is_folder, found)):
        return True
    folders: set[bytes] = set()
    for each in found:
        if unmerged and not each.unmerged:
            continue
        above = os.path.dirname(each.path)
        while above and above not in folders:
            folders.add(above)
            above = os.path.dirname(above)
        if len(folders) > _MOST_FOLDERS:
            return True
    kinds = (disk.path_stat(f"{folder}/{os.fsdecode(name)}") for name in folders)
    return any(not isinstance(kind, int) and kind.kind == stat.S_IFLNK for kind in kinds)


_MOST_FOLDERS = 10_000


def shared_files(file: str, folder: str, below: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the files of this index in the work tree, below any of these relative paths, that have several names (at
    most ten); None if more than ``MOST_SHARED`` files would have to be looked at, or which they are is not known."""
    return disk.combined(_shared_files, (file, folder, below))


MOST_SHARED = 20_000
_TOLD = 10


def _shared_files(at: tuple[str, str, tuple[str, ...]]) -> tuple[str, ...] | None:
    file, folder, below = at
    data = disk.beginning(file, _MOST_BYTES + 1)
    tracked = _tracked(data, _MOST_NAMES) if data is not None else []
    if tracked is None:
        return None
    starts = tuple(os.fsencode(f"{name}/") for name in below)
    paths = [each.path for each in tracked if not starts or (each.path + b"/").startswith(starts)]
    if len(paths) > MOST_SHARED:
        return None
    found: list[str] = []
    for path in dict.fromkeys(map(os.fsdecode, paths)):
        standing = disk.path_stat(f"{folder}/{path}")
        if not isinstance(standing, int) and standing.names > 1:
            found.append(path)
    return tuple(found[:_TOLD])


def names_secret(path: bytes) -> bool:
    """Return whether a path that git tracks is called like a secret."""
    return _LIKELY.search(path) is not None and secret_at(os.fsdecode(path).split("/")) is not None


def _is_whole(data: bytes, file: str) -> bool:
    """Whether all of an index was read, and no other file holds the rest of it."""
    shared = any(name.startswith("sharedindex.") for name in disk.names_in(os.path.dirname(file)))
    return len(data) <= _MOST_BYTES and not shared


def folders_in_index(file: str) -> tuple[str, ...] | None:
    """Return the folders that stand in this index for all that the tree has below them (`sparse-index`); None where
    they cannot be read from it. There may be submodules among these."""
    return disk.combined(_folders, file)


def _folders(file: str) -> tuple[str, ...] | None:
    data = disk.beginning(file, _MOST_BYTES + 1)
    if data is None or _SPARSE not in data:
        return ()
    found = _tracked(data, _MOST_NAMES)
    return None if found is None else tuple(os.fsdecode(each.path) for each in found if _is_folder(each))


def _is_folder(tracked: Tracked) -> bool:
    return tracked.mode & _KIND == _FOLDER


def gitlinks(file: str) -> tuple[str, ...] | None:
    """Return the paths of the submodules in this index; None where they cannot be read from it, or where any of its
    paths leads somewhere else: git opens each of them."""
    return disk.combined(_gitlinks, file)


def _gitlinks(file: str) -> tuple[str, ...] | None:
    data = disk.beginning(file, _MOST_BYTES + 1)
    if data is None:
        return ()
    if not _is_whole(data, file):
        return None
    found: list[bytes] = []
    for entry in _modes(data):
        if entry is None or len(found) > _MOST_GITLINKS:
            return None
        path, mode = entry
        is_link = mode & _KIND == _GITLINK
        if (is_link or _MAY_STRAY.search(path)) and _STRAY.search(path.removesuffix(b"/")):
            return None
        if is_link:
            found.append(path)
    return tuple(map(os.fsdecode, found))


def _modes(data: bytes) -> Iterator[tuple[bytes, int] | None]:
    """Yield each path with its mode, of an index of any version with SHA-1; None where it is not as git writes it. Git
    itself takes the length of a name that an entry states for where the next one begins."""
    version, count = struct.unpack(">II", data[4:12]) if len(data) >= 12 + _CHECKSUM and data[:4] == b"DIRC" else (0, 0)
    if version not in (2, 3, 4):
        yield None
        return
    at, path = 12, b""
    for _ in range(count):
        if len(data) < at + _HEAD:
            yield None
            return
        (mode,) = struct.unpack_from(">I", data, at + 24)
        (flags,) = struct.unpack_from(">H", data, at + 60)
        start, front = at + _HEAD + (2 if flags & _EXTENDED else 0), b""
        if version == 4:
            left_out, start = _varint(data, start)
            if left_out > len(path):
                yield None
                return
            front = path[: len(path) - left_out]
        end = data.find(b"\0", start)
        path = front + data[start:end]
        if end < 0 or flags & 0xFFF != min(len(path), 0xFFF):
            yield None
            return
        yield path, mode
        at = end + 1 if version == 4 else at + (end - at) // 8 * 8 + 8
    if not _has_known_extensions(data, at):
        yield None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it (git's `varint.c`)."""
    value = -1
    while at < len(data) and value < len(data):
        value = (value + 1 << 7) + (data[at] & 0x7F)
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
    return len(data), at
