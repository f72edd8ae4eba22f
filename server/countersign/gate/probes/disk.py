"""The gate's eyes: all that deciding looks at on the disk and in our environment. Nothing is changed, and nothing is
started but git (``git_process.py``).

While ``remembering``, each look is kept with what was seen, so that a decision can be taken again without being worked
out again, for as long as every look shows the same (``decisions/decision_cache.py``). No other module of the gate that
decides may look at the disk; a test of the house holds it. More than 500 lines, because all looks stand here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import re
import stat
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from countersign.gate.patterns import glob_segment
from countersign.gate.probes import git_process
from countersign.gate.probes.git_process import GitCommand, Kind
from countersign.settings.regular_file import open_regular, read_regular

A = TypeVar("A", bound=Hashable)
T = TypeVar("T")

MISSING = (errno.ENOENT, errno.ENOTDIR)
"""What ``standing`` gives where nothing stands."""

MOST_SEGMENTS = 2_048
"""How many segments a path may have by which a system opens a file: its `PATH_MAX` is 4,096 bytes at most."""


MOST_FOLDERS: Final = 100
MOST_NAMES: Final = 5_000
"""How many folders one pattern may list, and how many names it may be compared with or looked up as."""


class PathStat(NamedTuple):
    """What stands at a path: its kind (``stat.S_IFMT``), and how many names a thing other than a folder has."""

    kind: int
    names: int


class FileState(NamedTuple):
    """What git keeps of a file, to know whether it changed: when it and its inode were, in nanoseconds, the inode, the
    owner and the size, each in 32 bits as git has them."""

    written: int
    changed: int
    inode: int
    user: int
    group: int
    size: int


class Probe(NamedTuple):
    """One look: how to look again, at what, and what was seen."""

    again: Callable[[Any], object]
    at: Hashable
    seen: object


_Seen = dict[tuple[Callable[[Any], object], Hashable], Any]
_Open = tuple[list[Probe], _Seen]

_remembered = threading.local()


@contextlib.contextmanager
def record_probes() -> Iterator[list[Probe]]:
    """Keep every look of this thread, in the list that is yielded once the block ends. Inside of the block the same
    look is taken once: all of it sees one state."""
    before: _Open | None = getattr(_remembered, "open", None)
    probes: list[Probe] = []
    seen: _Seen = {}
    _remembered.open = probes, seen
    try:
        yield probes
    finally:
        _remembered.open = before
        probes += [Probe(look, at, found) for (look, at), found in seen.items()]
        if before is not None:
            before[0].extend(probes)


def unchanged(probes: Iterable[Probe]) -> bool:
    """Whether every one of these looks shows now what it showed then."""
    for again, at, seen in probes:  # noqa: SIM110 what most decisions cost is this loop
        if again(at) != seen:
            return False
    return True


def without_implied(probes: Iterable[Probe]) -> tuple[Probe, ...]:
    """The same looks without those that others among them answer: below a name that does not exist nothing does, and
    what stands at a folder's path, by its identity, is that folder."""
    taken = tuple(probes)
    gone = {at for look, at, seen in taken if look is _path_stat and seen == errno.ENOENT}
    folders = {
        at for look, at, seen in taken if look is _identity and isinstance(seen, tuple) and seen[2] == stat.S_IFDIR
    }

    def is_implied(probe: Probe) -> bool:
        if probe.again is not _path_stat or not isinstance(probe.at, str):
            return False
        if probe.seen == errno.ENOENT:
            return os.path.dirname(probe.at) in gone
        return probe.seen == _FOLDER and probe.at in folders

    return tuple([probe for probe in taken if not is_implied(probe)])


_FOLDER = PathStat(stat.S_IFDIR, 1)


def path_stat(path: str) -> PathStat | int:
    """What stands at a path, a link not followed; the error number where that cannot be said."""
    return _recorded(_path_stat, path)


def is_own(path: str) -> bool:
    """Whether what stands at a path, a link not followed, belongs to whom we run as."""
    return _recorded(_is_own, path)


def link_target(path: str) -> str | int:
    """Where a link leads; the error number where it cannot be read."""
    return _recorded(_link_target, path)


def is_link(path: str) -> bool:
    """Whether a symlink stands at a path."""
    found = path_stat(path)
    return not isinstance(found, int) and found.kind == stat.S_IFLNK


def identity(path: str) -> tuple[object, ...] | None:
    """What tells whether the same thing stands at a path, or None if nothing does. A link counts with its target."""
    return _recorded(_identity, path)


def object_at(path: str) -> tuple[int, int] | None:
    """Device and inode of what stands at a path, a link not followed; None if nothing does."""
    return _recorded(_object_at, path)


def links_in(folder: str) -> tuple[str, ...]:
    """The names of the symlinks in a folder, none where it cannot be listed."""
    return _recorded(_links_in, folder)


def combined(look: Callable[[A], T], at: A) -> T:
    """Take several looks as one: only what ``look`` returns for ``at`` is kept, and compared when it is taken again."""
    return _recorded(_Combined(look), at)


def is_there(path: str) -> bool:
    """Whether there is something, where links lead."""
    return _recorded(os.path.exists, path)


def is_folder(path: str) -> bool:
    """Whether there is a folder, where links lead."""
    return _recorded(os.path.isdir, path)


def can_run(path: str) -> bool:
    """Whether there is a program that we may run."""
    return _recorded(_can_run, path)


def can_write(path: str) -> bool:
    """Whether there is a folder in which we may make files, or a file that we may write."""
    return _recorded(_can_write, path)


def first_that_runs(name: str, folders: tuple[str, ...]) -> str | None:
    """The first of these folders that has a program of this name which we may run."""
    return _recorded(_first_that_runs, (name, folders))


def names_in(folder: str) -> tuple[str, ...]:
    """The names in a folder, none where it cannot be listed."""
    return _recorded(_names_in, folder)


def listing(folder: str) -> tuple[str, ...] | None:
    """The names in a folder, none where there is no folder; None where it cannot be listed."""
    return _recorded(_listing, folder)


def entries_in(folder: str) -> tuple[tuple[str, bool | None], ...] | None:
    """The names in a folder, each with whether it is a folder, None for a symlink; None where it cannot be listed."""
    return _recorded(_entries_in, folder)


def single_entries_in(folder: str) -> tuple[tuple[str, bool | None], ...] | None:
    """The same, and None as well for a file that has several names."""
    return _recorded(_single_entries_in, folder)


def time_and_size(path: str) -> tuple[int, int] | None:
    """When a file was last changed, in nanoseconds, and its size; None if the file does not exist."""
    return _recorded(_time_and_size, path)


def file_state(path: str) -> FileState | None:
    """What git would keep of a file; None if it does not exist."""
    return _recorded(_file_state, path)


def matching(pattern: str, folder: str, most: int) -> tuple[str, ...] | None:
    """What bash's pathname expansion may make of a pattern in a folder, sorted, as far as something matches it; None
    if that is more than ``most`` names, or takes more looks than ``MOST_FOLDERS`` and ``MOST_NAMES`` allow."""
    return _recorded(_matching, (pattern, folder, most))


def unusual_below(folder: str, most: int) -> tuple[tuple[str, bool], ...] | None:
    """The paths below a folder that are symlinks or hold characters which a shell splits or unquotes, each with whether
    it is a symlink; None if more than ``most`` names lie there. No link is followed, and no ``.git`` looked into."""
    return _recorded(_unusual_below, (folder, most))


def beginning(path: str, most: int) -> bytes | None:
    """The first bytes of an ordinary file, at most so many; None where there is none that can be read."""
    return _recorded(_beginning, (path, most))


def piece(path: str, start: int, length: int) -> bytes | None:
    """``length`` bytes of an ordinary file from ``start`` on, fewer at its end; None where no such file can be read."""
    return _recorded(_piece, (path, start, length))


def kinds_in_git(command: GitCommand, names: tuple[str, ...]) -> tuple[Kind, ...] | None:
    """What git finds under each of these names (``git_process.kinds_of``)."""
    return _recorded(git_process.kinds_of, (command, names))


def files_named_by_git(naming: GitCommand, written: GitCommand | None = None) -> frozenset[str] | None:
    """The files that a command of git's names (``git_process.files_named``)."""
    return _recorded(git_process.files_named, (naming, written))


def versions_named_by_git(command: GitCommand) -> frozenset[tuple[str, str]] | None:
    """The contents that a command of git's names, each with its file (``git_process.versions_named``)."""
    return _recorded(git_process.versions_named, command)


def files_listed_by_git(command: GitCommand) -> frozenset[str] | None:
    """The files that a command of git's lists (``git_process.files_listed``)."""
    return _recorded(git_process.files_listed, command)


def variable(name: str) -> str:
    """A variable of our own environment, empty where it is not set."""
    return _recorded(_variable, name)


@lru_cache(maxsize=1000)
def first_resolved(path: str) -> str:
    """The path with its links followed as they were at the first look. That look is not kept with decisions: for
    folders outside the workspace that every decision would look at, where nobody changes a link without a person."""
    return os.path.realpath(path)


def variables() -> tuple[tuple[str, str], ...]:
    """All variables of our own environment, sorted."""
    return _recorded(_variables, None)


def first_program(name: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """The way to the file that runs under this name from the first of these folders that has one: each symlink on it,
    and the file at its end; nothing if there is no such file."""
    return _recorded(_first_program, (name, folders))


def magic(path: str) -> bytes:
    """The first four bytes of a file, by which a system tells programs; none if it cannot be read."""
    return _recorded(_magic, path)


def holds_path(file: str, places: tuple[str, ...]) -> bool:
    """Whether a program names one of these places or something below it, as far as its first and last megabytes tell:
    where it names the folders of its libraries."""
    return _recorded(_holds_path, (file, places))


def way_to(path: str) -> tuple[str, ...]:
    """Each symlink on the way from a path, and the file at its end."""
    return _recorded(_way_to, path)


def resolved(path: str) -> str:
    """The path with its links followed; unchanged where it cannot be a path."""
    return _recorded(_resolved, path)


def home_of_person() -> str:
    """The home that the system knows of whoever runs this, wherever ``HOME`` leads; empty if it knows none."""
    return _recorded(_home_of_person, "")


def home_named(path: str) -> str:
    """``~name/x`` with that person's home in place, unchanged where nobody has the name."""
    return _recorded(os.path.expanduser, path)


# --- looking ---------------------------------------------------------------------------------------------------------


def _recorded(look: Callable[[Any], T], at: Any) -> T:
    opened: _Open | None = getattr(_remembered, "open", None)
    if opened is None:
        return look(at)
    key, seen = (look, at), opened[1]
    found = seen.get(key, _NOT_SEEN)
    if found is _NOT_SEEN:
        found = seen[key] = look(at)
    return found


_NOT_SEEN = object()


@dataclass(frozen=True, slots=True)
class _Combined(Generic[A, T]):
    """A look made of others, which are not kept by themselves."""

    look: Callable[[A], T]

    def __call__(self, at: A) -> T:
        before: _Open | None = getattr(_remembered, "open", None)
        _remembered.open = None
        try:
            return self.look(at)
        finally:
            _remembered.open = before


_KIND = 0o170000
"""The bits of a mode that ``stat.S_IFMT`` gives."""


def _path_stat(path: str) -> PathStat | int:
    try:
        found = os.lstat(path)
    except OSError as error:
        return error.errno or errno.EIO
    except ValueError:
        return errno.EINVAL
    kind = found.st_mode & _KIND
    return PathStat(kind, 1 if kind == stat.S_IFDIR else found.st_nlink)


def _is_own(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except (OSError, ValueError):
        return False


def _link_target(path: str) -> str | int:
    try:
        return os.readlink(path)
    except OSError as error:
        return error.errno or errno.EIO


def _object_at(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _links_in(folder: str) -> tuple[str, ...]:
    try:
        with os.scandir(folder) as entries:
            return tuple(sorted([entry.name for entry in entries if entry.is_symlink()]))
    except (OSError, ValueError):
        return ()


def _identity(path: str) -> tuple[object, ...] | None:
    try:
        found = os.lstat(path)
        # A link that was made anew may get the number of the old one.
        kind = found.st_mode & _KIND
        target = os.readlink(path) if kind == stat.S_IFLNK else None
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, kind, target


def _beginning(asked: tuple[str, int]) -> bytes | None:
    try:
        return read_regular(*asked)
    except (OSError, ValueError):
        return None


def _piece(asked: tuple[str, int, int]) -> bytes | None:
    path, start, length = asked
    try:
        with open_regular(path) as file:
            file.seek(start)
            return file.read(length)
    except (OSError, ValueError, OverflowError):
        return None


def _variable(name: str) -> str:
    return os.environ.get(name, "")


def _variables(_: None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(os.environ.items()))


def _way_to(path: str) -> tuple[str, ...]:
    way = [path]
    while len(way) <= _MOST_LINKS and isinstance(target := _link_target(way[-1]), str):
        there = os.path.join(os.path.dirname(way[-1]), target)
        way.append(os.path.join(_resolved(os.path.dirname(there)), os.path.basename(there)))
    return (*way, _resolved(path))


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL stands in it
        return path


_MOST_LINKS = 40


class Resolver:
    """``resolved`` for many paths in one look, which is not recorded: where a folder leads is found out once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        asked = path
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(path)
            if name in {"", ".", ".."}:
                break
            real = self._folders.get(folder)
            if real is None:
                real = self._folders[folder] = _resolved(folder)
            path = os.path.join(real, name)
            try:
                target = os.readlink(path)
            except (OSError, ValueError):
                return path
            path = os.path.join(real, target)
        return _resolved(asked)


def _home_of_person(_: str) -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _can_write(path: str) -> bool:
    return os.access(path, os.W_OK)


def _can_run(path: str) -> bool:
    return os.access(path, os.X_OK)


def _first_that_runs(asked: tuple[str, tuple[str, ...]]) -> str | None:
    name, folders = asked
    return next((folder for folder in folders if _runs(f"{folder}/{name}")), None)


def _first_program(asked: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    name, folders = asked
    for folder in folders:
        path = f"{folder}/{name}"
        try:
            if not os.access(path, os.X_OK):  # asked first: where nothing stands, `lstat` takes twice as long to say so
                continue
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode) and _first_bytes(path, *_version(found))[:2] != b"#!":
            return _way_to_file(path, *_version(found))
        if _runs(path):
            return _way_to(path)
    return ()


def _magic(path: str) -> bytes:
    try:
        return _first_bytes(path, *_version(os.stat(path)))
    except (OSError, ValueError):
        return b""


def _holds_path(asked: tuple[str, tuple[str, ...]]) -> bool:
    file, places = asked
    try:
        return _places_held(file, places, *_version(os.stat(file)))
    except (OSError, ValueError):
        return True


@lru_cache(maxsize=1000)
def _places_held(file: str, places: tuple[str, ...], *identity: int) -> bool:
    named = re.compile(rb"(?<![\w.+/-])(?:%s)(?![\w.+-])" % b"|".join(re.escape(os.fsencode(each)) for each in places))
    with open(file, "rb") as opened:
        if named.search(opened.read(_MOST_OF_PROGRAM)):
            return True
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - _MOST_OF_PROGRAM))
        return named.search(opened.read(_MOST_OF_PROGRAM)) is not None


_MOST_OF_PROGRAM = 8_000_000


def _version(found: os.stat_result) -> tuple[int, ...]:
    """What changes as soon as a path leads to another file, or to another content."""
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(maxsize=1000)
def _first_bytes(path: str, *identity: int) -> bytes:
    return _beginning((path, 4)) or b""


@lru_cache(maxsize=1000)
def _way_to_file(path: str, *identity: int) -> tuple[str, ...]:
    """The same of a file that is no link. Kept for as long as it is this file."""
    return _way_to(path)


def _runs(path: str) -> bool:
    """Whether it is a program. Behind one that lacks its interpreter, ``execvp`` tries the next of the name; a relative
    one may be there where it runs."""
    if not (os.access(path, os.X_OK) and os.path.isfile(path)):
        return False
    script = _INTERPRETER.match(_beginning((path, _MOST_INTERPRETER)) or b"")
    return script is None or not script[1].startswith(b"/") or os.path.exists(script[1])


_INTERPRETER = re.compile(rb"#![ \t]*([^ \t\n\0]+)")
_MOST_INTERPRETER = 256


def _names_in(folder: str) -> tuple[str, ...]:
    return _listing(folder) or ()


def _listing(folder: str) -> tuple[str, ...] | None:
    try:
        return tuple(sorted(os.listdir(folder)))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError):
        return None


def _entries_in(folder: str) -> tuple[tuple[str, bool | None], ...] | None:
    try:
        with os.scandir(folder) as entries:
            return tuple([(entry.name, None if entry.is_symlink() else entry.is_dir()) for entry in entries])
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError):
        return None


def _single_entries_in(folder: str) -> tuple[tuple[str, bool | None], ...] | None:
    try:
        with os.scandir(folder) as entries:
            found = [(entry, entry.is_dir(follow_symlinks=False)) for entry in entries]
            return tuple([(each.name, is_folder or (None if _is_shared(each) else False)) for each, is_folder in found])
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError):
        return None


def _is_shared(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.stat(follow_symlinks=False).st_nlink > 1


def _time_and_size(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def _file_state(path: str) -> FileState | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    numbers = (found.st_ino, found.st_uid, found.st_gid, found.st_size)
    return FileState(found.st_mtime_ns, found.st_ctime_ns, *[number & 0xFFFFFFFF for number in numbers])


SPLITTING = re.compile(r"[\s'\"\\*?\[]")
"""What makes a shell take a name for another, or for several; xargs knows no patterns."""


def _unusual_below(asked: tuple[str, int]) -> tuple[tuple[str, bool], ...] | None:
    folder, most = asked
    found: list[tuple[str, bool]] = []
    ahead = [""]
    while ahead:
        front = ahead.pop()
        try:
            with os.scandir(os.path.join(folder, front)) as entries:
                for entry in entries:
                    most -= 1
                    path = f"{front}{entry.name}"
                    if entry.is_symlink():
                        found.append((path, True))
                    elif entry.is_dir(follow_symlinks=False):
                        if entry.name != ".git":
                            ahead.append(f"{path}/")
                    elif SPLITTING.search(path):
                        found.append((path, False))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except (OSError, ValueError):
            return None  # it may be read by another path
        if most < 0:
            return None
    return tuple(sorted(found))


def _matching(asked: tuple[str, str, int]) -> tuple[str, ...] | None:
    pattern, folder, most = asked
    segments = pattern.split("/")
    found = [""]
    try:
        probes = _Looks(folder, MOST_FOLDERS, MOST_NAMES)
        for index, text in enumerate(segments):
            last = index == len(segments) - 1
            slash = "" if last else "/"
            segment = glob_segment(text)
            if segment.literal == "":
                found = [f"{front}{slash}" for front in found if not last or probes.is_folder(front)]
            elif segment.literal is not None:
                paths = [f"{front}{segment.literal}" for front in found]
                found = [f"{path}{slash}" for path in paths if probes.is_there(path)]
            else:
                found = [
                    f"{front}{name}{slash}"
                    for front in found
                    for name, is_folder in probes.names(front)
                    if segment.may_match(name) and (last or is_folder())
                ]
            if last and len(found) > most:
                return None
    except (_TooMuchError, ValueError):
        return None
    return tuple(sorted(found))


def _yes() -> bool:
    return True


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself, say
        return False


class _TooMuchError(Exception):
    """A pattern would take more looks than are allowed."""


class _Looks:
    """The looks that one pattern takes, counted."""

    def __init__(self, folder: str, folders: int, names: int) -> None:
        self._folder, self._folders, self._names = folder, folders, names

    def names(self, path: str) -> Iterator[tuple[str, Callable[[], bool]]]:
        """The names in a folder, none if it cannot be listed, each with whether it is a folder. ``.`` and ``..`` are
        among them, as in bash before 5.2."""
        self._folders -= 1
        if self._folders < 0:
            raise _TooMuchError
        try:
            with os.scandir(self._at(path) or ".") as entries:
                yield from ((".", _yes), ("..", _yes))
                for entry in entries:
                    self._count()
                    yield entry.name, partial(_leads_to_folder, entry)
        except OSError:
            return

    def is_there(self, path: str) -> bool:
        self._count()
        return os.path.lexists(self._at(path))

    def is_folder(self, path: str) -> bool:
        self._count()
        return os.path.isdir(self._at(path))

    def _at(self, path: str) -> str:
        return os.path.join(self._folder, path)

    def _count(self) -> None:
        self._names -= 1
        if self._names < 0:
            raise _TooMuchError
