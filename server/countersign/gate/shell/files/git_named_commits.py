"""Which commits the words of a git command name, by their numbers (`gitrevisions`).

``git diff main...HEAD`` prints what the branch has changed since it left ``main``: the differences between the commit
where it did and ``HEAD``. So a range is followed to the commits of which git prints the files.
"""

from __future__ import annotations

import heapq
import re
from typing import NamedTuple

from countersign.gate.probes import disk
from countersign.gate.shell.files.git_contents import LATEST_STASH
from countersign.gate.shell.files.git_folders import Repository
from countersign.gate.shell.files.git_kinds import MOST_TAGS
from countersign.gate.shell.files.git_refs import number_named, replaces_objects
from countersign.gate.shell.files.git_trees import Commit, TooMuch, read_commit, read_object, shallow_ends

_MOST_STEPS = 200
"""Parents that ``HEAD~200`` goes up."""
_MOST_WALKED = 1_000
"""Commits that are read to find where two histories meet."""
_MOST_LATEST = 30
"""Commits that `git log -N` may show for which each is looked at."""

_RANGE = re.compile(r"(.*?)(\.\.\.?)(.*)", re.DOTALL)
_REVISION = re.compile(r"(?P<name>[^~^:@{}]*|@)(?P<steps>(?:~\d{0,3}|\^\d{0,2})*)(?:\^\{(?:commit|tree)?\})*")
"""Earlier states (``HEAD@{1}``) are not among these: versions of git differ in how they count them in a log."""
_NO_REVISION = re.compile(r"[*?\[\\]")
"""What stands in no name and no number."""
_MAY_HOLD = re.compile(r"\{|-g[0-9a-fA-F]{4}")
"""Where it may stand all the same: in the text of a message, and in front of what `git describe` prints."""
_STEP = re.compile(r"([~^])(\d*)")
_LEFT_OUT = re.compile(r"\A\^(?=\w)")
"""`^A B` is `A..B`."""
_MOST_LOGGED = 1 << 20
_LOGGED = re.compile(rb"(?:\A|\n)[0-9a-f]{40} ([0-9a-f]{40}) [^\n]*\n\Z")
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git knows it without an object."""
_TAGGED = re.compile(rb"object ([0-9a-f]{40})\n")

_BOTH, _STALE = 3, 4


def commits_named(word: str, repository: Repository) -> tuple[str, ...] | None:
    """Return the numbers of the commits of which ``git diff WORD`` prints files, and those of a range's ends: that of a
    revision, both of ``A..B``, and of ``A...B`` those as well where the two histories meet. None where one is not
    known; none at all where git finds no such name. Looks at the disk."""
    return disk.combined(_commits_named, (word, repository))


def latest_commits(numbers: tuple[str, ...], count: int, repository: Repository) -> tuple[str, ...] | None:
    """Return the commits that ``git log -COUNT`` may show of these histories: those that lie fewer steps than that
    above, by all parents of each. None where they are too many or not known. Looks at the disk."""
    return disk.combined(_latest_commits, (numbers, count, repository))


def _latest_commits(asked: tuple[tuple[str, ...], int, Repository]) -> tuple[str, ...] | None:
    numbers, count, repository = asked
    found, ahead = dict.fromkeys(numbers), list(numbers)
    try:
        histories = _Histories.of(repository)
        for _ in range(count - 1):
            ahead = [each for number in ahead for each in histories.at(number).parents if each not in found]
            found |= dict.fromkeys(ahead)
            if len(found) > _MOST_LATEST:
                return None
    except TooMuch:
        return None
    return tuple(found)


def _commits_named(asked: tuple[str, Repository]) -> tuple[str, ...] | None:
    word, repository = asked
    word = _LEFT_OUT.sub("", word)
    found = _RANGE.fullmatch(word)
    if found is None:
        number = _commit_named((word, repository))
        return None if number is None else (number,) if number not in ("", _EMPTY_TREE) else ()
    one, other = (_commit_named((each, repository)) for each in (found[1], found[3]))
    if one is None or other is None or _EMPTY_TREE in (one, other):
        return None
    if not (one and other):
        return ()
    try:
        met = _meet(one, other, _Histories.of(repository)) if found[2] == "..." else []
    except TooMuch:
        return None
    return tuple(dict.fromkeys((*met, one, other)))


def _commit_named(asked: tuple[str, Repository]) -> str | None:
    word, repository = asked
    if _NO_REVISION.search(word) and not _MAY_HOLD.search(word):
        return ""
    found = _REVISION.fullmatch(word)
    if found is None or (not found["name"] and word) or replaces_objects(repository):
        return None
    number = number_named(found["name"], repository)
    if number == _EMPTY_TREE and not found["steps"]:
        return _EMPTY_TREE
    if word == LATEST_STASH and number and not _is_last_logged(number, f"{repository.shared}/logs/{word}"):
        return None
    try:
        histories = _Histories.of(repository)
        number = _without_tags(number, histories.store) if number else number
        for sign, count in _STEP.findall(found["steps"]):
            number = _up(number, sign, int(count or 1), histories) if number else number
    except TooMuch:
        return None
    return number


def _is_last_logged(number: str, log: str) -> bool:
    """Whether a log of changes ends with this number, or does not exist."""
    text = disk.beginning(log, _MOST_LOGGED + 1)
    if text is None:
        return True
    last = _LOGGED.search(text)
    return len(text) <= _MOST_LOGGED and last is not None and last[1].decode() == number


def _without_tags(number: str, store: str) -> str:
    for _ in range(MOST_TAGS):
        kind, text = read_object(number, store) or (b"", b"")
        if kind == b"commit":
            return number
        tagged = _TAGGED.match(text) if kind == b"tag" else None
        if tagged is None:
            break
        number = tagged[1].decode()
    raise TooMuch


class _Histories(NamedTuple):
    """A folder of objects, and the numbers of commits whose parents it lacks. ``of`` raises ``TooMuch``."""

    store: str
    ends: frozenset[str]

    @classmethod
    def of(cls, repository: Repository) -> _Histories:
        return cls(f"{repository.shared}/objects", shallow_ends(f"{repository.shared}/shallow"))

    def at(self, number: str) -> Commit:
        found = read_commit(number, self.store)
        return found._replace(parents=()) if number in self.ends else found


def _up(number: str, sign: str, count: int, histories: _Histories) -> str:
    """The parent of this place, or so many commits up by the first parent of each; an empty text behind the first
    commit."""
    if count > _MOST_STEPS:
        raise TooMuch
    if sign == "^":
        parents = (number, *histories.at(number).parents)
        return parents[count] if count < len(parents) else ""
    for _ in range(count):
        parents = histories.at(number).parents
        if not parents:
            return ""
        number = parents[0]
    return number


def _meet(one: str, other: str, histories: _Histories) -> list[str]:
    """The commits where two histories meet, and maybe some before these: git compares with one of them. As git walks
    (``commit-reach.c``, ``paint_down_to_common``): from the latest on, until only what lies behind such a commit is
    left."""
    marks = {one: 1}
    marks[other] = marks.get(other, 0) | 2
    waiting = [(-histories.at(each).date, each) for each in marks]
    heapq.heapify(waiting)
    met: dict[str, None] = {}
    walked = 0
    while any(not marks[each] & _STALE for _, each in waiting):
        walked += 1
        if walked > _MOST_WALKED:
            raise TooMuch
        _, number = heapq.heappop(waiting)
        mark = marks[number]
        if mark & (_BOTH | _STALE) == _BOTH:
            met[number] = None
            mark |= _STALE
        for parent in histories.at(number).parents:
            before = marks.get(parent, 0)
            if before | mark != before:
                marks[parent] = before | mark
                heapq.heappush(waiting, (-histories.at(parent).date, parent))
    return list(met)
