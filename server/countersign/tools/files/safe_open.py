"""Files and folders opened without following a single link.

INVARIANT (same bytes): whoever acts on a path that was resolved before opens it here, folder by folder from the root,
so that a link that was put in its place since is met as ``Stale`` and never followed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from countersign.gate import Stale, check_cancelled
from countersign.settings.regular_file import NotRegular

CHUNK = 1 << 20
MOST_HASHED = 256 << 20
"""Bytes of a file that is read to its end; a longer one (a sparse one costs nothing) would hold a worker long."""
_NOT_HERE = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""What the system says when O_NOFOLLOW meets a link, or O_DIRECTORY something that is no folder."""

if os.name == "posix":
    _FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
    _READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class TooLong(OSError):
    """A file that is too long to be read to its end."""


class LeftAside(OSError):
    """A change could not be taken back wholly, because another program moved things meanwhile; the message names every
    copy that is left."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A regular file as it was read: ``data`` is None where it is longer than the reader wanted to keep."""

    sha256: str
    size: int
    data: bytes | None
    status: os.stat_result

    def identity(self) -> tuple[int, ...]:
        return identity(self.status)


def identity(status: os.stat_result) -> tuple[int, ...]:
    """What changes whenever a file is replaced or written to."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@contextmanager
def held_folder(path: str) -> Iterator[int]:
    """A descriptor of this folder (absolute, resolved), good for ``dir_fd`` and ``fchdir``.

    Raises:
        Stale: a link stands in the way.
        OSError: it is not there, no folder, or not for us.
    """
    with _walked(path, None) as descriptor:
        yield descriptor


@contextmanager
def held_or_made_folder(path: str) -> Iterator[int]:
    """As ``held_folder``, with the folders that are missing made on the way.

    When the body raises, the folders that were made here go again, as far as they are empty.
    """
    made: list[str] = []
    try:
        with _walked(path, made) as descriptor:
            yield descriptor
    except BaseException:
        for folder in reversed(made):
            _remove_empty(folder)
        raise


def still_there(path: str, descriptor: int) -> bool:
    """Whether this path still leads, without links, to the folder that is held."""
    try:
        with held_folder(path) as again:
            return os.path.samestat(os.fstat(again), os.fstat(descriptor))
    except (OSError, Stale):
        return False


def look(folder: int, name: str, keep: int) -> Seen:
    """Read the regular file ``name`` in this folder; its bytes are kept up to ``keep``, and hashed to the end.

    Raises:
        FileNotFoundError: nothing there.
        NotRegular: a link, a folder, a device, a pipe.
        TooLong: it has more than ``MOST_HASHED`` bytes.
    """
    # Opening a device can do something by itself, so it is looked at from outside first.
    _regular_or_raise(os.stat(name, dir_fd=folder, follow_symlinks=False))
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_HERE:
            raise NotRegular(errno.ELOOP, "is a link") from None
        raise
    try:
        status = os.fstat(descriptor)
        _regular_or_raise(status)
        if status.st_size > MOST_HASHED:
            raise TooLong(errno.EFBIG, f"is longer than {MOST_HASHED >> 20} MiB")
        digest, size, pieces = hashlib.sha256(), 0, list[bytes]()
        while piece := os.read(descriptor, CHUNK):
            check_cancelled()
            digest.update(piece)
            size += len(piece)
            if size <= keep:
                pieces.append(piece)
            if size > (status.st_size or keep):
                # Whoever writes to it without end must not keep us reading without end.
                raise Stale("the file grew while it was read")
        # Whoever writes while we read is seen by what it leaves in the status.
        if identity(os.fstat(descriptor)) != identity(status):
            raise Stale("the file changed while it was read")
        return Seen(digest.hexdigest(), size, b"".join(pieces) if size <= keep else None, status)
    finally:
        os.close(descriptor)


def look_at(path: str, keep: int) -> Seen:
    """As ``look``, by an absolute resolved path."""
    with held_folder(os.path.dirname(path)) as folder:
        return look(folder, os.path.basename(path), keep)


def complaint(error: OSError, shown: str) -> str:
    """What went wrong, in one sentence for the model."""
    match error:
        case LeftAside():
            return str(error.strerror)
        case NotRegular() | TooLong():
            return f"`{shown}` {error.strerror}"
        case FileNotFoundError():
            return f"`{shown}` does not exist"
        case PermissionError():
            return f"`{shown}` cannot be opened: no permission"
        case NotADirectoryError():
            return f"`{shown}` does not exist: a part of its path is no folder"
        case IsADirectoryError():
            return f"`{shown}` is a folder"
        case _:
            return f"`{shown}` failed: {(error.strerror or 'unknown error').lower()}"


@contextmanager
def _walked(path: str, made: list[str] | None) -> Iterator[int]:
    current = os.open("/", _FOLDER)
    try:
        walked = ""
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                raise ValueError("a resolved path has no `..`")
            walked = f"{walked}/{part}"
            following = _step(current, part, walked, made)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


def _step(folder: int, part: str, walked: str, made: list[str] | None) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if made is None:
            raise
    except OSError as error:
        if error.errno in _NOT_HERE and _is_link(folder, part):
            raise Stale("a folder on the way is a link now") from None
        raise
    # Another call of the same turn may make the same folder; what counts is that it is no link.
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=folder)
        made.append(walked)
    return _step(folder, part, walked, None)


def _is_link(folder: int, name: str) -> bool:
    # Gone again by now: then it was no folder a moment ago, and whatever it was cannot be told.
    with suppress(FileNotFoundError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return True


def _remove_empty(path: str) -> None:
    with suppress(OSError, Stale), held_folder(os.path.dirname(path)) as folder:
        os.rmdir(os.path.basename(path), dir_fd=folder)


def _regular_or_raise(status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise NotRegular(errno.EISDIR, "is a folder")
    if stat.S_ISLNK(status.st_mode):
        raise NotRegular(errno.ELOOP, "is a link")
    raise NotRegular(errno.EINVAL, "is no regular file")
