"""A private temporary folder that is locked for as long as the server that made it lives.

The kernel lets go of the lock when the process ends, however it ends; so a later server knows what was left behind.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

HOOKS_PREFIX = "countersign-hook-"
"""Of the folders in which agents' hooks reach us; those of chats have their own (``temporary_folders.py``)."""
TRIES = 8
"""How often a folder is made anew that another server removed before it was locked."""


class LockedFolder:
    """The folder and its lock. A class because it owns the descriptor that holds the lock."""

    def __init__(
        self, prefix: str, parent: str | None = None, made: Callable[[str], None] = lambda _path: None
    ) -> None:
        """Make the folder, 0700, and lock it. ``made`` is called in between.

        Raises:
            OSError: it cannot be made, or others remove it again and again.
        """
        for _ in range(TRIES):
            self.path = tempfile.mkdtemp(prefix=prefix, dir=parent)
            made(self.path)
            if (lock := _locked(self.path)) is not None:
                self._lock = lock
                return
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)

    def blocking_remove(self) -> None:
        """Remove it, with all that lies in it. Idempotent."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def blocking_sweep(prefix: str, parent: str | None = None) -> None:
    """Remove the folders of this user's servers that have ended. Follows no link."""
    for left in Path(parent or tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            folder = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if os.fstat(folder).st_uid == os.geteuid():
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            pass  # its server lives
        finally:
            os.close(folder)


def _locked(path: str) -> int | None:
    """Lock a new folder; None if it is gone by now."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_EX)
    if os.path.isdir(path):
        return lock
    os.close(lock)
    return None
