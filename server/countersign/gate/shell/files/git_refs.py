"""Which words surely name commits in a repository, by its refs and objects (`gitrevisions`).

A tag, a branch of another repository and ``FETCH_HEAD`` may name a tree, or the contents of a file, as well. So a name
is followed to the object, in the order in which git looks for it.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from errno import ENOTDIR
from functools import lru_cache
from operator import lt

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_contents import COMMIT
from countersign.gate.shell.files.git_folders import Repository, folders_up, repository_above
from countersign.gate.shell.files.git_kinds import is_commit, the_only_number
from countersign.gate.shell.syntax.tree import Word

_MOST_PACKED = 1 << 24
_MOST_SETTINGS = 1 << 20
_MOST_LINKS = 5
_RANGE = re.compile(r"\.\.\.?")
_WORD = re.compile(r"\^?([^~^@:{}]*|@)(?:@\{\d[^{}]*\}|\^\{(?:commit|tree)\})*")
_MOVED = re.compile(r"\^?(?=[^~^])[^~^@:{}]*(?:@|@\{[^{}]*\})*(?:~|\^(?!\{))[~^\d]*(?:\^\{(?:commit|tree)\})*")
"""With a step to a parent, what is named must be a commit."""
_ALWAYS = frozenset({"", "HEAD", "@"})
"""What is checked out. Without a name, a number or a date behind ``@`` is an earlier state of it; the branch that it
follows is not among these."""
_WHOLE_NUMBER = re.compile(r"[0-9a-fA-F]{40}")
_SHORT_NUMBER = re.compile(r"[0-9a-fA-F]{4,39}")
_NAME = re.compile(r"(?!(?:main-worktree|worktrees)/)\w[\w.-]*(?:/[\w-][\w.-]*)*")
_OF_OTHER_TREE = re.compile(r"(?:main-worktree|worktrees)/")
"""Git looks for names that begin like this among the refs of another work tree."""
_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_LEADS = re.compile(rb"ref: (refs/[\x21-\x7e]+)\n?")
_NUMBER = re.compile(rb"([0-9a-f]{40})(?:[ \t\n].*)?", re.DOTALL)
_NO_REF = re.compile(r"\.\.|//|/\Z|@\{|(?:^|/)\.|\.\Z|\.lock(?:/|\Z)|[\0- ~^:?*\[\\\x7f]")
"""What git takes for no name of a ref (`git check-ref-format`)."""


def all_name_commits(words: Sequence[Word], place: str, paths: PathJudge, *, or_files: bool) -> bool:
    """Whether each of these words, seen from a folder, surely names commits, or with ``or_files`` what is there, unless
    it can only be meant as a revision (``x^{commit}``). Where git finds no repository, they do."""
    repository = repository_above(place, paths)
    if repository is None:
        return _finds_no_repository(place, paths)
    if disk.path_stat(f"{repository.shared}/reftable") not in disk.MISSING:
        return False  # refs are kept in a form that is not read here
    or_files = or_files and takes_for_paths(place, paths)
    return not replaces_objects(repository) and all(
        word.value is not None
        and (names_commits(word.value, repository) or (or_files and names_file(word.value, place, paths)))
        for word in words
    )


def names_file(word: str, place: str, paths: PathJudge) -> bool:
    """Whether git takes this word for a file or folder, where it ``takes_for_paths``: one is called so, and no revision
    is. It takes a caret in front off before it looks. Where both are called so it refuses the word, but the text may
    delete the file before."""
    if "^{" in word or word.startswith("^") or paths.resolve(word, cwd=place).kind not in ("file", "folder"):
        return False
    repository = repository_above(place, paths)
    return repository is None or _is_no_revision(word, repository)


def _is_no_revision(word: str, repository: Repository) -> bool:
    if _STEPS.search(word) or word == "@" or disk.path_stat(f"{repository.shared}/reftable") not in disk.MISSING:
        return False
    if _DESCRIBED.search(word) or _OF_OTHER_TREE.match(word):
        return False
    if _NO_REF.search(word):
        return True
    if _SHORT_NUMBER.fullmatch(word) or _WHOLE_NUMBER.fullmatch(word):
        return number_named(word, repository) == _NOTHING
    return _object_of([place.format(word) for place in _PLACES], repository) == _NOTHING


_STEPS = re.compile(r"[~^:]|@\{|\.\.(?!/|\Z)|(?<=[^/.])\.\.\Z")
_DESCRIBED = re.compile(r"-g[0-9a-fA-F]{4}")
"""git takes what `git describe` prints for the commit whose number stands at its end, whatever stands in front."""


def takes_for_paths(place: str, paths: PathJudge) -> bool:
    """Whether git, run in this folder, refuses a word that is both a revision and a file there, or finds no repository.
    In a folder of its own, and without the work tree that seems to be there, it takes the word for a revision."""
    repository, real = repository_above(place, paths), paths.resolve(place, cwd="/").resolved
    if repository is None:
        return _finds_no_repository(place, paths)
    if real is None or is_in_git_folder(real, repository) or _settings_hold(_BARE, repository):
        return False
    return repository.own != f"{repository.folder}/.git" or not _settings_hold(_MOVED_TREE, repository)


def _finds_no_repository(place: str, paths: PathJudge) -> bool:
    return not any(disk.path_stat(f"{each}/.git") not in disk.MISSING for each in folders_up(place, paths))


def is_in_git_folder(real: str, repository: Repository) -> bool:
    """Whether a resolved folder is git's own, or lies in it."""
    return ".git" in real.split("/") or f"{real}/".startswith((f"{repository.own}/", f"{repository.shared}/"))


def _settings_hold(words: re.Pattern[bytes], repository: Repository) -> bool:
    """Whether these words stand in the settings of the repository."""
    files = (f"{repository.shared}/config", f"{repository.own}/config.worktree")
    return any(words.search(disk.beginning(file, _MOST_SETTINGS) or b"") for file in files)


_BARE = re.compile(rb"\bbare\b(?![ \t]*=[ \t]*false\b)", re.IGNORECASE)
_MOVED_TREE = re.compile(rb"\bworktree[ \t]*(?:=|$)", re.IGNORECASE | re.MULTILINE)
"""That there may be no work tree, or another one."""
_OBJECT_FORMAT = re.compile(rb"objectformat", re.IGNORECASE)
"""That numbers may have another length."""


def holds_replacements(place: str, paths: PathJudge) -> bool:
    """Whether git, run in this folder, may take some objects for others (`git replace`)."""
    repository = repository_above(place, paths)
    return repository is not None and replaces_objects(repository)


def replaces_objects(repository: Repository) -> bool:
    """Whether git may take some objects for others, or find other parents than a commit names (`grafts`)."""
    return disk.combined(_holds_replacements, repository.shared)


def _holds_replacements(folder: str) -> bool:
    if disk.path_stat(f"{folder}/info/grafts") not in disk.MISSING:
        return True
    packed = _packed_in(folder)
    return packed is None or b" refs/replace/" in packed or bool(disk.names_in(f"{folder}/refs/replace"))


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
        return _is_checked_out(repository)
    if "@{" in word:
        return False  # an earlier state may have been something else
    number = _number_of(name, repository)
    return number == COMMIT or (bool(number) and is_commit(number, f"{repository.shared}/objects"))


def number_named(name: str, repository: Repository) -> str | None:
    """The number of the object that a name without steps to others stands for, an empty text if nothing is called so;
    None if that is not known."""
    if disk.path_stat(f"{repository.shared}/reftable") not in disk.MISSING:
        return None  # refs are kept in a form that is not read here
    if name in _ALWAYS:
        return commit_checked_out(repository)
    if not _NAME.fullmatch(name) or _SHORT_NUMBER.fullmatch(name) or _WHOLE_NUMBER.fullmatch(name):
        return _number_of(name, repository)
    number = _object_of([place.format(name) for place in _PLACES], repository)
    # Where no ref is called so git may still find something: by the number in it, or in another form of Unicode.
    return None if number == _NOTHING and (_DESCRIBED.search(name) or not name.isascii()) else number


def _number_of(name: str, repository: Repository) -> str | None:
    """The number of the object that git takes for the one of this name; None if that is not known."""
    if _WHOLE_NUMBER.fullmatch(name):
        return name.lower()  # whatever ref is called so
    places = [place.format(name) for place in _PLACES]
    if not _SHORT_NUMBER.fullmatch(name) or not _are_missing(places, repository):
        return (_object_of(places, repository) or None) if _NAME.fullmatch(name) else None
    known = not _settings_hold(_OBJECT_FORMAT, repository)
    return the_only_number(name.lower(), f"{repository.shared}/objects") if known else None


def _is_checked_out(repository: Repository) -> bool:
    """Whether a commit is checked out, or nothing else is called like it."""
    number = _object_of(["HEAD"], repository)
    if number != _NOTHING:
        return number is not None and is_commit(number, f"{repository.shared}/objects")
    return _are_missing([place.format("HEAD") for place in _PLACES[1:]], repository)


def commit_checked_out(repository: Repository) -> str | None:
    """Return the number of what is checked out, an empty text where that is a branch without a commit and no ref names
    any, as git then goes on to others that are called ``HEAD``; None if it is not known."""
    if disk.path_stat(f"{repository.shared}/reftable") not in disk.MISSING:
        return None
    number = _object_of(["HEAD"], repository)
    return None if number == _NOTHING and disk.combined(_holds_refs, repository.shared) else number


def _holds_refs(folder: str) -> bool:
    kinds = (f"{folder}/refs/{each}" for each in ("heads", "remotes", "tags"))
    alone = (f"{folder}/packed-refs", f"{folder}/refs/HEAD")
    return any(disk.path_stat(each) not in disk.MISSING for each in alone) or any(map(disk.names_in, kinds))


def _are_missing(places: Sequence[str], repository: Repository) -> bool:
    """Whether none of these refs is there."""
    packed = _packed(repository)
    return packed is not None and all(_stands_at(place, packed, repository) is None for place in places)


def _object_of(places: Sequence[str], repository: Repository) -> str | None:
    """The number of the object to which the first of these refs that is there leads; ``_NOTHING`` if none is, or `HEAD`
    leads to a branch without a commit; None if that is not known."""
    packed = _packed(repository)
    if packed is None:
        return None
    own = places == ["HEAD"]
    for followed in range(_MOST_LINKS):
        found = next(filter(None, (_stands_at(place, packed, repository) for place in places)), None)
        if found is None:
            # Where one leads to nothing, git goes on with the next, unless it is the branch that is checked out.
            return _NOTHING if own or not followed else None
        leads, number = _LEADS.fullmatch(found), _NUMBER.fullmatch(found)
        if number is not None:
            return number[1].decode()
        if leads is None:
            return None
        places = [leads[1].decode()]
    return None


_NOTHING = ""
"""Stands for the number of an object that does not exist."""


def _packed(repository: Repository) -> bytes | None:
    """The packed refs; None where they are too many to read, or not as git writes them: it looks for a name by halves,
    and takes other blanks for one, so it may find another line than is found here."""
    return _packed_in(repository.shared)


def _packed_in(folder: str) -> bytes | None:
    packed = disk.beginning(f"{folder}/packed-refs", _MOST_PACKED + 1) or b""
    return packed if len(packed) <= _MOST_PACKED and _is_as_written(packed) else None


@lru_cache(maxsize=4)
def _is_as_written(packed: bytes) -> bool:
    if _PACKED.fullmatch(packed) is None:
        return False
    names = _PACKED_NAME.findall(packed)
    return all(map(lt, names, names[1:]))


_PACKED = re.compile(rb"(?:# pack-refs with:[a-z -]*\n)?(?:[0-9a-f]{40} refs/[^\0- \x7f]+\n(?:\^[0-9a-f]{40}\n)?)*")
_PACKED_NAME = re.compile(rb"^[0-9a-f]{40} (.*)", re.MULTILINE)


def _stands_at(ref: str, packed: bytes, repository: Repository) -> bytes | None:
    """What a ref holds: a number, or the ref to which it leads; something else where that cannot be read."""
    if _NO_REF.search(ref):
        return b"?"
    folder = repository.own if _OF_WORK_TREE.match(ref) else repository.shared
    found = disk.path_stat(f"{folder}/{ref}")
    if isinstance(found, int) and found not in disk.MISSING:
        return b"?"
    if isinstance(found, int) or found.kind == stat.S_IFDIR:
        at = packed.find(b" %s\n" % ref.encode())
        if at < 0:
            return None
        # Where a file stands in the place of a folder of refs, git finds no packed one either.
        return packed[at - 40 : at] if found != ENOTDIR else b"?"
    return (disk.beginning(f"{folder}/{ref}", 300) or b"?") if found.kind == stat.S_IFREG else b"?"


_OF_WORK_TREE = re.compile(r"[A-Z_-]+\Z|refs/(?:bisect|worktree|rewritten)/")
"""Refs that each work tree has of its own (`gitrepository-layout`)."""
