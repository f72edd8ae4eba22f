"""The temporary folders of the chats of one server: one folder for the server, in it one for each chat.

Which folder belongs to which chat is the policy's to say (``Policy.temporary_root``). The server keeps its folder
locked while it lives, so that a later server knows what was left behind.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from countersign.gate import BadArguments

log = logging.getLogger(__name__)
PREFIX = "countersign-tmp-"
TRIES = 8
"""How often a folder is made anew that another server removed before it was locked."""


class TemporaryFolders:
    """The folder of this server, and its lock. The kernel lets go of the lock when the process ends, however it ends.

    ``base`` is None where no folder can be made; commands then keep the ``TMPDIR`` of the server.
    """

    def __init__(self, parent: str | None = None, made: Callable[[str], None] = lambda _path: None) -> None:
        self._parent = os.path.realpath(parent or tempfile.gettempdir())
        self._lock = -1
        self.base: str | None = None
        try:
            for _ in range(TRIES):
                path = tempfile.mkdtemp(prefix=PREFIX, dir=self._parent)
                made(path)
                if self._take(path):
                    break
        except OSError:
            log.exception("no temporary folder can be made in `%s`", self._parent)

    def _take(self, path: str) -> bool:
        """Lock a new folder; False if it is gone by now."""
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(path):
            os.close(lock)
            return False
        self.base, self._lock = path, lock
        return True

    def blocking_sweep(self) -> None:
        """Remove the folders of servers that have ended."""
        for left in Path(self._parent).glob(f"{PREFIX}*"):
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

    def blocking_remove(self, root: str | None) -> None:
        """Remove the folder of one chat, with all that lies in it."""
        if root is not None:
            shutil.rmtree(root, ignore_errors=True)

    def blocking_close(self) -> None:
        """Remove all of them."""
        if self.base is not None:
            shutil.rmtree(self.base, ignore_errors=True)
            os.close(self._lock)
            self.base = None


def blocking_make_temporary(root: str) -> None:
    """Make sure that the temporary folder of a chat is there, and nobody else's.

    Raises:
        BadArguments: it cannot be made, or what has its name is something else.
    """
    for folder in (os.path.dirname(root), root):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            raise BadArguments(f"the chat's temporary folder cannot be made: {error.strerror}") from None
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise BadArguments(f"the chat's temporary folder `{folder}` is not a private folder; restart the server")
