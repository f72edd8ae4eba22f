"""The paths below folders that ``find`` gives as the disk is now, as far as one of them is worth a look: a symlink, a
file that is no ordinary one, a name that may be a secret's or that a program could read as another.

The walk is bounded. No link is followed.
"""

from __future__ import annotations

import re
import stat
from typing import NamedTuple

from countersign.gate.paths.hard_links import STORED
from countersign.gate.paths.kept_by_git import kept_as_text
from countersign.gate.paths.sensitive_paths import secret_name
from countersign.gate.patterns import fold
from countersign.gate.patterns.path import folded_segments
from countersign.gate.probes import disk
from countersign.gate.shell.languages.find_tests import FindTests, Kind, find_tests

MOST_UNUSUAL = 1_000
"""Paths worth a look after which no more are looked for."""

PLAIN = re.compile(r"[A-Za-z0-9_.@+,%=#()&!$^{}-]+")
"""Names that no shell and no program takes for anything else, but for their first character."""


class Unusual(NamedTuple):
    """A path below the root, empty for the root itself. ``broken``: a name in a folder with listed names holds a
    newline, so that lines of the listing together could be another path."""

    path: str
    link: bool = False
    broken: bool = False


class Find(NamedTuple):
    """``root`` is an absolute folder, which is written as ``printed`` among the words behind find's name, ``own`` are
    folded paths that count wherever they are met, and at most ``most`` names are looked at. ``enters_links``: who
    searches may go into folders behind links, so that each of these counts."""

    root: str
    printed: str
    words: tuple[str, ...]
    most: int
    own: tuple[str, ...] = ()
    enters_links: bool = False


def found_names(asked: Find) -> tuple[Unusual, ...] | None:
    """Return what is worth a look; None if that, or what is looked at, is too much, or the words are not known."""
    return disk.combined(_found, asked)


def _found(asked: Find) -> tuple[Unusual, ...] | None:
    tests = find_tests(asked.words)
    if tests is None:
        return None
    walk = _Walk(asked, tests)
    return tuple(walk.found) if walk.run() else None


class _Walk:
    def __init__(self, asked: Find, tests: FindTests) -> None:
        self._asked, self._tests = asked, tests
        self._left, self._left_in_git = asked.most, 3 * asked.most
        self.found: list[Unusual] = []

    def run(self) -> bool:
        """Whether all was looked at."""
        asked = self._asked
        standing = disk.path_stat(asked.root)
        if isinstance(standing, int):
            return standing in disk.MISSING
        linked = standing.kind == stat.S_IFLNK and not asked.printed.endswith(("/", "/."))
        folder = not linked and disk.is_folder(asked.root)
        name = asked.printed.rstrip("/").rsplit("/", 1)[-1]
        if not folder or may_be_secret(name):
            self.found.append(Unusual("", linked))
        waiting = [("", 0, False, False)] if folder else []
        while waiting:
            front, depth, odd, in_git = waiting.pop()
            if self._tests.deepest is not None and depth >= self._tests.deepest:
                continue
            entries = disk.entries_in(f"{asked.root}/{front}")
            if entries is None:
                return False  # the command may open it by another path
            if in_git:
                self._left_in_git -= len(entries)
            else:
                self._left -= len(entries)
            if self._left < 0 or self._left_in_git < 0 or len(self.found) > MOST_UNUSUAL:
                return False
            given = broken = False
            for name, is_folder in entries:
                path = f"{front}{name}"
                kind = "link" if is_folder is None else "folder" if is_folder else "file"
                may_give = self._tests.may_give(name, kind) or self._leads_on(path, kind)
                given, broken = given or may_give, broken or "\n" in name
                below = odd or may_be_secret(name) or not PLAIN.fullmatch(name) or self._is_kept(path)
                if may_give and (below or self._is_unusual(path, kind)):
                    self.found.append(Unusual(path, kind == "link"))
                if kind == "folder" and self._tests.enters(name, top=depth == 0):
                    waiting.append((f"{path}/", depth + 1, below, in_git or name == ".git"))
            if given and broken:
                self.found.append(Unusual(front, broken=True))
        return True

    def _leads_on(self, path: str, kind: Kind) -> bool:
        return self._asked.enters_links and kind == "link" and disk.is_folder(f"{self._asked.root}/{path}")

    def _is_unusual(self, path: str, kind: Kind) -> bool:
        if kind == "link" or self._is_own(path):
            return True
        return kind == "file" and is_special(f"{self._asked.root}/{path}", path)

    def _is_kept(self, path: str) -> bool:
        """Whether git keeps lines of other files there."""
        whole = f"{self._asked.root}/{path}"
        return ".git/" in whole and kept_as_text(folded_segments(tuple(whole.split("/"))))

    def _is_own(self, path: str) -> bool:
        if not self._asked.own:
            return False
        whole = fold(f"{self._asked.root}/{path}")
        return any(whole == own or whole.startswith(f"{own}/") for own in self._asked.own)


def is_special(whole: str, path: str) -> bool:
    """Whether what stands there is no ordinary file, or one with other names, where these are not the rule."""
    standing = disk.path_stat(whole)
    if isinstance(standing, int):
        return standing not in disk.MISSING
    return standing.kind != stat.S_IFREG or (standing.names > 1 and STORED.isdisjoint(path.split("/")))


def may_be_secret(name: str) -> bool:
    return secret_name(name) is not None or secret_name(name.rstrip(". ")) is not None
