"""Whether links, symbolic or hard ones, or secrets lie below folders: a walk of bounded length that follows no link."""

from __future__ import annotations

from collections.abc import Iterable

from countersign.gate.paths.sensitive_paths import secret_name
from countersign.gate.probes import disk

_MOST_NAMES, _MOST_COMPARED = 50_000, 2_000
"""How many names are looked at, and how many are compared with those of secrets."""


def holds_links(folders: Iterable[str], *, most: int, single: bool) -> bool:
    """Whether a link stands in one of these folders or below, or that is not known, as with more than ``most`` folders.
    ``single``: hard links count."""
    waiting = list(folders)
    walked = names = 0
    while waiting:
        folder = waiting.pop()
        # A submodule of a linked worktree has its objects there.
        nested = "/modules/" in folder and "/objects" in folder
        found = disk.single_entries_in(folder) if single and not nested else disk.entries_in(folder)
        walked += 1
        names += len(found or ())
        if found is None or walked > most or names > _MOST_NAMES:
            return True
        if any(is_folder is None for _, is_folder in found):
            return True
        waiting += [f"{folder}/{name}" for name, is_folder in found if is_folder]
    return False


def holds_hidden_secrets(folder: str, *, most: int) -> bool:
    """Whether a file with several names or with that of a secret lies below a folder, or that is not known; symlinks
    do not count."""
    waiting = [folder]
    walked = names = 0
    while waiting:
        folder = waiting.pop()
        single, entries = disk.single_entries_in(folder), disk.entries_in(folder)
        walked += 1
        names += len(entries or ())
        if single is None or entries is None or walked > most or names > _MOST_COMPARED:
            return True
        links = {name for name, is_folder in entries if is_folder is None}
        if any(is_folder is None and name not in links for name, is_folder in single):
            return True
        if any(secret_name(name) is not None for name, _ in entries):
            return True
        waiting += [f"{folder}/{name}" for name, is_folder in entries if is_folder]
    return False
