"""The temporary folders of the chats of one server: one folder for the server, in it one for each chat.

Which folder belongs to which chat is the policy's to say (``Policy.temporary_root``).
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Callable

from countersign.gate import BadArguments
from countersign.tools.shell.locked_folder import LockedFolder, blocking_sweep

log = logging.getLogger(__name__)
PREFIX = "countersign-tmp-"


class TemporaryFolders:
    """The folder of this server, and those of its chats. A class because it owns the locked folder.

    ``base`` is None where no folder can be made; commands then keep the ``TMPDIR`` of the server.
    """

    def __init__(self, parent: str | None = None, made: Callable[[str], None] = lambda _path: None) -> None:
        self._parent = os.path.realpath(parent or tempfile.gettempdir())
        self._folder: LockedFolder | None = None
        try:
            self._folder = LockedFolder(PREFIX, self._parent, made)
        except OSError:
            log.exception("no temporary folder can be made in `%s`", self._parent)

    @property
    def base(self) -> str | None:
        return None if self._folder is None else self._folder.path

    def blocking_sweep(self) -> None:
        """Remove the folders of servers that have ended."""
        blocking_sweep(PREFIX, self._parent)

    def blocking_remove(self, root: str | None) -> None:
        """Remove the folder of one chat, with all that lies in it."""
        if root is not None:
            shutil.rmtree(root, ignore_errors=True)

    def blocking_close(self) -> None:
        """Remove all of them."""
        if self._folder is not None:
            self._folder.blocking_remove()
            self._folder = None


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
