"""Changing one file: write, delete, move. Each happens wholly, or raises ``Stale`` and leaves everything as it was.

INVARIANT (same bytes): the file is opened without following links and compared with the state that was shown; the bytes
that are written are those that were prepared. What is taken away is taken away whole first, looked at, and put back if
it is not what was shown; a copy that cannot be put back is named (``LeftAside``). Who writes into the very file at that
moment is not seen, for that file is gone; nor, where the system cannot rename so (``settings/rename.py``), is somebody
who replaces it in the instant after the last look.

INVARIANT (no lost copy): what a person may have written lies under its own name or under an ``.old`` one, also if we
are killed at any step; ``settings/temporary_names.py`` has the names, ``crash_leftovers.py`` settles what was left.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from countersign.gate import BadArguments, FileState, Stale
from countersign.settings.regular_file import NotRegular
from countersign.settings.rename import CannotRename, exchange, move_to_free
from countersign.settings.temporary_names import ASIDE, new_name, old_name
from countersign.tools.files.safe_open import (
    LeftAside,
    Seen,
    complaint,
    held_folder,
    held_or_made_folder,
    identity,
    look,
    look_at,
    still_there,
)
from countersign.tools.places import Place

MOST_BYTES = 4 << 20
"""A file that is written, or whose text stands on a card, is at most this long."""
MOST_BEFORE_IMAGE = 5 << 20
"""Longer files are not kept for undo (docs/gate.md "Environment of commands")."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})


@dataclass(frozen=True, slots=True)
class Before:
    """A file when the call was prepared. ``seen`` is None where there was none."""

    state: FileState
    seen: Seen | None


def blocking_before(place: Place, keep: int = MOST_BYTES) -> Before:
    """Look at the file, for a card. Its bytes are kept up to ``keep``.

    Raises:
        BadArguments: what is there is no regular file that we can read.
    """
    try:
        seen = look_at(place.resolved, keep)
    except FileNotFoundError:
        return Before(FileState(place.resolved, None), None)
    except OSError as error:
        raise BadArguments(complaint(error, place.shown)) from None
    except Stale as stale:
        raise BadArguments(f"`{place.shown}` cannot be used: {stale}") from None
    return Before(FileState(place.resolved, seen.sha256), seen)


def blocking_write(place: Place, before: FileState, data: bytes, *, mode: int | None = None) -> bytes | None:
    """Make this the content of the file; missing folders are made. Returns the bytes that were there, for undo.

    Mode and owner of an existing file are kept as far as we may; ``mode`` is for a new one, the usual unless given.

    Raises:
        Stale: the file, or a folder on its way, is not what it was.
        OSError: the disk refuses; nothing was changed.
    """
    place.same_or_stale()
    opened = held_or_made_folder if before.sha256 is None else held_folder
    with _missing_is_stale(), opened(place.folder) as folder:
        seen = _seen_or_stale(folder, place, before)
        if seen is not None and not os.access(place.name, os.W_OK, dir_fd=folder):
            raise PermissionError(errno.EACCES, "the file is write-protected")
        with _temporary(folder, place, data, seen, mode) as (temporary, aside, status):
            if seen is None:
                _put_where_nothing_is(folder, temporary, folder, place, status, back=aside)
            else:
                _same_or_stale(folder, place, seen)
                os.rename(temporary, aside, src_dir_fd=folder, dst_dir_fd=folder)
                _put_in_place_of(folder, aside, place, seen, status)
        _flush(folder)
        return seen.data if seen is not None else None


def blocking_delete(place: Place, before: FileState) -> bytes | None:
    """Delete the file. Returns its bytes, for undo. Raises as ``blocking_write`` does."""
    place.same_or_stale()
    with _missing_is_stale(), held_folder(place.folder) as folder:
        seen = _seen_or_stale(folder, place, before)
        if seen is None:
            raise Stale(f"`{place.shown}` is gone")
        _same_or_stale(folder, place, seen)
        _take_away(folder, place, seen)
        _flush(folder)
        return seen.data


def blocking_move(place: Place, before: FileState, to: Place) -> None:
    """Move the file to where nothing is; missing folders are made. Raises as ``blocking_write`` does."""
    place.same_or_stale()
    to.same_or_stale()
    with (
        _missing_is_stale(),
        held_folder(place.folder) as folder,
        held_or_made_folder(to.folder) as target,
    ):
        seen = _seen_or_stale(folder, place, before)
        if seen is None:
            raise Stale(f"`{place.shown}` is gone")
        _same_or_stale(folder, place, seen)
        _put_where_nothing_is(folder, place.name, target, to, seen.status, back=place.name)
        _flush(target)
        _flush(folder)


@contextmanager
def _missing_is_stale() -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise Stale("a folder on the way is gone") from None


def _seen_or_stale(folder: int, place: Place, before: FileState) -> Seen | None:
    try:
        seen = look(folder, place.name, MOST_BEFORE_IMAGE)
    except FileNotFoundError:
        seen = None
    except NotRegular as error:
        raise Stale(f"`{place.shown}` {error.strerror} now") from None
    if (seen.sha256 if seen is not None else None) != before.sha256:
        raise Stale(f"`{place.shown}` has changed")
    return seen


def _same_or_stale(folder: int, place: Place, seen: Seen) -> None:
    """The last look before the act."""
    now = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
    if identity(now) != seen.identity() or not still_there(place.folder, folder):
        raise Stale(f"`{place.shown}` has changed")


def _put_in_place_of(folder: int, aside: str, place: Place, seen: Seen, ours: os.stat_result) -> None:
    """Let the new file, which lies aside, and the one that was shown change places; then the old one goes."""
    try:
        exchange(folder, aside, place.name)
    except CannotRename:
        os.replace(aside, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    if not _is(folder, aside, seen.status):
        _exchange_back(folder, aside, place, ours)
        raise Stale(f"`{place.shown}` was replaced while it was written")
    try:
        os.unlink(aside, dir_fd=folder)
    except OSError:
        # What is said not to have been written is not left written.
        _exchange_back(folder, aside, place, ours)
        raise


def _exchange_back(folder: int, aside: str, place: Place, ours: os.stat_result) -> None:
    """Take an exchange back, and look at what comes back from it.

    Raises:
        LeftAside: it is not our new file; whoever moved that left more than one copy, and each is named.
    """
    try:
        exchange(folder, aside, place.name)
    except FileNotFoundError:
        # Our file was taken away from there; what we had taken goes back to its name, if that is still free.
        with suppress(FileNotFoundError, FileExistsError, CannotRename):
            move_to_free(folder, aside, folder, place.name)
    came_back = _status(folder, aside)
    if came_back is not None and os.path.samestat(came_back, ours):
        return
    left: list[str] = []
    if came_back is not None:
        left.append(f"what another program put there lies beside it as `{aside}`")
    names = [name for name in _names(folder) if name != aside and _is_file(folder, name, ours)]
    left += [f"the new text lies as `{name}`" for name in names]
    if not names:
        left.append("the new text was moved to another folder or deleted by another program")
    raise _left_aside(place, "written", left)


def _left_aside(place: Place, done: str, left: list[str]) -> LeftAside:
    return LeftAside(errno.EBUSY, f"`{place.shown}` was replaced while it was {done}; {'; '.join(left)}")


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_file(folder: int, name: str, status: os.stat_result) -> bool:
    now = _status(folder, name)
    return now is not None and os.path.samestat(now, status)


def _names(folder: int) -> list[str]:
    # The held descriptor may be good for nothing but looking up names.
    descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return sorted(os.listdir(descriptor))
    finally:
        os.close(descriptor)


def _take_away(folder: int, place: Place, seen: Seen) -> None:
    aside = old_name(place.name)
    try:
        move_to_free(folder, place.name, folder, aside)
    except CannotRename:
        os.unlink(place.name, dir_fd=folder)
        return
    if not _is(folder, aside, seen.status):
        _back_to_its_name(folder, aside, place)
        raise Stale(f"`{place.shown}` was replaced while it was deleted")
    try:
        os.unlink(aside, dir_fd=folder)
    except OSError:
        _back_to_its_name(folder, aside, place)
        raise


def _back_to_its_name(folder: int, aside: str, place: Place) -> None:
    """Put what was taken away back. Raises LeftAside where something stands there by now: that stays."""
    try:
        move_to_free(folder, aside, folder, place.name)
    except FileNotFoundError:
        return  # somebody took it from its odd name: it is theirs
    except FileExistsError:
        raise _left_aside(place, "deleted", [f"what was taken away lies beside it as `{aside}`"]) from None


def _put_where_nothing_is(
    source: int, name: str, folder: int, place: Place, status: os.stat_result, *, back: str
) -> None:
    """Move the file of this status to a place that is free, and nothing else, never overwriting anything. What came to
    be there instead goes where it was, under the name ``back``."""
    if not still_there(place.folder, folder):
        raise Stale("the folder is not where it was")
    try:
        move_to_free(source, name, folder, place.name)
    except FileExistsError:
        raise Stale(f"there is a `{place.shown}` now") from None
    except CannotRename:
        _link_where_nothing_is(source, name, folder, place)
        return
    if not _is(folder, place.name, status):
        try:
            move_to_free(folder, place.name, source, back)
        except FileNotFoundError:
            pass  # somebody took it away: it is theirs
        except FileExistsError:
            raise _left_aside(place, "moved", ["what another program put there stays there"]) from None
        left: list[str] = []
        if back.startswith(ASIDE) and _status(source, back) is not None:
            left.append(f"what another program put there lies beside it as `{back}`")
        if name != back:
            names = [each for each in _names(folder) if _is_file(folder, each, status)]
            left += [f"the new text lies as `{each}`" for each in names]
        if left:
            raise _left_aside(place, "moved" if name == back else "written", left)
        raise Stale("the file was replaced while it was moved")


def _link_where_nothing_is(source: int, name: str, folder: int, place: Place) -> None:
    """The same by the one way that never overwrites and that all systems have: a second name, then one name less."""
    try:
        os.link(name, place.name, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise Stale(f"there is a `{place.shown}` now") from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # Claimed by an empty file first, so that a file that appears meanwhile is met, not overwritten.
        try:
            os.close(os.open(place.name, _NEW, 0o600, dir_fd=folder))
        except FileExistsError:
            raise Stale(f"there is a `{place.shown}` now") from None
        try:
            os.replace(name, place.name, src_dir_fd=source, dst_dir_fd=folder)
        except OSError:
            os.unlink(place.name, dir_fd=folder)
            raise
        return
    ours = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
    try:
        if not os.path.samestat(os.stat(name, dir_fd=source, follow_symlinks=False), ours):
            raise Stale("the file was replaced while it was moved")
        os.unlink(name, dir_fd=source)
    except (Stale, OSError):
        os.unlink(place.name, dir_fd=folder)
        raise


def _is(folder: int, name: str, status: os.stat_result) -> bool:
    """Whether the file of this name is the one of this status, with what it held then. Renaming changes no more of it
    than the time of that."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return identity(now)[:-1] == identity(status)[:-1]


@contextmanager
def _temporary(
    folder: int, place: Place, data: bytes, seen: Seen | None, mode: int | None
) -> Iterator[tuple[str, str, os.stat_result]]:
    """A file beside the target that holds the new bytes, on disk; the name that it may be put aside under, and its
    status. Gone afterwards if it is still there under either."""
    name, aside = new_name(place.name), old_name(place.name)
    # A file that replaces another is shut to everybody else until it has that one's mode.
    descriptor = os.open(name, _NEW, 0o666 if seen is None else 0o600, dir_fd=folder)
    status = os.fstat(descriptor)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if seen is not None:
                _keep_nature(descriptor, seen.status)
            elif mode is not None:
                os.fchmod(descriptor, mode & 0o777)
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        yield name, aside, status
    finally:
        # Two who exchange things at one moment can leave another's file here; that is not ours to remove.
        for left in (name, aside):
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(left, dir_fd=folder, follow_symlinks=False), status):
                    os.unlink(left, dir_fd=folder)


def _keep_nature(descriptor: int, status: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
        # Only root may give files away; for anybody else the file becomes theirs, as with every editor.
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    # Without set-user-id and its like: writing to a file takes those away.
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o777)


def _flush(folder: int) -> None:
    """Make the new name durable. A file system that cannot has done what it can."""
    with suppress(OSError):
        # The held descriptor may be good for nothing but looking up names.
        descriptor = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
