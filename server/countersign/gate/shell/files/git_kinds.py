"""Of which kind an object of a repository is, by its number (`gitformat-pack`).

A tag, or a branch of another repository, may name a tree or the contents of a file as well as a commit. Only a commit
is printed below the paths that a command names. What is not found, or not in a known form, is of no known kind.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise, takewhile

from countersign.gate.probes import disk

MOST_TAGS = 50
"""How many tags of tags are followed."""
_MOST_DELTAS = 50
"""How many deltas are followed, from one object in a pack to the next."""
_MOST_PACKS = 200
_MOST_BUCKET = 4 << 20
"""Bytes of the numbers in an index that begin with the same byte."""
_HEAD = 4096
"""Bytes of an object that are read and unpacked: a tag says at its beginning what it names."""
_WHOLE = re.compile(r"[0-9a-f]{40}")
_TAGGED = re.compile(rb"object ([0-9a-f]{40})\n")
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_BY_OFFSET = 6
_IDX = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = 8
_NUMBERS = _FANOUT + 4 * 256


def is_commit(number: str, store: str) -> bool:
    """Return whether this object (40 hexadecimal digits) in a folder of objects is a commit, or a tag that leads to
    one. Looks at the disk."""
    return disk.combined(_leads_to_commit, (number, store))


def the_only_number(beginning: str, store: str) -> str | None:
    """Return the number of the one object in this folder whose number begins with these four or more digits (in small
    letters), empty if none does; None where several do, or further objects may lie elsewhere. Looks at the disk."""
    return disk.combined(_number_of, (beginning, store))


def _number_of(asked: tuple[str, str]) -> str | None:
    beginning, store = asked
    if disk.path_stat(f"{store}/info/alternates") not in disk.MISSING:
        return None
    folder, rest = beginning[:2], beginning[2:]
    loose = (f"{folder}{name}" for name in disk.names_in(f"{store}/{folder}") if name.startswith(rest))
    packs = _packs(store)
    if packs is None:
        return None
    found = {*loose, *(number for pack in packs for number in _indexed(beginning, f"{pack}.idx"))}
    if not found:
        return ""
    number = found.pop()
    return number if not found and _WHOLE.fullmatch(number) else None


def _leads_to_commit(asked: tuple[str, str]) -> bool:
    number, store = asked
    for _ in range(MOST_TAGS):
        # git looks in the packs first.
        kind, text = _packed(number, store) or _loose(number, store) or (b"", b"")
        if kind != b"tag":
            return kind == b"commit"
        found = _TAGGED.match(text)
        if found is None:
            return False
        number = found[1].decode()
    return False


def _loose(number: str, store: str) -> tuple[bytes, bytes] | None:
    data = disk.beginning(f"{store}/{number[:2]}/{number[2:]}", _HEAD)
    if data is None:
        return None
    head, _, text = _inflated(data).partition(b"\0")
    return head.partition(b" ")[0], text


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _HEAD)
    except zlib.error:
        return b""


def _packed(number: str, store: str) -> tuple[bytes, bytes] | None:
    place = place_in_packs(number, store)
    return _in_pack(place[1], place[0]) if place is not None else None


def place_in_packs(number: str, store: str) -> tuple[str, int] | None:
    """Return the pack in this folder that has the object of this number, and where in it; None if none has it."""
    for pack in _packs(store) or ():
        offset = _offset(bytes.fromhex(number), f"{pack}.idx")
        if offset is not None:
            return f"{pack}.pack", offset
    return None


def _packs(store: str) -> list[str] | None:
    """The packs, without the ends of their names; None where there are too many."""
    names = sorted(name for name in disk.names_in(f"{store}/pack") if name.endswith(".idx"))
    return [f"{store}/pack/{name.removesuffix('.idx')}" for name in names] if len(names) <= _MOST_PACKS else None


def _offset(number: bytes, index: str) -> int | None:
    """Where an object stands in the pack of this index."""
    found = _bucket(number[0], index)
    if found is None:
        return None
    first, count, bucket = found
    at = _place(number, bucket)
    if _at(at, bucket) != number:
        return None
    offsets = _NUMBERS + 24 * count
    small = int.from_bytes(disk.piece(index, offsets + 4 * (first + at), 4) or b"", "big")
    if not small & 1 << 31:
        return small
    large = disk.piece(index, offsets + 4 * count + 8 * (small & ~(1 << 31)), 8)
    return int.from_bytes(large, "big") if large else None


def _indexed(beginning: str, index: str) -> Iterator[str]:
    """The numbers in the index of a pack that begin like this; one that is no number where that cannot be read."""
    found = _bucket(int(beginning[:2], 16), index)
    if found is None:
        return iter(["?"])
    bucket = found[2]
    start = _place(bytes.fromhex(beginning.ljust(40, "0")), bucket)
    numbers = (_at(at, bucket).hex() for at in range(start, len(bucket) // 20))
    return takewhile(lambda number: number.startswith(beginning), numbers)


def _bucket(byte: int, index: str) -> tuple[int, int, bytes] | None:
    """How many numbers in the index of a pack stand in front of those that begin with this byte, how many there are in
    all, and those; None where that cannot be read."""
    head = disk.piece(index, 0, _NUMBERS)
    if head is None or len(head) < _NUMBERS or head[:8] != _IDX:
        return None
    ends = [int.from_bytes(head[at : at + 4], "big") for at in range(_FANOUT, _NUMBERS, 4)]
    first, last = ends[byte - 1] if byte else 0, ends[byte]
    if not 0 <= (last - first) * 20 <= _MOST_BUCKET:
        return None
    return first, ends[-1], disk.piece(index, _NUMBERS + 20 * first, 20 * (last - first)) or b""


def _place(number: bytes, bucket: bytes) -> int:
    """Where a number stands among these, or would."""
    return bisect_left(range(len(bucket) // 20), number, key=lambda at: _at(at, bucket))


def _at(place: int, bucket: bytes) -> bytes:
    return bucket[20 * place : 20 * place + 20]


def _in_pack(offset: int, pack: str) -> tuple[bytes, bytes] | None:
    """The kind of the object at this offset and its text, which is left empty where it is stored as a delta."""
    whole = True
    for _ in range(_MOST_DELTAS):
        data = disk.piece(pack, offset, _HEAD) or b""
        kind, rest = (data[0] >> 4) & 7 if data else 0, _behind_number(data)
        if kind in _KINDS:
            return _KINDS[kind], _inflated(rest) if whole else b""
        if kind != _BY_OFFSET or not rest:
            return None
        back = rest[0] & 0x7F
        for before, byte in pairwise(rest):
            if not before & 0x80:
                break
            back = ((back + 1) << 7) | (byte & 0x7F)
        offset, whole = offset - back, False
        if offset <= 0 or not back:
            return None
    return None


def _behind_number(data: bytes) -> bytes:
    """What follows a number of which each byte but the last has its highest bit set."""
    end = next((at for at, byte in enumerate(data) if not byte & 0x80), len(data))
    return data[end + 1 :]
