"""Before-images: what files held before an allowed change, kept a while so that it can be taken back."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

KEPT_SECONDS = 7 * 24 * 3600.0
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BeforeImages:
    """A folder of ours (0700) with one file (0600) for each receipt. A class because old ones are swept out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def blocking_keep(self, receipt_id: str, data: bytes) -> None:
        """Keep the bytes under this receipt.

        Raises:
            OSError: the disk refuses; the change itself has happened all the same.
        """
        descriptor = os.open(self._path(receipt_id), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    def blocking_read(self, receipt_id: str) -> bytes | None:
        """The bytes that were there before; None where none were kept (a new file has none)."""
        try:
            return self._path(receipt_id).read_bytes()
        except FileNotFoundError:
            return None

    def blocking_sweep(self, now: float | None = None) -> None:
        """Remove what is older than ``KEPT_SECONDS``."""
        oldest = (time.time() if now is None else now) - KEPT_SECONDS
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another server sweeps, too
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _path(self, receipt_id: str) -> Path:
        if not _NAME.fullmatch(receipt_id):
            raise ValueError("no receipt has such an id")
        return self._folder / receipt_id
