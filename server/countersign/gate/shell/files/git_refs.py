"""Which words surely name commits in a repository, by its refs and objects (`gitrevisions`).

A tag, a branch of another repository and ``FETCH_HEAD`` may name a tree, or the contents of a file, as well. So a name
is followed to the object, in the order in which git looks for it.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import Repository, repository_above
from countersign.gate.shell.files.git_kinds import is_commit
from countersign.gate.shell.syntax.tree import Word

_MOST_PACKED = 1 << 20
_MOST_READ = 1 << 24
_MOST_LINKS = 5
_RANGE = re.compile(r"\.\.\.?")
_WORD = re.compile(r"\^?([^~^@:{}]*|@)(?:@\{\d[^{}]*\}|\^\{(?:commit|tree)\})*")
_MOVED = re.compile(r"\^?[^~^@:{}]*(?:@|@\{[^{}]*\})*(?:~|\^(?!\{))[~^\d]*(?:\^\{(?:commit|tree)\})*")
"""With a step to a parent, what is named must be a commit."""
_ALWAYS = frozenset({"", "HEAD", "@"})
"""What is checked out: git lets it be nothing but a commit. Without a name, a number or a date behind ``@`` is an
earlier state of it; the branch that it follows is not among these."""
_WHOLE_NUMBER = re.compile(r"[0-9a-fA-F]{40}")
_NAME = re.compile(r"\w[\w.-]*(?:/[\w-][\w.-]*)*")
_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_LEADS = re.compile(rb"ref: (refs/[\x21-\x7e]+)\n?")
_NUMBER = re.compile(rb"([0-9a-f]{40})\n?")


def all_name_commits(words: Sequence[Word], place: str, paths: PathJudge, *, or_files: bool) -> bool:
    """Whether each of these words, seen from a folder, surely names commits, or with ``or_files`` what is there. Where
    git finds no repository, they do."""
    repository = repository_above(place, paths)
    return repository is None or all(
        word.value is not None
        and (
            names_commits(word.value, repository)
            or (or_files and paths.resolve(word.value, cwd=place).kind in ("file", "folder"))
        )
        for word in words
    )


def holds_replacements(place: str, paths: PathJudge) -> bool:
    """Whether git, run in this folder, may take some objects for others (`git replace`)."""
    repository = repository_above(place, paths)
    return repository is not None and disk.combined(_holds_replacements, repository.shared)


def _holds_replacements(folder: str) -> bool:
    packed = disk.beginning(f"{folder}/packed-refs", _MOST_READ + 1) or b""
    return len(packed) > _MOST_READ or b" refs/replace/" in packed or bool(disk.names_in(f"{folder}/refs/replace"))


def names_commits(word: str, repository: Repository) -> bool:
    """Whether a revision, or a range of two, surely names commits. Looks at the refs on the disk, and at objects."""
    return all(_names_commit(part, repository) for part in _RANGE.split(word))


def _names_commit(word: str, repository: Repository) -> bool:
    if _MOVED.fullmatch(word):
        return True
    found = _WORD.fullmatch(word)
    if found is None:
        return False
    name = found[1]
    if name in _ALWAYS:
        return True
    number = name.lower() if _WHOLE_NUMBER.fullmatch(name) else None  # which git takes for no ref of that name
    if number is None and _NAME.fullmatch(name):
        number = _object_of(name, repository)
    return number is not None and is_commit(number, f"{repository.shared}/objects")


def _object_of(name: str, repository: Repository) -> str | None:
    """The number of the object to which a name leads; None if that is not known."""
    packed = disk.beginning(f"{repository.shared}/packed-refs", _MOST_PACKED + 1) or b""
    if len(packed) > _MOST_PACKED:
        return None
    refs = {line[41:]: line[:40] for line in packed.split(b"\n") if line[40:41] == b" "}
    places = [place.format(name) for place in _PLACES]
    for _ in range(_MOST_LINKS):
        found = next(filter(None, (_stands_at(place, refs, repository) for place in places)), None)
        if found is None:
            return None
        leads, number = _LEADS.fullmatch(found), _NUMBER.fullmatch(found)
        if number is not None:
            return number[1].decode()
        if leads is None:
            return None
        places = [leads[1].decode()]
    return None


def _stands_at(ref: str, packed: dict[bytes, bytes], repository: Repository) -> bytes | None:
    """What a ref holds: a number, or the ref to which it leads; something else where that cannot be read."""
    for folder in dict.fromkeys((repository.own, repository.shared)):
        found = disk.path_stat(f"{folder}/{ref}")
        if isinstance(found, int):
            if found not in disk.MISSING:
                return b"?"
        elif found.kind != stat.S_IFDIR:
            return (disk.beginning(f"{folder}/{ref}", 300) or b"?") if found.kind == stat.S_IFREG else b"?"
    return packed.get(ref.encode())
