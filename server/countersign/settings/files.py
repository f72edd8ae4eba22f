"""Settings files on disk: reading one honestly, noticing that it changed, writing one whole or not at all.

A file is there, is missing, or cannot be read, and the three are never confused: what cannot be read is not empty.
What the text means is ``jsonc.py`` and ``tree.py``'s business.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from countersign.settings.edit import EditRefused
from countersign.settings.edit_leftovers import name_of_edit
from countersign.settings.jsonc import BrokenJson, Document, decode_jsonc, parse_jsonc
from countersign.settings.links import Links, leads_nowhere, links_to
from countersign.settings.policy import Problem
from countersign.settings.regular_file import NotRegular, open_regular
from countersign.settings.rename import CannotRename, exchange
from countersign.settings.temporary_names import new_name
from countersign.settings.tree import Tree

MAX_BYTES = 1024 * 1024
"""The largest settings file that is read; a hostile repository must not fill our memory."""

UNSETTLED = 50_000_000
"""Nanoseconds after a change in which another one may bear the same time; what is read then is read once more."""

Signature = tuple[object, ...] | None
"""What changes when a file does, or a symlink on the way to it; None for one that is not there."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was found: ``tree`` if it could be read, ``problem`` if not, neither if there is no file.

    ``administered`` says that only the administrator can have written it (meant for the managed file). ``unopened``
    says that its bytes could not be had, so that nothing is known of them; it is looked at anew every time.
    ``broken_text`` is the text of a file that is not JSON.
    """

    path: str
    signature: Signature = None
    tree: Tree | None = None
    problem: Problem | None = None
    administered: bool = False
    unopened: bool = False
    links: Links = ()
    broken_text: str = ""

    def unless_lost(self, before: Loaded | None) -> Loaded:
        """Itself; broken where it held settings before, was reached through a symlink, and is gone now. Who removes the
        target of a symlink need not be allowed to edit the settings."""
        held = before is not None and (before.problem or (before.tree and before.tree.root.value))
        if not held or self.tree is not None or self.problem is not None or not (before and before.links):
            return self
        words = (
            "is gone though it held settings and was reached through a symlink; create it again if that was intended"
        )
        return replace(self, problem=Problem(self.path, 1, 1, words, "error"))

    def unless_emptied(self, before: Loaded | None) -> Loaded:
        """Itself; broken where it holds nothing now and held settings before.

        An editor or a full disk leaves a file empty for a moment or for good; its deny rules must not go with that.
        """
        held = before is not None and (before.problem or (before.tree and before.tree.root.value))
        if not held or self.tree is None or self.tree.document.root is not None:
            return self
        words = "is empty though it held settings; write `{}` into it if that was intended"
        return replace(self, tree=None, problem=Problem(self.path, 1, 1, words, "error"))


def load_file(path: str | Path, tree_of: Callable[[Document], Tree]) -> Loaded:
    """Read a settings file, following links. Never raises and never waits on a pipe or device."""
    name, signature = str(path), signature_of(path)
    if signature and isinstance(signature[0], int) and 0 <= time.time_ns() - signature[0] < UNSETTLED:
        signature = (*signature, -1)
    return replace(_loaded(name, signature, tree_of), links=links_to(name))


def _loaded(name: str, signature: Signature, tree_of: Callable[[Document], Tree]) -> Loaded:
    text = ""
    try:
        data, administered = _bytes_of(name)
        text = decode_jsonc(data)
        document = parse_jsonc(text)
        if document.root is not None and not isinstance(document.root.value, dict):
            line, column = document.position(document.root.start)
            return _broken(name, signature, "the file does not hold an object", line, column)
        return Loaded(name, signature, tree_of(document), administered=administered)
    except (FileNotFoundError, NotADirectoryError):
        if leads_nowhere(links_to(name)):
            return _broken(name, signature, "a symlink on the way to it leads nowhere")
        return Loaded(name, signature)
    except BrokenJson as error:
        return replace(_broken(name, signature, error.message, error.line, error.column), broken_text=text)
    except OSError as error:
        unsettled = (*signature, -1) if signature else None
        return replace(_broken(name, unsettled, error.strerror or str(error)), unopened=True)
    except (ValueError, EditRefused) as error:
        return _broken(name, signature, str(error))


def signature_of(path: str | Path) -> Signature:
    """Cheap to ask every second; links are followed, and are part of it."""
    links = links_to(path)
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return ("", links) if links else None
    return (
        info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino, info.st_dev, info.st_mode, info.st_uid, links,
    )  # fmt: skip


def read_text(path: str | Path) -> str:
    """Return a regular file's text; never waits on a pipe or device.

    Raises:
        EditRefused: it is no regular file, or too large. OSError: it cannot be read. ValueError: it is no UTF-8 text.
    """
    return _read(str(path))[0].decode("utf-8")


def managed_file() -> Path:
    """Where an administrator lays down settings for everybody on this machine."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/Countersign/settings.json")
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"), "Countersign", "settings.json")
    return Path("/etc/countersign/settings.json")


def edit_file(
    path: str | Path, change: Callable[[str], str], *, new_mode: int = 0o666, held_settings: bool = False
) -> None:
    """Replace a file's text by ``change(text)``, whole or not at all; a missing file and its folder are made.

    Links are followed, the mode stays (a new file gets ``new_mode`` less the umask), and nothing is written when the
    file changed since it was read. With ``held_settings`` an empty or missing file is refused: another program
    truncated it and is about to write, or replaces it.

    Raises:
        EditRefused: it cannot be read or written, or ``change`` refused; the file is as it was.
    """
    try:
        target = _target_of(path)
        before, text = _text_to_edit(target, held_settings=held_settings)
        after = change(text).encode("utf-8")
        if after != before:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _replace(target, before, after, new_mode)
    except BrokenJson as error:
        raise EditRefused(f"the settings file cannot be read: {error.message}") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror or "it cannot be written") if isinstance(error, OSError) else "it is not text"
        raise EditRefused(f"the settings file was left as it is: {reason.lower()}") from error


def planned_edit(path: str, change: Callable[[str], str], *, held_settings: bool = False) -> tuple[str, str]:
    """Return the file's text and the text that ``edit_file`` would put in its place; write nothing.

    Raises:
        EditRefused: it cannot be read or written, or ``change`` refused.
    """
    try:
        _, text = _text_to_edit(_target_of(path), held_settings=held_settings)
        return text, change(text)
    except BrokenJson as error:
        raise EditRefused(f"the settings file cannot be read: {error.message}") from None
    except OSError as error:
        raise EditRefused(
            f"the settings file cannot be read: {(error.strerror or 'no reason given').lower()}"
        ) from error


def _text_to_edit(target: str, *, held_settings: bool) -> tuple[bytes | None, str]:
    try:
        before, _ = _read(target, check_writable=True)
    except FileNotFoundError:
        before = None
    text = decode_jsonc(before or b"")
    if held_settings and not text.removeprefix("\ufeff").strip():
        raise EditRefused(
            "the settings file is empty, though it held settings; write `{}` into it if that was intended"
        )
    return before, text


def set_aside(path: Path) -> Path:
    """Keep a corrupt store under ``NAME.corrupt-<UTC time>`` and clear its place."""
    aside = free_name(path, "corrupt")
    os.rename(path, aside)
    return aside


def set_aside_database(path: Path) -> Path:
    """Keep a corrupt SQLite database under ``NAME.corrupt-<UTC time>``, its log and index beside it.

    They go first: SQLite would replay a log that is left behind into the new database of that name.
    """
    aside = free_name(path, "corrupt")
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    os.rename(path, aside)
    return aside


def free_name(path: Path, what: str) -> Path:
    """Return a name beside ``path`` that nothing has: ``NAME.<what>-<UTC time>``, numbered if that is taken."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}.{what}-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{what}-{stamp}-{number}")
    return aside


def _broken(path: str, signature: Signature, message: str, line: int = 1, column: int = 1) -> Loaded:
    return Loaded(path, signature, problem=Problem(path, line, column, f"cannot be read: {message}", "error"))


def _bytes_of(path: str) -> tuple[bytes, bool]:
    """A regular file's bytes, and whether only the administrator can have written them."""
    data, info = _read(path)
    return data, _is_administered(info, path)


def _read(path: str, *, check_writable: bool = False) -> tuple[bytes, os.stat_result]:
    """A regular file's bytes and status."""
    try:
        opened = open_regular(path)
    except NotRegular:
        raise EditRefused("it is not a regular file") from None
    with opened as file, io.BufferedReader(file) as buffered:
        info = os.fstat(file.fileno())
        if check_writable and not (info.st_mode & 0o222 and os.access(path, os.W_OK)):
            raise EditRefused("the settings file is read-only")
        data = buffered.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise EditRefused(f"it is larger than {MAX_BYTES} bytes")
        return data, info


def _is_administered(info: os.stat_result, path: str) -> bool:
    """Owned by the administrator and writable by nobody else, and so is every folder above.

    A sticky folder lets nobody else replace what the administrator owns. On Windows owners cannot be told this way,
    so the answer is no.
    """
    if sys.platform == "win32":
        return False

    def is_safe(found: os.stat_result) -> bool:
        sticky_folder = stat.S_ISDIR(found.st_mode) and bool(found.st_mode & stat.S_ISVTX)
        return found.st_uid == 0 and (not found.st_mode & 0o022 or sticky_folder)

    try:
        ways = (os.path.realpath(path), os.path.abspath(path), *(link for link, _ in links_to(path)))
        folders = {folder for way in ways for folder in Path(way).parents}
        return is_safe(info) and all(is_safe(os.stat(folder)) for folder in folders)
    except OSError:
        return False


def _target_of(path: str | Path) -> str:
    """Where the path leads. What cannot be looked at is an error, because a link that is not seen would be replaced."""
    try:
        return os.path.realpath(path, strict=True)
    except FileNotFoundError:
        return os.path.realpath(path)


def _replace(target: str, before: bytes | None, after: bytes, new_mode: int) -> None:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, new_name(name))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, new_mode if before is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            if before is not None:
                _take_over_mode(file.fileno(), target)
            file.flush()
            os.fsync(file.fileno())
        if before is None:
            _put_in_empty_place(temporary, target)
        else:
            # From here on it may come to hold what somebody else wrote.
            aside = os.path.join(folder, name_of_edit(name, before, after))
            os.rename(temporary, aside)
            _put_in_place_of(before, after, aside, target)
    finally:
        with contextlib.suppress(OSError):  # it is in place under another name, or the next start removes it
            os.unlink(temporary)
    _sync_folder(folder)


def _put_in_place_of(before: bytes, after: bytes, aside: str, target: str) -> None:
    """Exchange the two names and look at what came back: a writer that held the file open, or replaced it, in the last
    moment loses nothing. Where the system cannot exchange names, look first and then replace."""
    try:
        if _read(target)[0] != before:
            raise EditRefused("the settings file changed meanwhile, try again")
        folder = os.open(os.path.dirname(target), os.O_RDONLY)
        try:
            _exchange(folder, before, aside, target)
        finally:
            with contextlib.suppress(OSError):  # only read from
                os.close(folder)
    finally:
        # What is neither text of this edit is somebody's, and perhaps the only copy of it.
        with contextlib.suppress(OSError, EditRefused):  # an old text that stays behind undoes nothing
            if _read(aside)[0] in (before, after):
                os.unlink(aside)


def _exchange(folder: int, before: bytes, aside: str, target: str) -> None:
    names = (os.path.basename(aside), os.path.basename(target))
    try:
        exchange(folder, *names)
    except CannotRename:
        os.replace(aside, target)
        return
    try:
        came_back = _read(aside)[0] == before
    except BaseException:
        exchange(folder, *names)
        raise
    if not came_back:
        exchange(folder, *names)
        raise EditRefused("the settings file changed meanwhile, try again")


def _put_in_empty_place(temporary: str, target: str) -> None:
    """Unlike a rename, a link never replaces a file that somebody made meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise EditRefused("the settings file was made meanwhile, try again") from None
    except OSError:
        # This file system knows no hard links; the moment between looking and renaming is the best there is.
        if os.path.lexists(target):
            raise
        os.rename(temporary, target)


def _take_over_mode(descriptor: int, original: str) -> None:
    if not hasattr(os, "fchmod"):
        return
    info = os.stat(original)
    with contextlib.suppress(PermissionError):  # only the administrator may give files away; the mode matters more
        os.fchown(descriptor, info.st_uid, info.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(info.st_mode))


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # not every system can sync a folder, and the file itself is on disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
