"""Which files the last commits of a repository hold beside those in its index (`gitformat-pack`, `gitformat-index`).

``git rm --cached .env`` takes a secret out of the index, and ``git diff --cached`` then prints it; once that is
committed, ``git show`` does. So the trees of what is checked out and of the commits before it are read, as far as they
differ from the index and from each other.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from countersign.gate.paths.ruled_files import is_ruled
from countersign.gate.patterns import PathPattern
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_index import WayHome, extension, is_secret_in_home, names_secret
from countersign.gate.shell.files.git_kinds import place_in_packs

MOST_COMMITS = 10
"""How many commits of a history are looked at, by the first parent of each."""
_MOST_TREES = 1_000
"""Trees in which what is checked out may differ from the index."""
_MOST_EARLIER = 300
"""Trees in which the commits differ that are looked at; with more, fewer commits are."""
_MOST_BYTES = 4 << 20
"""Bytes of the largest tree."""
_MOST_DELTAS = 50
_MOST_DEPTH = 200
"""Folders, one in the other."""
_FIRST_BYTES = 4_096
_COMMIT = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\n(?:committer [^\n]*> (\d{1,15}) )?"
)
"""Behind the parents stands the author for certain: git takes a parent in capitals for one as well, which is not read
here."""
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_BY_OFFSET, _BY_NUMBER = 6, 7
_MODE = re.compile(rb"[0-7]{1,10}")
_KIND, _FOLDER = 0o170000, 0o040000
"""The bits of a mode that say what an entry is: git looks at these alone."""


class TooMuch(Exception):
    """Something is not there, or of a form or size that is not read here."""


class _Spent(Exception):
    """More trees would have to be read than a decision may take."""


class _Kept(NamedTuple):
    """What the index says of a folder: the number of its tree, None where that is not known any more."""

    number: bytes | None
    below: Mapping[bytes, _Kept]


class Commits(NamedTuple):
    """A commit by its number, the folder of objects that has it and those before it, the file that names commits
    whose parents a shallow clone lacks, and how many are looked at, by the first parent of each."""

    number: str
    store: str
    shallow: str
    most: int


Patterns = tuple[PathPattern, ...]


def committed_secrets(
    commits: Commits, index: str, ways: tuple[WayHome, ...] = (), patterns: Patterns = ()
) -> tuple[str, ...] | None:
    """Return the paths that are called like a secret in this commit, or in those before it, and that this index does
    not surely have as well; None where they cannot be found out. ``ways``: where homes lie, from which others count;
    ``patterns``: of further files that count. Looks at the disk."""
    return disk.combined(_committed, (commits, index, ways, patterns))


def _committed(asked: tuple[Commits, str, tuple[WayHome, ...], Patterns]) -> tuple[str, ...] | None:
    commits, index, ways, patterns = asked
    try:
        ends = shallow_ends(commits.shallow)
        tree, earlier = _changed_lately(commits._replace(shallow=""), ends, ways, patterns)
        beside = tuple(_Reader(commits.store, _MOST_TREES, ways, patterns).beside(tree, _kept_trees(index)))
    except (TooMuch, _Spent):
        return None
    return tuple(dict.fromkeys((*beside, *earlier)))


@lru_cache(maxsize=64)
def _changed_lately(
    commits: Commits, ends: frozenset[str], ways: tuple[WayHome, ...], patterns: Patterns
) -> tuple[bytes, tuple[str, ...]]:
    """The tree of a commit, and the secrets in which the commits before it differ. What a number names does not change,
    so it is kept."""
    reader = _Reader(commits.store, _MOST_EARLIER, ways, patterns)
    trees = [bytes.fromhex(each) for each in _trees_of(commits, ends)]
    found: dict[str, None] = {}
    try:
        for after, before in pairwise(trees):
            for path in reader.between(after, before):
                found[path] = None
    except _Spent:
        if patterns:
            raise TooMuch from None
        # Of secrets, fewer commits are looked at.
    return trees[0], tuple(found)


def _trees_of(commits: Commits, ends: frozenset[str]) -> Iterator[str]:
    """The tree of this commit, and those of the commits before it, by the first parent of each."""
    following: str | None = commits.number
    for _ in range(commits.most):
        if following is None:
            return
        found = read_commit(following, commits.store)
        yield found.tree
        following = None if following in ends else next(iter(found.parents), None)


def shallow_ends(file: str) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks, by the file that names them, one a line. Looks at the
    disk.

    Raises:
        TooMuch: they are too many, or the file has another form.
    """
    text = disk.beginning(file, _MOST_BYTES + 1) or b""
    if len(text) > _MOST_BYTES or _ENDS.fullmatch(text) is None:
        raise TooMuch
    return frozenset(text.decode("ascii").split("\n")) - {""}


_ENDS = re.compile(rb"(?:[0-9a-f]{40}\n)*")


class Commit(NamedTuple):
    """The tree of a commit, its parents, and when it was made (seconds since 1970, 0 where that cannot be read)."""

    tree: str
    parents: tuple[str, ...]
    date: int


@lru_cache(maxsize=8_192)
def read_commit(number: str, store: str) -> Commit:
    """What a commit says. What a number names does not change, so it is kept.

    Raises:
        TooMuch: it is not there, or cannot be read.
    """
    kind, text = read_object(number, store) or (b"", b"")
    found = _COMMIT.match(text) if kind == b"commit" else None
    if found is None:
        raise TooMuch
    parents = tuple(line.removeprefix(b"parent ").decode() for line in found[2].splitlines())
    return Commit(found[1].decode(), parents, int(found[3] or 0))


class _Reader:
    """Reads so many trees of one folder of objects at most."""

    def __init__(self, store: str, most: int, ways: tuple[WayHome, ...], patterns: Patterns) -> None:
        self._store, self._left, self._ways, self._patterns = store, most, ways, patterns

    def beside(self, number: bytes, kept: _Kept, above: bytes = b"") -> Iterator[str]:
        """The secrets in a tree that differ from what the index keeps for its folder."""
        if number == kept.number:
            return
        for name, (each, is_folder) in self._tree(number, above).items():
            path = above + name
            if is_folder:
                yield from self.beside(each, kept.below.get(name, _NOTHING), path + b"/")
            if self._is_secret(path):
                yield os.fsdecode(path)

    def between(self, after: bytes, before: bytes, above: bytes = b"") -> Iterator[str]:
        """The secrets in which two trees differ."""
        if after == before:
            return
        mine = self._tree(after, above) if after else {}
        theirs = self._tree(before, above) if before else {}
        for name in sorted(mine.keys() | theirs.keys()):
            (one, first), (other, second) = mine.get(name, _MISSING), theirs.get(name, _MISSING)
            if one == other:
                continue
            path = above + name
            if first or second:
                yield from self.between(one if first else b"", other if second else b"", path + b"/")
            if self._is_secret(path):
                yield os.fsdecode(path)

    def _tree(self, number: bytes, above: bytes) -> Mapping[bytes, tuple[bytes, bool]]:
        self._left -= 1
        if self._left < 0:
            raise _Spent
        if above.count(b"/") > _MOST_DEPTH:
            raise TooMuch
        return _entries(number, self._store)

    def _is_secret(self, path: bytes) -> bool:
        if names_secret(path) or any(is_secret_in_home(path, way) for way in self._ways):
            return True
        return bool(self._patterns) and is_ruled(os.fsdecode(path), self._patterns)


_NOTHING = _Kept(None, {})
_MISSING = (b"", False)


@lru_cache(maxsize=2048)
def _entries(number: bytes, store: str) -> Mapping[bytes, tuple[bytes, bool]]:
    """The names in a tree, each with the number of its object and whether it is a folder. What a number names does not
    change, so it is kept."""
    found = read_object(number.hex(), store)
    if found is None or found[0] != b"tree":
        raise TooMuch
    text, at = found[1], 0
    entries: dict[bytes, tuple[bytes, bool]] = {}
    while at < len(text):
        blank, end = text.find(b" ", at), text.find(b"\0", at)
        if not at < blank < end <= len(text) - 21:
            raise TooMuch
        name, mode = text[blank + 1 : end], text[at:blank]
        if name in entries or _MODE.fullmatch(mode) is None:
            raise TooMuch
        entries[name] = (text[end + 1 : end + 21], int(mode, 8) & _KIND == _FOLDER)
        at = end + 21
    return entries


# --- the index -------------------------------------------------------------------------------------------------------


def _kept_trees(index: str) -> _Kept:
    """The trees that the index knows of its folders, from its extension for them."""
    text = extension(disk.beginning(index, 16 * _MOST_BYTES + 1) or b"", b"TREE")
    kept = None if text is None else _kept_at(text, 0)
    return kept[1] if kept is not None and kept[2] == len(text or b"") else _NOTHING


def _kept_at(text: bytes, at: int, depth: int = 0) -> tuple[bytes, _Kept, int] | None:
    """The name of the folder whose entry begins here, what is known of it, and where the entry ends."""
    found = _KEPT.match(text, at)
    if found is None or depth > _MOST_DEPTH:
        return None
    count, folders, at = int(found[2]), int(found[3]), found.end()
    number = None
    if count >= 0:
        number, at = text[at : at + 20], at + 20
    below: dict[bytes, _Kept] = {}
    for _ in range(folders):
        inner = _kept_at(text, at, depth + 1)
        if inner is None:
            return None
        name, kept, at = inner
        below[name] = kept
    return found[1], _Kept(number, below), at


_KEPT = re.compile(rb"([^\0]*)\0(-?\d{1,9}) (\d{1,9})\n")


# --- objects ---------------------------------------------------------------------------------------------------------


def read_object(number: str, store: str, deltas: int = 0) -> tuple[bytes, bytes] | None:
    """Return the kind of an object and its text; None where it is not there. ``deltas`` led to it from another one.

    Raises:
        TooMuch: it is too large, or cannot be read.
    """
    place = place_in_packs(number, store)
    if place is not None:
        return _in_pack(*place, store, deltas)
    data = disk.beginning(f"{store}/{number[:2]}/{number[2:]}", _MOST_BYTES + 1)
    if data is None:
        return None
    head, separator, text = _inflated(data).partition(b"\0")
    if not separator:
        raise TooMuch
    return head.partition(b" ")[0], text


def _in_pack(pack: str, offset: int, store: str, deltas: int) -> tuple[bytes, bytes]:
    data = disk.piece(pack, offset, _FIRST_BYTES) or b""
    kind = (data[0] >> 4) & 7 if data else 0
    at = _behind_number(data, 0)
    if kind in _KINDS:
        return _KINDS[kind], _unpacked(pack, offset, at)
    if kind not in (_BY_OFFSET, _BY_NUMBER) or deltas > _MOST_DELTAS:
        raise TooMuch
    if kind == _BY_OFFSET:
        end = _behind_number(data, at)
        back = -1
        for byte in data[at:end]:
            back = (back + 1 << 7) | (byte & 0x7F)
        if not 0 < back <= offset:
            raise TooMuch
        base = _in_pack(pack, offset - back, store, deltas + 1)
    else:
        end = at + 20
        found = read_object(data[at:end].hex(), store, deltas + 1)
        if found is None:
            raise TooMuch
        base = found
    try:
        return base[0], _patched(base[1], _unpacked(pack, offset, end))
    except IndexError as error:  # it ends too early
        raise TooMuch from error


def _unpacked(pack: str, offset: int, at: int) -> bytes:
    """The text of an object in a pack, whose compressed form begins ``at`` bytes behind ``offset``."""
    length = _FIRST_BYTES
    while length <= 2 * _MOST_BYTES:
        inflating = zlib.decompressobj()
        try:
            text = inflating.decompress((disk.piece(pack, offset, length) or b"")[at:], _MOST_BYTES + 1)
        except zlib.error as error:
            raise TooMuch from error
        if inflating.eof:
            return text
        length *= 8
    raise TooMuch


def _inflated(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(data, _MOST_BYTES + 1)
    except zlib.error as error:
        raise TooMuch from error
    if not inflating.eof:
        raise TooMuch
    return text


def _behind_number(data: bytes, at: int) -> int:
    """What follows a number of which each byte but the last has its highest bit set."""
    while at < len(data) and data[at] & 0x80:
        at += 1
    return at + 1


def _patched(base: bytes, delta: bytes) -> bytes:
    """The text that a delta makes of another one."""
    at = _behind_number(delta, _behind_number(delta, 0))
    made = bytearray()
    while at < len(delta):
        order, at = delta[at], at + 1
        if order & 0x80:
            start = length = 0
            for bit in range(4):
                if order & (1 << bit):
                    start, at = start | (delta[at] << 8 * bit), at + 1
            for bit in range(3):
                if order & (0x10 << bit):
                    length, at = length | (delta[at] << 8 * bit), at + 1
            made += base[start : start + (length or 0x10000)]
        else:
            made += delta[at : at + order]
            at += order
        if len(made) > _MOST_BYTES:
            raise TooMuch
    return bytes(made)
