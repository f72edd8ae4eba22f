"""Protected places and secrets that a pattern of git's may choose (``git checkout topic -- '.vscod*'``).

Which files a pathspec stands for is said by the index or another commit, not by the disk, so it is compared with the
names themselves. A pattern that takes any name (``src/*.py``) says no more than its folder does, and is judged as that.
"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterator
from functools import lru_cache

from countersign.gate.paths.sensitive_paths import PROTECTED, SECRET_SAMPLES
from countersign.gate.patterns import wildcards_meet
from countersign.gate.shell.files.file_use import Operation
from countersign.gate.shell.languages.git_pathspec import fixed_texts

_BELOW = ("", "/settings.json", "/tasks.json", "/launch.json", "/mcp.json", "/hooks.json", "/pre-commit", "/x")
_NAMES = tuple("/".join(names) for names in PROTECTED if names != (".git",))  # git keeps nothing of that name
_SECRET = tuple(name for name in SECRET_SAMPLES if "\0" not in name)
_MOST_PIECES = 12
"""Texts between wildcards; a pattern with more of them may choose anything."""
_LONGEST = 1_000
"""Characters of a pattern; a longer one may choose anything."""


def met_names(pattern: str, operation: Operation, *, any_case: bool) -> Iterator[str]:
    """Yield the first protected place that a pattern may choose where it is written, and each secret where it is
    read."""
    if len(pattern) > _LONGEST:
        yield from _SECRET if operation == "read" else _NAMES[:1]
        return
    pieces = fixed_texts(pattern.lower() if any_case else pattern)
    yield from _met_secrets(pieces) if operation == "read" else _met_places(pieces)


def _met_secrets(pieces: tuple[str, ...]) -> Iterator[str]:
    front, slash, rest = pieces[0].rpartition("/")
    yield from (f"{front}{slash}{name}" for name in _SECRET if wildcards_meet((rest, *pieces[1:]), (name,)))


@lru_cache(maxsize=256)
def _met_places(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """The first protected place that a pattern may choose, if there is one."""
    if len(pieces) > _MOST_PIECES:
        return _NAMES[:1]
    front, slash, rest = pieces[0].rpartition("/")
    folder = posixpath.normpath(front) if slash else "."
    pieces = (rest, *pieces[1:])
    if not any(pieces):
        return ()
    # Without a wildcard it names a folder with all below.
    ways = (pieces,) if len(pieces) > 1 else (pieces, (f"{rest}/", ""))
    own = (piece[piece.index("/") :].rstrip("/") for piece in pieces if "/" in piece)
    behind = tuple(dict.fromkeys((*_BELOW, *own)))
    above_it = ("", "d/", *((f"{rest}/", f"{rest}d/") if rest else ()))
    for above, name, below in itertools.product(above_it, _NAMES, behind):
        if not any(wildcards_meet(way, (f"{above}{name}{below}",)) for way in ways):
            continue
        at_top = folder == "." and not above and below in _BELOW
        ordinary = f"{above}{_ordinary(name)}{below}"
        if at_top or not any(wildcards_meet(way, (ordinary,)) for way in ways):
            return (posixpath.normpath(f"{folder}/{above}{name}{below}"),)
    return ()


@lru_cache(maxsize=256)
def _ordinary(name: str) -> str:
    """Another name of that depth and ending, which nothing protects."""
    return "zzz/" * name.count("/") + "zzz" + posixpath.splitext(name)[1]
