"""The names in git's index, read from its bytes: what ``git ls-files`` lists without looking at the folders.

Versions 2 and 3 with SHA-1, by git's `gitformat-index`; anything else is left to whoever can look at the folders.
"""

from __future__ import annotations

import struct

_HEAD = 62
_SYMLINK = 0o120000
_EXTENDED = 0x4000


def index_names(data: bytes, most: int) -> tuple[tuple[str, bool], ...] | None:
    """Return each path with whether it is a symlink; None if the index has another form or more than ``most`` names."""
    if len(data) < 12 or data[:4] != b"DIRC":
        return None
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3) or count > most:
        return None
    found: list[tuple[str, bool]] = []
    at = 12
    for _ in range(count):
        end = data.find(b"\0", at + _HEAD)
        if end < 0:
            return None
        (mode,) = struct.unpack(">I", data[at + 24 : at + 28])
        (flags,) = struct.unpack(">H", data[at + 60 : at + 62])
        start = at + _HEAD + (2 if flags & _EXTENDED else 0)
        if flags & 0xFFF != min(end - start, 0xFFF):
            return None
        found.append((data[start:end].decode(errors="replace"), mode & 0o170000 == _SYMLINK))
        at += (end - at) // 8 * 8 + 8
    # A split index keeps most of its names in another file.
    return None if data[at : at + 4] == b"link" else tuple(found)
