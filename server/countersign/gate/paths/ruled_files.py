"""What lies below a folder of the workspace that a rule for reading is about, as the disk shows it now.

A rule asks about a folder above what it names. Where nothing of that kind is there, nothing that it forbids can be
read, and it need not ask.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from countersign.gate.paths.roots import Segments, as_other_systems
from countersign.gate.patterns import PathPattern
from countersign.gate.probes import disk

MOST_NAMES = 10_000
"""How many names are compared with one pattern."""


class RuledFile(NamedTuple):
    """What a rule is about: its names below the folder that was looked through, and whether it is a folder."""

    names: Segments
    is_folder: bool


class _Look(NamedTuple):
    pattern: PathPattern
    folder: str
    place: Segments


def is_ruled(path: str, patterns: Iterable[PathPattern]) -> bool:
    """Return whether one of these patterns is about a path, counted from where they count; also as other systems read
    its names."""
    views = tuple(as_other_systems(f"/{path}"))
    return any(pattern.touches(view) for pattern in patterns for view in views)


def ruled_below(pattern: PathPattern, folder: str, place: Segments) -> tuple[RuledFile, ...] | None:
    """Return the topmost files and folders below a folder that a pattern is about, in the wide reading; ``place`` says
    where the folder lies, relative to what the pattern counts from. None where that cannot be said: behind a symlink,
    in a folder that cannot be listed, and of more than ``MOST_NAMES``."""
    return disk.combined(_ruled_below, _Look(pattern, folder, place))


def _ruled_below(look: _Look) -> tuple[RuledFile, ...] | None:
    found, waiting, left = list[RuledFile](), list[Segments]([()]), MOST_NAMES
    while waiting:
        above = waiting.pop()
        entries = disk.entries_in("/".join((look.folder.rstrip("/"), *above)) or "/")
        if entries is None or (left := left - len(entries)) < 0:
            return None
        for name, is_folder in entries:
            names = (*above, name)
            path = "/".join((*look.place, *names))
            if is_ruled(path, (look.pattern,)):
                if is_folder is None:
                    return None
                found.append(RuledFile(names, is_folder))
            elif is_folder is not False and any(map(look.pattern.may_touch_below, as_other_systems(f"/{path}"))):
                if is_folder is None:
                    return None
                waiting.append(names)
    return tuple(found)
