"""Names that a change of a file uses beside it for a moment. A server that is killed in that moment leaves them.

A name says for which file it was, by the hash of that file's own name, and what is under it:

- ``.new``: bytes of ours on their way into place. It never holds anything else, so it may be removed.
- ``.old``: what was taken away, or is just changing places. It can be the only copy of somebody's file.

What becomes of those that are left is ``edit_leftovers.py``'s for settings files, and for files that tools change
``tools/files/crash_leftovers.py``'s.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets

ASIDE = ".countersign-"
"""How every such name begins."""
_NAME = re.compile(r"\.countersign-(?P<target>[0-9a-f]{16})-(?P<mark>[0-9a-f]{16})\.(?P<what>new|old)")


def is_name_of_ours(name: str) -> bool:
    """Return true if a change of a file may use this name for what it puts in place or takes away."""
    return _NAME.fullmatch(name) is not None


def new_name(target: str) -> str:
    """A name for our bytes, beside the file of this name."""
    return _name(target, secrets.token_hex(8), "new")


def old_name(target: str, mark: str | None = None) -> str:
    """A name for what stood under this name. ``mark`` are 16 hexadecimal digits, random ones unless given."""
    return _name(target, mark or secrets.token_hex(8), "old")


def mark_of(name: str) -> str:
    """Return the ``mark`` of a name of ours."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return found["mark"]


def names_left(folder: int, target: str) -> list[str]:
    """Return the names in a held folder that a change of the file of this name has used.

    Raises:
        OSError: the folder cannot be read.
    """
    wanted = _hash(target)
    # The held descriptor may be good for nothing but looking up names.
    descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        found = [_NAME.fullmatch(name) for name in os.listdir(descriptor)]
    finally:
        os.close(descriptor)
    return sorted(match.group() for match in found if match is not None and match["target"] == wanted)


def _name(target: str, mark: str, what: str) -> str:
    return f".countersign-{_hash(target)}-{mark}.{what}"


def _hash(target: str) -> str:
    return hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
