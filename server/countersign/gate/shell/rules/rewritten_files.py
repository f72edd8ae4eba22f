"""Rules for editing, applied to folders in which a command rewrites files that it does not name.

A rule that could match such a file asks. Where git rewrites only what its index holds, the names in the index are
compared with the rules, so that a rule for an ignored file (`.env`) asks nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from countersign.gate.finding import Finding
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.patterns import escape_glob, unescape_glob
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.files.git_index import index_names
from countersign.gate.shell.files.listed_names import MOST_INDEX
from countersign.gate.shell.files.rewritten_folders import Rewritten, rewritten_folders
from countersign.gate.shell.files.word_paths import folders_above
from countersign.gate.shell.files.word_values import join, literal
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.made_names import ANOTHER_INDEX
from countersign.gate.shell.rules.touched import FileFindings
from countersign.gate.shell.syntax.tree import Word
from countersign.wire.verdicts import Evidence

_MOST_TRACKED = 3_000
"""Names of an index that are compared with the rules; of more, any may be one that a rule names."""

_MOST_FOLDERS = 500
_MOST_NAMES = 8_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})
"""Folders that formatters pass over."""


def rewritten_below(
    context: JudgingContext, name: str, words: Sequence[Word], known: ProgramReading, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Yield an ask for each folder in which a rule for editing could match a file that is rewritten."""
    if not context.rules.limits("Edit"):
        return
    inner = known.git.folders if known.git is not None else ()
    for each in rewritten_folders(name, words, known):
        anew = each._replace(tracked=each.tracked and ANOTHER_INDEX not in context.made)
        for place in places if places is not None else (context.start,):
            start = place
            for word in inner:
                start = join(start, literal(word), context.paths.home)
            above = (*folders_above(start, context.paths.workspace), context.paths.workspace)
            for cwd in dict.fromkeys(above if each.top else (start,)):
                said = _rule_for(context.paths, anew, cwd)
                if said is not None:
                    found = Finding("write", each.folder, "write", ask=said, in_workspace=True)
                    yield FileFindings((found,), by_command=True, named=False)


def _rule_for(paths: PathJudge, each: Rewritten, cwd: str) -> Evidence | None:
    folder = paths.resolve(each.folder, cwd=cwd)
    # git also brings back a folder that is missing now.
    if folder.kind != "folder" and (folder.kind != "missing" or each.endings or not each.by_git):
        return None
    said = paths.may_hold_edited(each.folder, None, cwd=cwd)
    if said is None:
        return None
    if each.endings:
        folders = _folders_below(folder.resolved or folder.lexical)
        if folders is None:
            return said
        near = (front for front in folders if paths.may_hold_edited(each.folder, (*front, "*"), cwd=cwd))
        tried = (
            paths.may_hold_edited(each.folder, (*front, f"*{ending}"), cwd=cwd)
            for front in near
            for ending in each.endings
        )
        return next((found for found in tried if found is not None), None)
    names = _tracked(paths, folder.resolved or folder.lexical) if each.tracked else None
    if names is None or len(names) > _MOST_TRACKED:
        return said
    found = (
        paths.may_hold_edited(each.folder, [escape_glob(part) for part in name.split("/")], cwd=cwd) for name in names
    )
    return next((said for said in found if said is not None), None)


def _folders_below(folder: str) -> list[tuple[str, ...]] | None:
    """The folders that a formatter goes into, as parts of patterns, itself among them; None if there are too many."""
    found: list[tuple[str, ...]] = [()]
    looked = 0
    for front in found:
        there = "/".join([folder, *map(unescape_glob, front)])
        names = disk.listing(there)
        if names is None:
            return None
        looked += len(names)
        if looked > _MOST_NAMES:
            return None
        found += (
            (*front, escape_glob(name)) for name in names if name not in _SKIPPED and disk.is_folder(f"{there}/{name}")
        )
        if len(found) > _MOST_FOLDERS:
            return None
    return found


def _tracked(paths: PathJudge, folder: str) -> list[str] | None:
    """Return the names below a folder in the index of its repository; None if no index can be read."""
    found = repository_above(folder, paths)
    if found is None or not paths.inside_workspace(found.folder, cwd="/"):
        return None
    data = disk.beginning(f"{found.own}/index", MOST_INDEX + 1)
    names = index_names(data, _MOST_TRACKED * 10) if data is not None and len(data) <= MOST_INDEX else None
    if names is None:
        return None
    front = "" if found.folder == folder else f"{os.path.relpath(folder, found.folder)}/"
    return [name[len(front) :] for name, _ in names if name.startswith(front)]
