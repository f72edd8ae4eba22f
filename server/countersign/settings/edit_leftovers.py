"""What an edit of a settings file leaves beside it when the server is killed, and what becomes of that.

The edit exchanges the file with its new text under an ``.old`` name whose mark is made from both texts. So it can be
known later that such a file holds one of them, and nothing that somebody else wrote. Anything else is kept and said.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress

from countersign.settings.temporary_names import mark_of, names_left, old_name

MOST_BYTES = 1024 * 1024
"""The largest leftover that is compared; ``files.MAX_BYTES`` is the largest settings file."""


def name_of_edit(target: str, before: bytes, after: bytes) -> str:
    """The name under which the new text is exchanged with the file of this name."""
    return old_name(target, _mark(before, after))


def blocking_settle_edit(path: str) -> str | None:
    """Clean up after an edit of this settings file that a dead server left half done; return what a person must know.

    Removed are our own text that was on its way, and either of the two texts of an edit while the other one stands in
    the file. What may be somebody else's stays.

    Raises:
        OSError: the folder cannot be read or changed; the remaining leftovers stay as they are.
    """
    resolved = os.path.realpath(path)
    folder_path, target = os.path.split(resolved)
    try:
        folder = os.open(folder_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        kept = [name for name in names_left(folder, target) if not _removed(folder, name, target)]
    finally:
        os.close(folder)
    if not kept:
        return None
    names = ", ".join(f"`{name}`" for name in kept)
    return f"a server was killed while it changed `{resolved}`; look at what it left beside it and delete that: {names}"


def _removed(folder: int, name: str, target: str) -> bool:
    """Whether a leftover is gone now."""
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return False
        if name.endswith(".new") or _is_one_of_both(folder, name, target):
            os.unlink(name, dir_fd=folder)
            return True
        return False
    return True


def _is_one_of_both(folder: int, name: str, target: str) -> bool:
    left, now = _bytes_of(folder, name), _bytes_of(folder, target)
    if left is None or now is None:
        return False
    return mark_of(name) in (_mark(left, now), _mark(now, left))


def _bytes_of(folder: int, name: str) -> bytes | None:
    """A regular file's bytes; None for anything else, and for what is too long."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None


def _mark(before: bytes, after: bytes) -> str:
    both = hashlib.sha256(before).digest() + hashlib.sha256(after).digest()
    return hashlib.sha256(both).hexdigest()[:16]
