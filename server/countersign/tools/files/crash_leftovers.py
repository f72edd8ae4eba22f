"""What a change of a file leaves beside it when the server is killed in that moment, and what becomes of that.

``settings/temporary_names.py`` has the names. What lies under ``.new`` is ours and is removed; what lies under ``.old``
can be the only copy of somebody's file, so it is never removed here: it is put back where nothing is, or said to be
there. Changing the file is ``change.py``'s; which calls were cut off is known to the ledger.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress

from countersign.gate import Stale, protected_reason
from countersign.settings.rename import CannotRename, move_to_free
from countersign.settings.temporary_names import names_left
from countersign.tools.files.safe_open import held_folder
from countersign.wire.base import Json

log = logging.getLogger(__name__)

TAKES_AWAY = frozenset({"delete_file"})
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
    left = names_left(folder, target)
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


def _put_back(folder: int, name: str, target: str) -> bool:
    with suppress(FileExistsError, CannotRename):
        if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            move_to_free(folder, name, folder, target)
            return True
    return False


def _ours(status: os.stat_result) -> bool:
    """Whether it can be a file that this very user's server wrote: an ordinary one with no second name."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == os.geteuid()
