"""Folders that stand at a second path: bind mounts, and what macOS's firmlinks lead to.

``/System/Volumes/Data/Users`` is ``/Users`` there. No link tells of such a path, so device and inode are compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from countersign.gate.probes import disk


def other_paths(path: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return what an absolute path without links is called from one of these folders or from above them, where a folder
    on its way is the same by another name."""
    return disk.combined(_other_paths, (path, roots))


def _other_paths(asked: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    path, roots = asked
    known = {found: folder for root in roots for folder in _down_to(root) if (found := disk.object_at(folder))}
    others: dict[str, None] = {}
    for folder in _down_to(path):
        found = disk.object_at(folder)
        if found is None:
            break
        named = known.get(found, folder)
        if named != folder:
            others[named.rstrip("/") + path[len(folder.rstrip("/")) :] or "/"] = None
    return tuple(others)


def _down_to(path: str) -> Iterator[str]:
    """The folders above a path from the root on, then the path."""
    yield "/"
    for index, character in enumerate(path):
        if character == "/" and index:
            yield path[:index]
    if path != "/":
        yield path
