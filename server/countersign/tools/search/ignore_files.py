"""The `.gitignore` files of a workspace, read for ripgrep, which opens none by itself.

A repository chooses what stands under these names: a link to a secret would tell its lines by the files that are
missing from a search, a pipe would never end, and a device would fill the memory. So they are read as every other file
is, and ripgrep gets one list of patterns, relative to the workspace.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from countersign.gate import Stale
from countersign.tools.files.safe_open import look_at

IGNORE_FILE = ".gitignore"
MOST_BYTES = 256 << 10
"""Of one file; a longer one excludes nothing."""
MOST_PATTERNS = 1 << 20
"""Bytes of all patterns; past them, files exclude nothing."""
_SPECIAL = re.compile(r"[\\*?\[\]{}]")


def blocking_patterns(workspace: str, folders: Iterable[str], opens: Callable[[str], bool]) -> bytes:
    """Return the patterns of these folders' files, given relative to the workspace; those of deeper folders last.

    ``opens`` tells of the absolute path of such a file whether it may be read.
    """
    found = bytearray()
    for folder in sorted(set(folders), key=lambda each: each.split("/")):
        path = os.path.join(workspace, folder, IGNORE_FILE)
        if "\n" in folder or not os.path.lexists(path) or not opens(path):
            continue
        with suppress(OSError, Stale):
            data = look_at(path, MOST_BYTES).data or b""
            lines = "".join(_placed(folder, data.decode("utf-8", "surrogateescape")))
            if len(found) + len(lines) <= MOST_PATTERNS:
                found += lines.encode("utf-8", "surrogateescape")
    return bytes(found)


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders of a relative path, from the workspace (the empty path) down."""
    parts = path.split("/")[:-1]
    yield from ("/".join(parts[:number]) for number in range(len(parts) + 1))


def _placed(folder: str, text: str) -> Iterator[str]:
    """Yield the patterns of one file as they read in the workspace's own."""
    prefix = "/" + _SPECIAL.sub(r"\\\g<0>", folder) + "/" if folder else ""
    for line in text.removeprefix("\ufeff").split("\n"):
        pattern = line.removesuffix("\r")
        if not pattern.strip() or pattern.startswith("#"):
            continue
        if not prefix:
            yield pattern + "\n"
            continue
        sign = "!" if pattern.startswith("!") else ""
        body = pattern.removeprefix("!")
        anywhere = "" if "/" in body.rstrip()[:-1] else "**/"
        yield f"{sign}{prefix}{anywhere}{body.removeprefix('/')}\n"
