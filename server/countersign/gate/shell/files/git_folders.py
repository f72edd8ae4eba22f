"""Which folders hold what git keeps of a work tree (docs/gate.md S9 and "Outside the workspace").

Usually that is one, `.git`. In a linked worktree and in a submodule `.git` is a file that names another folder, outside
the workspace as a rule. A commit cannot hold such a file; an archive can. So it counts only where that folder
names this work tree in turn, as git writes it, and where agents cannot write.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from countersign.gate.paths.kept_by_git import KEPT_BY_GIT
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

_MOST_BYTES = 5_000
_MOST_SETTINGS = 100_000
_MOST_HEAD = 255
_HEAD = re.compile(rb"ref:[ \t\n\r]*refs/|[0-9a-fA-F]{40}")
_LINE = re.compile(rb"([^\0\r\n]+)[\r\n]*")
_GIT_FILE = re.compile(rb"gitdir: ([^\0\r\n]+)[\r\n]*")
_WORK_TREE = re.compile(r"\s*worktree\s*=\s*([^\s\"\\#;](?:[^\"\\#;\n]*[^\s\"\\#;])?)\s*", re.IGNORECASE)
_PARTS = ("HEAD", "index", "config", "objects/pack/pack", "refs/heads/main", "logs/HEAD")
"""Names below a folder of git, some that are always there and some that only stand for others."""


class Repository(NamedTuple):
    """A work tree; the folder of what git keeps of it alone (``HEAD``, ``index``); and the folder of what it shares
    with the other work trees of its repository (``config``, ``hooks``, ``objects``). All are resolved."""

    folder: str
    own: str
    shared: str


def has_work_trees(repository: Repository) -> bool:
    """Whether the repository may have several work trees (`git worktree`)."""
    return repository.own != repository.shared or bool(disk.names_in(f"{repository.shared}/worktrees"))


def repository_at(folder: str, paths: PathJudge) -> Repository | str | None:
    """The repository whose work tree is this resolved folder, or why it does not count; None if none stands there."""
    entry = disk.path_stat(f"{folder}/.git")
    if isinstance(entry, int):
        return None if entry in disk.MISSING else "its `.git` cannot be read"
    if entry.kind == stat.S_IFDIR:
        if not is_whole(f"{folder}/.git") and _stands_above(folder):
            return "its `.git` folder lacks something, so that git looks for a repository further up"
        return Repository(folder, f"{folder}/.git", f"{folder}/.git")
    if entry.kind != stat.S_IFREG:
        return "its `.git` is neither a folder nor a file"
    found = _named_by(f"{folder}/.git", _GIT_FILE, folder, paths)
    shared = None if found is None else _shared(found, paths)
    if found is None or shared is None:
        return "it is not certain where its `.git` file leads"
    if not (_names_file(found, folder, paths) if shared != found else _names_folder(found, folder, paths)):
        return "its `.git` file names a folder that does not name this work tree in turn"
    if not all(_is_guarded(each, paths) for each in (found, shared)):
        return "its `.git` file names a folder in which agents may write"
    if _is_withheld(found, paths) or _is_withheld(shared, paths):
        return "its `.git` file names a folder that a rule for reading or a protection covers"
    return Repository(folder, found, shared)


def is_whole(git_dir: str) -> bool:
    """Whether git surely takes this folder for a repository (`is_git_directory`); else it looks further up, where one
    may have any settings."""
    head = disk.path_stat(f"{git_dir}/HEAD")
    if isinstance(head, int):
        return False
    if head.kind == stat.S_IFLNK:
        target = disk.link_target(f"{git_dir}/HEAD")
        named = isinstance(target, str) and target.startswith("refs/")
    else:
        named = _HEAD.match(disk.beginning(f"{git_dir}/HEAD", _MOST_HEAD) or b"") is not None
    # With the dot, only of folders, and of those that may be entered.
    return named and all(disk.can_run(f"{git_dir}/{part}/.") for part in ("objects", "refs"))


def _stands_above(folder: str) -> bool:
    """Whether git may find a repository further up than this folder."""
    while folder != "/":
        folder = os.path.dirname(folder)
        entry = disk.path_stat(os.path.join(folder, ".git"))
        is_folder = not isinstance(entry, int) and entry.kind == stat.S_IFDIR
        if not is_folder and entry not in disk.MISSING:
            return True
        heads = ("HEAD", ".git/HEAD") if is_folder else ("HEAD",)
        if any(disk.path_stat(os.path.join(folder, head)) not in disk.MISSING for head in heads):
            return True
    return False


def repository_above(folder: str, paths: PathJudge) -> Repository | None:
    """The repository in which git runs in this folder; None if there is none, or it does not count."""
    for above in folders_up(folder, paths):
        found = repository_at(above, paths)
        if found is not None:
            return None if isinstance(found, str) else found
    return None


def folders_up(folder: str, paths: PathJudge) -> Iterator[str]:
    """The resolved folder and each above it, but for the root."""
    real = paths.resolve(folder, cwd=paths.workspace).resolved
    while real is not None and real != "/":
        yield real
        real = os.path.dirname(real)


def _shared(own: str, paths: PathJudge) -> str | None:
    """Where git looks for what work trees share; None if that is not known."""
    entry = disk.path_stat(f"{own}/commondir")
    if isinstance(entry, int):
        return own if entry in disk.MISSING else None
    named = _named_by(f"{own}/commondir", _LINE, own, paths) if entry.kind == stat.S_IFREG else None
    if named is None or disk.path_stat(f"{named}/commondir") not in disk.MISSING:
        return None
    return named if os.path.dirname(own) == f"{named}/worktrees" else None


def _names_file(own: str, folder: str, paths: PathJudge) -> bool:
    """Whether the folder of a linked worktree says that it belongs to the `.git` file in this folder."""
    entry = disk.path_stat(f"{own}/gitdir")
    if isinstance(entry, int) or entry.kind != stat.S_IFREG:
        return False
    return _named_by(f"{own}/gitdir", _LINE, own, paths) == f"{folder}/.git"


def _names_folder(own: str, folder: str, paths: PathJudge) -> bool:
    """Whether the settings of a submodule's repository name this folder as its work tree, in a line of the form that
    git writes."""
    entry = disk.path_stat(f"{own}/config")
    text = disk.beginning(f"{own}/config", _MOST_SETTINGS + 1)
    if isinstance(entry, int) or entry.kind != stat.S_IFREG or text is None or len(text) > _MOST_SETTINGS:
        return False
    lines = [line for line in os.fsdecode(text).split("\n") if "worktree" in line.lower()]
    named = _WORK_TREE.fullmatch(lines[0]) if len(lines) == 1 else None
    return named is not None and _straight(os.path.join(own, named[1]), paths) == folder


def _named_by(file: str, form: re.Pattern[bytes], folder: str, paths: PathJudge) -> str | None:
    """The path that the only line of a file names, relative to a folder; None if the file has another form."""
    text = disk.beginning(file, _MOST_BYTES + 1)
    named = form.fullmatch(text) if text is not None and len(text) <= _MOST_BYTES else None
    return None if named is None else _straight(os.path.join(folder, os.fsdecode(named[1])), paths)


def _straight(path: str, paths: PathJudge) -> str | None:
    """The path without its dots; None if a link may change where it leads."""
    resolved = paths.resolve(path, cwd="/")
    straight = resolved.refused is None and resolved.unclear is None and resolved.resolved == resolved.lexical
    return resolved.resolved if straight and not paths.expects_links(resolved) else None


def _is_guarded(folder: str, paths: PathJudge) -> bool:
    """Whether a person is asked before anything changes there, in every mode: it lies in a folder named `.git`."""
    return ".git" in folder.split("/") and paths.is_protected(f"{folder}/config", cwd="/") is not None


def _is_withheld(folder: str, paths: PathJudge) -> bool:
    """Whether reading there is denied or asks for another reason than that it lies outside the workspace."""
    for path in (folder, *(f"{folder}/{part}" for part in _PARTS)):
        found = paths.judge_read(path, cwd="/")
        secret = found.requires_ask is not None and paths.is_secret(path, cwd="/") not in {None, KEPT_BY_GIT}
        if found.deny is not None or found.ask is not None or found.floors or secret:
            return True
    return False
