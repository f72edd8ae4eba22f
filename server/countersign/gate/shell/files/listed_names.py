"""Names that a listing may print as the disk is now, and that lead elsewhere than below the listed folder.

A symlink leads out when it is opened, and a name that holds a blank or a quote is split or unquoted by whoever reads
the listing: of `src/a /etc/passwd .md` a reader opens `/etc/passwd`. Bash takes `l[i]nk` for a pattern, which opens
`link`. Such names are looked up before, within bounds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from countersign.gate.finding import Finding
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import glob_segment, is_glob
from countersign.gate.probes import disk
from countersign.gate.shell.files.file_use import Listed
from countersign.gate.shell.files.found_names import Find, found_names
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.files.git_index import index_names
from countersign.gate.shell.files.word_values import join, literal, matching_paths
from countersign.gate.shell.syntax.tree import Word
from countersign.wire.verdicts import Evidence

MOST_NAMES = 10_000
"""Names below one folder that are looked at."""
MOST_TRACKED = 30_000
MOST_INDEX = 8 << 20
"""Names in git's index, and its bytes, that are looked at."""

_READ_OTHERWISE = re.compile(r"[\s'\"\\*?\[]")
"""What makes a shell or xargs take the name of a folder for another, or for several."""

_MOST_MATCHES = 500

_SPLIT = re.compile(r"[\s'\"\\]|(?:^|/)\.[^/]*[*?\[]")
_UNQUOTED = re.compile(r"['\"\\*?\[]")
"""A name that is split, or a pattern that may lead to `..`; and one that is unquoted then, or may be another."""

_INPUT = "-"

Unusual = Sequence[tuple[str, bool]]
"""Paths that are symlinks, or hold what a shell splits or unquotes, each with whether it is a symlink."""


def _in_git(path: str) -> bool:
    return ".git" in path.split("/")[:-1]


class ListedNames:
    """Makes findings of what a listing could print, seen from one folder (or from no known one)."""

    def __init__(self, judge: PathJudge, folder: str | None) -> None:
        self._judge, self._folder = judge, folder

    def look(self, word: Word, listed: Listed) -> Iterator[Finding]:
        """Yield what asks, or is forbidden, of the names below the folder that the word names."""
        if self._folder is None:
            yield self._asked(word.source, "the folder that is listed is only known at run time")
            return
        if listed.split and _READ_OTHERWISE.search(literal(word)):
            yield self._asked(word.source, "the name holds characters that a shell reads in another way")
            return
        root = join(self._folder, literal(word), self._judge.home)
        if not disk.is_folder(root):
            return
        tracked = self._tracked(root) if listed.tracked else None
        if disk.is_there(f"{root}/{_INPUT}") or any(path == _INPUT for path, _ in tracked or ()):
            yield self._asked(
                _INPUT, "to many programs the name `-` means their input, which is the rest of the listing"
            )
            return
        found = tracked if tracked is not None else self._below(root, literal(word), listed)
        if found is None:
            yield self._asked(word.source, f"more than {MOST_NAMES} names are listed, too many to check for symlinks")
            return
        if listed.past and listed.split and tracked is not None:
            yield self._asked(word.source, "names of earlier revisions may be listed, which are not checked")
            return
        if listed.top and not self._is_top(root):
            yield self._asked(word.source, "the listed names count from the top of the repository, not from here")
            return
        front = literal(word).rstrip("/")
        for path, is_link in found:
            if listed.names and not any(
                glob_segment(name).may_match_any_case(os.path.basename(path)) for name in listed.names
            ):
                continue
            # As it is printed: git leaves `./` out.
            spelled = path if listed.tracked else f"{front}/{path}"
            parts = [root + "/" + path] if is_link else []
            if listed.split and _SPLIT.search(path):
                if _UNQUOTED.search(path) or (listed.expanded and is_glob(path)):
                    yield self._asked(path, "the name holds characters that a shell reads in another way")
                    continue
                parts += spelled.split()
            elif listed.expanded and is_glob(path):
                # Where it matches nothing, it stays as it is.
                matches = matching_paths(spelled, self._folder, _MOST_MATCHES, self._judge.spent)
                if matches is None:
                    yield self._asked(path, "bash takes the name for a pattern that matches too many others")
                    continue
                parts += matches
            for part in parts:
                finding = self._judge.judge_read(part, cwd=self._folder)
                if finding.floors or finding.deny or finding.ask or finding.requires_ask:
                    yield finding

    def _below(self, root: str, printed: str, listed: Listed) -> Unusual | None:
        if listed.finds:
            found = found_names(Find(root, printed, listed.finds, MOST_NAMES))
            return (
                None
                if found is None
                else [(each.path, each.link) for each in found if not each.broken and not _in_git(each.path)]
            )
        if not listed.flat:
            return disk.unusual_below(root, MOST_NAMES)
        links = disk.links_in(root)
        return [(name, name in links) for name in disk.names_in(root) if name in links or disk.SPLITTING.search(name)]

    def _tracked(self, root: str) -> Unusual | None:
        """What git's index holds of unusual names, counted from its top; None where there is no index to read."""
        found = repository_above(root, self._judge)
        if found is None or not self._judge.inside_workspace(found.folder, cwd="/"):
            return None
        top = found.folder
        data = disk.beginning(f"{found.own}/index", MOST_INDEX + 1)
        names = index_names(data, MOST_TRACKED) if data is not None and len(data) <= MOST_INDEX else None
        if names is None:
            return None
        return [
            (os.path.relpath(f"{top}/{path}", root), link)
            for path, link in names
            if link or os.path.basename(path) == _INPUT or disk.SPLITTING.search(path)
        ]

    def _is_top(self, folder: str) -> bool:
        found = repository_above(folder, self._judge)
        return found is not None and found.folder in self._judge.resolve(folder, cwd="/").spellings()

    def _asked(self, resource: str, reason: str) -> Finding:
        said = Evidence(source="default", reason=reason)
        return Finding(kind="read", resource=resource, category="read", requires_ask=said, in_workspace=False)
