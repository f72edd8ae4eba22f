"""The files of a workspace that git would track, and those that steer an agent, with what they hold.

By reading alone: git is not run, because a repository can give it filters and hooks. Ignored folders are not entered.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pathspec

from countersign.settings.regular_file import open_regular, read_regular

MOST_FILES = 50_000
"""Files that are compared; in a larger workspace only the watcher sees changes of the others."""
MOST_READ = 64 << 20
"""Bytes that one comparison reads; the remaining files are compared by size and times alone."""
LARGEST = 4 << 20
_MOST_IGNORED = 1 << 20
"""Bytes of one `.gitignore`."""
STEERING = tuple(
    ".git/hooks .git/config .git/config.worktree .git/commondir .git/info/attributes .vscode .claude .gemini .qwen "
    ".codex .agents .opencode .cline .clinerules .copilot .github/hooks "
    ".mcp.json opencode.json AGENTS.md CLAUDE.md".split()
)
"""Paths that are looked at although they are ignored: what lies there steers agents, editors or git."""
PLACEHOLDERS = (".git", ".codex", ".agents")
"""Names at the top of a workspace where Codex's own sandbox puts an empty file or folder for as long as a command runs,
so that the command cannot put something there. An empty file there is read as if it were missing; one that stays is
told of by ``blocking_placeholders``, because git finds no repository behind an empty `.git`."""


class Content(NamedTuple):
    """One file as it was. ``digest`` is empty where it was not read."""

    stamp: tuple[int, ...]
    digest: bytes


class TrackedFiles:
    """Reads a workspace and remembers what it held. A class because a file that has the same stamp is not read again.
    All of it reads disk; one thread at a time may use it."""

    def __init__(self, workspace: str) -> None:
        self.workspace = os.path.realpath(workspace)
        self._specs: dict[str, pathspec.GitIgnoreSpec | None] = {}
        self._known: dict[str, Content] = {}

    def blocking_scan(self) -> list[str]:
        """Return the absolute paths of files that are new, gone or changed since the last scan; all, at the first."""
        self._specs.clear()
        budget = MOST_READ
        found: dict[str, Content] = {}
        changed: list[str] = []
        for path in self._walk():
            if len(found) >= MOST_FILES:
                break
            known = self._known.get(path)
            stamp = self._stamp(path)
            if stamp is None or stat.S_ISDIR(stamp[-1]):
                continue
            if known is not None and known.stamp == stamp:
                found[path] = known
                continue
            digest = b""
            if stamp[2] <= min(LARGEST, budget):
                digest = _digest(path)
                budget -= stamp[2]
            found[path] = Content(stamp, digest)
            if known is None or not digest or known.digest != digest:
                changed.append(path)
        changed += [path for path in self._known if path not in found]
        self._known = found
        return changed

    def blocking_changed(self, paths: Iterable[str]) -> list[str]:
        """Return which of these files are relevant and hold something else than was known; they are known then."""
        changed: list[str] = []
        for path in paths:
            stamp = self._stamp(path)
            folder = stamp is not None and stat.S_ISDIR(stamp[-1])
            if not folder and not self._is_relevant(path):
                continue
            known = self._known.get(path)
            if stamp is None or folder:
                if self._known.pop(path, None) is not None:
                    changed.append(path)
                continue
            digest = _digest(path) if stamp[2] <= LARGEST else b""
            self._known[path] = Content(stamp, digest)
            if known is None or known.digest != digest or (not digest and known.stamp != stamp):
                changed.append(path)
        return changed

    def blocking_placeholders(self) -> frozenset[str]:
        """Return the absolute paths of the empty files that are read as if they were missing."""
        paths = (os.path.join(self.workspace, name) for name in PLACEHOLDERS)
        return frozenset(path for path in paths if os.path.lexists(path) and self._stamp(path) is None)

    def _walk(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.workspace):
            for each in list(folders):
                path = os.path.join(folder, each)
                if os.path.islink(path):
                    folders.remove(each)
                    names.append(each)
                elif each == ".git" or (self._is_ignored(path, folder=True) and not self._leads_to_steering(path)):
                    folders.remove(each)
            for each in names:
                path = os.path.join(folder, each)
                if self._steers(path) or not self._is_ignored(path, folder=False):
                    yield path
        for name in (each for each in STEERING if each.startswith(".git/")):
            path = os.path.join(self.workspace, name)
            if os.path.islink(path) or os.path.isfile(path):
                yield path
            for folder, folders, names in os.walk(path):
                links = [each for each in folders if os.path.islink(os.path.join(folder, each))]
                yield from (os.path.join(folder, each) for each in (*names, *links))
                if os.path.islink(path):
                    break  # it may lead anywhere

    def _is_relevant(self, path: str) -> bool:
        return self._steers(path) or not (f"{os.sep}.git{os.sep}" in path or self._is_ignored(path, folder=False))

    def _stamp(self, path: str) -> tuple[int, ...] | None:
        """What distinguishes the file from what it was, its mode last; None where it is missing or a placeholder."""
        try:
            state = os.lstat(path)
        except (OSError, ValueError):
            return None
        if not state.st_size and stat.S_ISREG(state.st_mode) and self._is_placeholder(path):
            return None
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_mode

    def _is_placeholder(self, path: str) -> bool:
        folder, name = os.path.split(path)
        return name in PLACEHOLDERS and folder == self.workspace

    def _steers(self, path: str) -> bool:
        below = os.path.relpath(path, self.workspace)
        return any(below == name or below.startswith(f"{name}/") for name in STEERING)

    def _leads_to_steering(self, folder: str) -> bool:
        below = os.path.relpath(folder, self.workspace)
        return self._steers(folder) or any(name.startswith(f"{below}/") for name in STEERING)

    def _is_ignored(self, path: str, *, folder: bool) -> bool:
        """Whether a `.gitignore` on the way names the path or a folder above it."""
        parts = os.path.relpath(path, self.workspace).split(os.sep)
        if parts[0] in (".", ".."):
            return parts[0] == ".."
        for depth in range(1, len(parts) + 1):
            last = depth == len(parts)
            ignored = False
            for above in range(depth):
                spec = self._spec(os.path.join(self.workspace, *parts[:above]))
                if spec is not None:
                    text = "/".join(parts[above:depth]) + ("/" if folder or not last else "")
                    verdict = spec.check_file(text).include
                    ignored = ignored if verdict is None else verdict
            if ignored:
                return True
        return False

    def _spec(self, folder: str) -> pathspec.GitIgnoreSpec | None:
        if folder not in self._specs:
            try:
                text = read_regular(os.path.join(folder, ".gitignore"), _MOST_IGNORED).decode("utf-8", "replace")
                self._specs[folder] = pathspec.GitIgnoreSpec.from_lines(text.splitlines())
            except (OSError, ValueError):
                self._specs[folder] = None
        return self._specs[folder]


def _digest(path: str) -> bytes:
    try:
        if os.path.islink(path):
            return hashlib.sha256(os.fsencode(os.readlink(path))).digest()
        with open_regular(path, follows_link=False) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except (OSError, ValueError):
        return b""
