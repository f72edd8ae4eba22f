"""Which words surely name commits in a repository, by its branches (`gitrevisions`).

A tag, or any other ref, may name a tree or the contents of a file; git lets a branch name nothing but a commit.
"""

from __future__ import annotations

import re

from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import Repository

_MOST_PACKED = 1 << 20
_RANGE = re.compile(r"\.\.\.?")
_WORD = re.compile(r"\^?([^~^@:{}]*|@)(?:@\{[^{}]*\}|~\d*|\^\d*|\^\{(?:commit|tree)\})*")
_MOVED = re.compile(r"\^?[^~^@:{}]+(?:~|\^(?!\{))[~^\d]*")
"""With a step to a parent, what is named must be a commit."""
_ALWAYS = frozenset({"", "HEAD", "@", "ORIG_HEAD", "MERGE_HEAD", "stash"})
_NAME = re.compile(r"\w[\w.-]*(?:/[\w-][\w.-]*)*")


def names_commits(word: str, repository: Repository) -> bool:
    """Whether a revision, or a range of two, surely names commits. Looks at the refs on the disk."""
    return all(_names_commit(part, repository) for part in _RANGE.split(word))


def _names_commit(word: str, repository: Repository) -> bool:
    if _MOVED.fullmatch(word):
        return True
    found = _WORD.fullmatch(word)
    if found is None:
        return False
    return found[1] in _ALWAYS or (_NAME.fullmatch(found[1]) is not None and _is_branch(found[1], repository))


def _is_branch(name: str, repository: Repository) -> bool:
    """Whether a name is that of a branch, of this or of another repository, and of no ref that comes before it."""
    packed = disk.beginning(f"{repository.shared}/packed-refs", _MOST_PACKED + 1) or b""
    if len(packed) > _MOST_PACKED:
        return False
    refs = {line.partition(b" ")[2] for line in packed.split(b"\n")}

    def stands(ref: str) -> bool:
        loose = (f"{folder}/{ref}" for folder in dict.fromkeys((repository.own, repository.shared)))
        return ref.encode() in refs or any(disk.path_stat(path) not in disk.MISSING for path in loose)

    if any(map(stands, (name, f"refs/{name}", f"refs/tags/{name}"))):
        return False
    return stands(f"refs/heads/{name}") or stands(f"refs/remotes/{name}")
