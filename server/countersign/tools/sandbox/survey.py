"""A look at the folders of a sandbox: which files and folders in them are hidden, and which cannot be changed.

The gate's own judge says so of each path, as it does when a tool is to read or write it; a path that no rule could
speak of is passed over by its name. Bounded: folders that are too large to look at are not shown in a sandbox at all.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from countersign.gate import (
    KEPT_BY_GIT,
    PROTECTED_IN_HOME,
    SECRET_IN_HOME,
    PathJudge,
    RuleSet,
    is_package_binary,
    protected_names,
    protected_reason,
    secret_name,
)
from countersign.tools.sandbox.boundary import SandboxRoot
from countersign.tools.sandbox.git_folders import blocking_git_locks, blocking_links_out, is_bare, obeyed_in

MOST_ENTRIES = 400_000
"""Names that one look takes in."""
_PROBES = ("countersign-probe", ".countersign-probe.probe")
"""Names of nothing: a rule that speaks of both below a folder speaks of whatever is made there."""

READ_AT_EVERY_RUN = frozenset({
    ".gitmodules", ".mise.local.toml", ".mise.toml", ".npmrc", ".yarnrc", ".yarnrc.yml", "mise.local.toml", "mise.toml",
})  # fmt: skip
"""Protected files that git and package managers read whenever they run, and that complain of a folder. Where one is
missing, an empty file stands in for it that git does not take up; for any other protected name, an empty folder."""


class TooLarge(Exception):
    """The folders hold more names than one look takes in."""


@dataclass(slots=True)
class _Found:
    hidden_files: list[str] = field(default_factory=list)
    hidden_folders: list[str] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)
    missing_folders: list[str] = field(default_factory=list)
    missing_files: list[tuple[str, str]] = field(default_factory=list)
    blank_files: list[str] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


class Survey:
    """Looks at the folders of one sandbox. A class because hard links are found over all of them, and because what is
    asked of each path is worked out once."""

    def __init__(self, judge: PathJudge, rules: RuleSet, workspace: str, home: str, most: int | None = None) -> None:
        self._most = MOST_ENTRIES if most is None else most
        self._judge = judge
        self._cwd = workspace
        self._reads_ruled = rules.limits("Read")
        self._edits_ruled = self._reads_ruled or rules.limits("Edit")
        self._secrets = _at_home(home, SECRET_IN_HOME)
        self._protected = _at_home(home, PROTECTED_IN_HOME)
        self._linked: dict[tuple[int, int], list[str]] = {}
        self._locked: set[tuple[int, int]] = set()
        self._roots: tuple[str, ...] = ()
        self._seen = 0

    def blocking_roots(
        self, writable: Sequence[str], own: Sequence[str], control: Sequence[str]
    ) -> tuple[SandboxRoot, ...]:
        """What to hide and lock below these resolved folders, none of which holds another.

        ``own`` paths are hidden, ``control`` paths cannot be changed.

        Raises:
            TooLarge: they hold too much.
            OSError: one of them cannot be looked at.
        """
        found = {path: _Found() for path in writable}
        self._roots = tuple(writable)
        for path, into in found.items():
            if all(self._hides(os.path.join(path, name)) for name in _PROBES):
                self._hide_all(path, into)
                continue
            self._walk(path, (), into, in_read_only=False)
            self._keep_unmade(path, into)
        hidden = {identity for into in found.values() for file in into.hidden_files if (identity := _identity(file))}
        further = [name for identity in hidden for name in self._linked.get(identity, ())]
        hidden_names = {name for into in found.values() for name in into.hidden_files}
        locked = [name for identity in self._locked for name in self._linked.get(identity, ())]
        for path, into in found.items():
            into.hidden_files += [name for name in further if lies_below(name, path)]
            into.read_only += [name for name in locked if lies_below(name, path) and name not in hidden_names]
            for place in own:
                if lies_below(place, path) and os.path.lexists(place):
                    (into.hidden_folders if os.path.isdir(place) else into.hidden_files).append(place)
            into.read_only += [place for place in control if os.path.lexists(place)]
        return tuple(_root(path, into) for path, into in found.items())

    def _keep_unmade(self, folder: str, found: _Found) -> None:
        """Let something stand in for each protected name that is missing at the top of a folder. (What is protected
        further down, or by two names, is moved away when the command has ended.)"""
        for name in protected_names():
            path = os.path.join(folder, name)
            if os.path.lexists(path):
                continue
            if name in READ_AT_EVERY_RUN:
                found.missing_files.append((path, ""))
                found.blank_files.append(path)
            else:
                found.missing_folders.append(path)

    def _hide_all(self, folder: str, found: _Found) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                target = os.path.realpath(entry.path)
                if entry.is_dir():
                    self._hide_folder(target, found)
                else:
                    found.hidden_files.append(target)

    def _walk(self, folder: str, below: tuple[str, ...], found: _Found, *, in_read_only: bool) -> None:
        listed = self._listed(folder)
        names = [entry.name for entry in listed]
        if is_bare(names):
            found.protected += [os.path.join(folder, name) for name in obeyed_in(names)]
            self._repository(folder, found)
        for entry in listed:
            place = (*below, entry.name)
            if is_protected(place):
                found.protected.append(entry.path)
            if entry.is_symlink():
                self._link(entry.path, found)
            elif entry.is_dir():
                self._folder(entry.path, place, found, in_read_only=in_read_only)
            else:
                self._file(entry, place, found, in_read_only=in_read_only)

    def _link(self, path: str, found: _Found) -> None:
        """What is hidden under the name of a link is hidden where it stands."""
        if self._may_be_secret(path) and self._hides(path):
            target = os.path.realpath(path)
            if any(lies_below(target, hidden) for hidden in found.hidden_folders):
                return
            if os.path.isdir(target):
                self._hide_folder(target, found)
            elif os.path.exists(target):
                found.hidden_files.append(target)

    def _file(self, entry: os.DirEntry[str], place: tuple[str, ...], found: _Found, *, in_read_only: bool) -> None:
        status = entry.stat(follow_symlinks=False)
        if status.st_nlink > 1:
            self._linked.setdefault((status.st_dev, status.st_ino), []).append(entry.path)
        if self._may_be_secret(entry.path) and self._hides(entry.path):
            found.hidden_files.append(entry.path)
            return
        locked = in_read_only or is_protected(place) or entry.path.lower() in self._protected
        if locked or (self._edits_ruled and self._locks(entry.path)):
            if status.st_nlink > 1:
                self._locked.add((status.st_dev, status.st_ino))
            if not in_read_only:
                found.read_only.append(entry.path)

    def _folder(self, path: str, place: tuple[str, ...], found: _Found, *, in_read_only: bool) -> None:
        below = [os.path.join(path, name) for name in _PROBES]
        if self._may_be_secret(path) and all(map(self._hides, below)):
            self._hide_folder(path, found)
            return
        if place[-1] == ".git":
            self._repository(path, found)
            return
        locked = in_read_only or is_protected(place) or path.lower() in self._protected
        locked = locked or (self._edits_ruled and all(map(self._locks, below)))
        if locked and not in_read_only:
            found.read_only.append(path)
        self._walk(path, place, found, in_read_only=locked)

    def _hide_folder(self, path: str, found: _Found) -> None:
        """Hide a folder, and what symlinks in it lead to, since that has another name."""
        if path in found.hidden_folders:
            return
        found.hidden_folders.append(path)
        if any(lies_below(path, root) for root in self._roots):
            self._hide_links(path, found)

    def _hide_links(self, folder: str, found: _Found) -> None:
        try:
            listed = self._listed(folder)
        except PermissionError:
            return  # a command cannot follow a link in it either
        for entry in listed:
            if entry.is_symlink():
                self._link(entry.path, found)
            elif entry.is_dir(follow_symlinks=False):
                self._hide_links(entry.path, found)

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            listed = list(entries)
        self._seen += len(listed)
        if self._seen > self._most:
            raise TooLarge(f"the folders of the sandbox hold more than {self._most} files")
        return listed

    def _repository(self, folder: str, found: _Found) -> None:
        """Lock what git obeys in its folder."""
        locks = blocking_git_locks(folder)
        found.read_only += locks.read_only
        found.missing_folders += locks.missing_folders
        found.missing_files += locks.missing_files
        found.closed += locks.closed
        found.open += locks.open
        found.protected += blocking_links_out(folder)
        self._lock_links(locks.read_only)

    def _lock_links(self, paths: Sequence[str]) -> None:
        """Remember the files at and in these locked paths that have further names."""
        for path in paths:
            if not os.path.isdir(path):
                self._lock_link(path)
            for folder, _names, files in os.walk(path):
                self._seen += len(files)
                for name in files:
                    self._lock_link(os.path.join(folder, name))

    def _lock_link(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # a link that leads nowhere
            status = os.stat(path)
            if status.st_nlink > 1:
                self._locked.add((status.st_dev, status.st_ino))

    def _may_be_secret(self, path: str) -> bool:
        return self._reads_ruled or secret_name(os.path.basename(path)) is not None or path.lower() in self._secrets

    def _hides(self, path: str) -> bool:
        """Whether reading it is denied or asks, and no rule allows it. What git keeps of files stays, or it fails."""
        finding = self._judge.judge_read(path, cwd=self._cwd)
        asks = finding.requires_ask is not None and finding.allow is None
        if asks and self._judge.is_secret(path, cwd=self._cwd) == KEPT_BY_GIT:
            asks = False
        return bool(finding.floors) or finding.deny is not None or finding.ask is not None or asks

    def _locks(self, path: str) -> bool:
        """Whether a rule denies writing it or asks first."""
        finding = self._judge.judge_write(path, cwd=self._cwd)
        return finding.deny is not None or finding.ask is not None


def protected_below(root: str) -> Iterator[str]:
    """Every protected path below this folder, the highest of each; nothing that lies in packages."""
    ahead: list[tuple[str, tuple[str, ...]]] = [(root, ())]
    while ahead:
        folder, below = ahead.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue
        names = [entry.name for entry in listed]
        obeyed = obeyed_in(names) if is_bare(names) else ()
        for entry in listed:
            place = (*below, entry.name)
            if is_protected(place) or entry.name in obeyed:
                yield entry.path
            elif entry.is_dir(follow_symlinks=False) and entry.name not in ("node_modules", "site-packages"):
                ahead.append((entry.path, place))


def is_protected(place: Sequence[str]) -> bool:
    """Whether a path of these segments cannot be changed in the sandbox. Package managers make and change their
    folders of programs: those stay writable, since what stands there runs in the sandbox too."""
    return protected_reason(place) is not None and not is_package_binary(place)


def lies_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _root(path: str, found: _Found) -> SandboxRoot:
    def below(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in names if lies_below(name, path)))

    return SandboxRoot(
        path,
        hidden_files=below(found.hidden_files),
        hidden_folders=below(found.hidden_folders),
        read_only=below(found.read_only),
        missing_folders=below(found.missing_folders),
        missing_files=tuple(found.missing_files),
        blank_files=tuple(found.blank_files),
        protected=tuple(found.protected),
        closed=tuple(found.closed),
        open=tuple(found.open),
    )


def _at_home(home: str, names: Mapping[tuple[str, ...], str]) -> frozenset[str]:
    return frozenset(os.path.join(home, *parts).lower() for parts in names)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
