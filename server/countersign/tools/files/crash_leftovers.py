"""Names that a change of a file uses for a moment, and what becomes of them when the server was killed in that moment.

A name says for which file it was, by the hash of that file's own name, and what is under it:

- ``.new``: bytes of ours on their way into place. It never holds anything else, so it may be removed.
- ``.old``: what was taken away, or is just changing places. It can be the only copy of somebody's file, so it is never
  removed here: it is put back where nothing is, or said to be there.

Changing the file is ``change.py``'s; which calls were cut off is known to the ledger.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import stat
from contextlib import suppress

from countersign.gate import Stale, protected_reason
from countersign.settings.rename import CannotRename, move_to_free
from countersign.tools.files.safe_open import held_folder
from countersign.wire.base import Json

log = logging.getLogger(__name__)
ASIDE = ".countersign-"
"""How every such name begins."""
_NAME = re.compile(r"\.countersign-(?P<target>[0-9a-f]{16})-[0-9a-f]{16}\.(?P<what>new|old)")


def is_name_of_ours(name: str) -> bool:
    """Return true if a change of a file may use this name for what it puts in place or takes away."""
    return _NAME.fullmatch(name) is not None


def new_name(target: str) -> str:
    """A name for our bytes, beside the file of this name."""
    return _name(target, "new")


def old_name(target: str) -> str:
    """A name for what stood under this name."""
    return _name(target, "old")


TAKES_AWAY = frozenset({"delete_file", "undo"})
"""Tools of ours that take a file away before it is gone for good."""


def blocking_left(arguments: Json, workspace: str, tool: str) -> str | None:
    """Settle what a call with these arguments left, which was cut off by the end of its server; what is to be known.

    INVARIANT (narrowing): only where one of our tools took a file away is one put back. Anybody can make a file of such
    a name beside a path that some call, of an agent's own making, only mentions.
    """
    path = arguments.get("path") if isinstance(arguments, dict) else None
    if not isinstance(path, str):
        return None
    try:
        left = blocking_settle(os.path.join(workspace, os.path.expanduser(path)), puts_back=tool in TAKES_AWAY)
    except OSError as error:
        # The server starts all the same; what was left stays, and is said.
        log.warning("beside `%s` nothing could be settled: %s", path, error)
        return f"whether a file was left beside `{path}` could not be seen; its name would begin with `.countersign-`"
    if left is not None:
        log.warning("an interrupted call left something: %s", left)
    return left


def blocking_settle(path: str, *, puts_back: bool = True) -> str | None:
    """Clean up after a change of this file that a dead server left half done; return what a person must know, if any.
    What was taken away stays where it is without ``puts_back``, where a link stands in the way by now, where the place
    is protected, and where several files might be the one that was there: anybody can make a file of such a name.

    Raises:
        OSError: the folder cannot be read or changed; the remaining leftovers stay as they are.
    """
    resolved = os.path.realpath(path)
    folder_path, target = os.path.split(resolved)
    try:
        with held_folder(folder_path) as folder:
            its_own = resolved == os.path.abspath(path) and protected_reason(resolved.split(os.sep)) is None
            return _settle(folder, target, puts_back=puts_back and its_own)
    except (FileNotFoundError, NotADirectoryError, Stale):
        return None  # where there is no folder, nothing is left in it


def _settle(folder: int, target: str, *, puts_back: bool) -> str | None:
    said: list[str] = []
    left = _left(folder, target)
    puts_back = puts_back and sum(name.endswith(".old") for name in left) == 1
    for name in left:
        if name.endswith(".new"):
            with suppress(FileNotFoundError):
                if _ours(os.stat(name, dir_fd=folder, follow_symlinks=False)):
                    os.unlink(name, dir_fd=folder)
        elif puts_back and _put_back(folder, name, target):
            said.append(f"`{target}` was being taken away and was put back")
        else:
            said.append(f"what `{target}` held before, or was to hold, is beside it as `{name}`")
    return "; ".join(said) or None


def _left(folder: int, target: str) -> list[str]:
    wanted = _hash(target)
    # The held descriptor may be good for nothing but looking up names.
    descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        found = [_NAME.fullmatch(name) for name in os.listdir(descriptor)]
    finally:
        os.close(descriptor)
    return sorted(match.group() for match in found if match is not None and match["target"] == wanted)


def _put_back(folder: int, name: str, target: str) -> bool:
    with suppress(FileExistsError, CannotRename):
        if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            move_to_free(folder, name, folder, target)
            return True
    return False


def _ours(status: os.stat_result) -> bool:
    """Whether it can be a file that this very user's server wrote: an ordinary one with no second name."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == os.geteuid()


def _name(target: str, what: str) -> str:
    return f".countersign-{_hash(target)}-{secrets.token_hex(8)}.{what}"


def _hash(target: str) -> str:
    return hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
