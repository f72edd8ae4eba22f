"""Files of the workspace that the settings of its own repository name, so that git obeys or runs them (P4).

``include.path = ../.gitconfig``, ``core.hooksPath = .githooks`` and ``filter.x.clean = ./scripts/clean`` make git run
what stands there at the next commit or status, whoever asks for it. Who writes such a file needs no right to write to
`.git`. Settings outside the workspace are not read, nor those of worktrees and submodules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from countersign.gate.probes import disk

NAMED_BY_GIT = "the repository's git settings name it, and git obeys or runs what stands there"

_LONGEST, _MOST_FILES = 100_000, 10
_HEADER = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_ABOUT_OTHERS = frozenset({"remote", "branch", "submodule", "url", "user", "http", "svn-remote"})
"""Sections of which no value names a file that git obeys."""

_KEPT: dict[str, tuple[tuple[disk.Probe, ...], tuple[str, ...]]] = {}


def named_by_git(workspace: str) -> tuple[str, ...]:
    """Return the paths, absolute, that the repository at the top of the workspace names in its settings."""
    return disk.combined(_find, workspace)


def _find(workspace: str) -> tuple[str, ...]:
    kept = _KEPT.get(workspace)
    if kept is not None and disk.unchanged(kept[0]):
        return kept[1]
    with disk.record_probes() as probes:
        found = tuple(dict.fromkeys(_named(workspace)))
    _KEPT.clear()
    _KEPT[workspace] = (tuple(dict.fromkeys(probes)), found)
    return found


def _named(workspace: str) -> Iterator[str]:
    ahead, seen = [f"{workspace}/.git/config"], set[str]()
    while ahead and len(seen) < _MOST_FILES:
        path = ahead.pop()
        if path in seen:
            continue
        seen.add(path)
        text = (disk.beginning(path, _LONGEST) or b"").decode(errors="replace")
        for section, key, value in _settings(text):
            including = section in {"include", "includeif"} and key == "path"
            base = os.path.dirname(path) if including else workspace
            for word in (value,) if including or key == "hookspath" else value.split():
                named = _path(word, base, whole=including or key == "hookspath")
                if named is not None and named.startswith(f"{workspace}/"):
                    yield named
                    ahead += [named] if including else ()


def _settings(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in text.replace("\\\n", "").split("\n"):
        header = _HEADER.match(line.strip())
        if header is not None:
            section = header[1].partition(".")[0].lower()
        found = _SETTING.fullmatch(line.strip()[header.end() :] if header is not None else line)
        if found is not None and section not in _ABOUT_OTHERS:
            yield section, found[1].lower(), found[2].replace('"', "").replace("\\\\", "\\").strip()


def _path(word: str, base: str, *, whole: bool) -> str | None:
    """The path in a value, or in a word of one that holds a command; None if it names none."""
    bare = word.lstrip("!").strip("';()")
    if not bare or "://" in bare or (not whole and "/" not in bare) or bare.startswith("~"):
        return None
    return os.path.normpath(os.path.join(base, bare))
