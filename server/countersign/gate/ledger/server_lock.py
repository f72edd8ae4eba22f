"""Who owns a request: one server process, known by a file that it holds locked for as long as it lives.

Several servers may share a storage folder. Only rows whose owner is gone may be taken over or closed.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Owner:
    """This server's name, and its lock. The kernel lets go of the lock when the process ends, however it ends."""

    def __init__(self, storage: Path) -> None:
        """Take a new name.

        Raises:
            OSError: the storage folder cannot be written.
        """
        self._folder = storage / "servers"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.name = secrets.token_hex(8)
        path = self._folder / f"{self.name}.lock"
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_gone(self, name: str) -> bool:
        """Whether the server of that name has ended. Our own name is never gone."""
        if name == self.name:
            return False
        path = self._folder / f"{name}.lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        path.unlink(missing_ok=True)
        return True

    @contextmanager
    def taking_up(self) -> Iterator[bool]:
        """Whether this server alone may take over what others left, for as long as the block lasts.

        Two windows that open at once would both find the same requests without an owner.
        """
        descriptor = os.open(self._folder / "taking-up", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def release(self) -> None:
        """Give the name up; what it owned may be taken over from now on."""
        (self._folder / f"{self.name}.lock").unlink(missing_ok=True)
        os.close(self._descriptor)
