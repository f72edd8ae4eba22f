"""Which paths ``find ROOT… TEST…`` may print or give to a command, by the few tests that are certain.

What find lists is more than a list of words tells: it moves tests about to be faster, and programs of that name differ.
So only what every find takes alike counts: the names that a list of tests wants, that it wants plain files, how far
below it goes, and folders that it leaves out by an expression in front of all others, or by a path that it does not
want. Any other test may be true of any path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from countersign.gate.shell.languages.find import RUNS

Kind = Literal["file", "folder", "link"]


class Accepted(NamedTuple):
    """What holds of each path that some tests accept: its last name matches a pattern of each of ``names``, and it is a
    plain file where ``files``. It lies below no folder of ``skipped``, as in ``FindTests``."""

    names: tuple[tuple[str, ...], ...] = ()
    files: bool = False
    skipped: frozenset[str] = frozenset()

    def may_be(self, name: str, kind: Kind) -> bool:
        """Whether a path may be accepted that ends with this name."""
        if self.files and kind != "file":
            return False
        # What is not ASCII may be compared by a locale's own rules.
        plain = name.isascii() and "\n" not in name
        return not plain or all(any(_matches(pattern.split("*"), name) for pattern in each) for each in self.names)


class FindTests(NamedTuple):
    """``roots`` as they are written; ``accepted`` are the lists of tests, one of which each path meets that is given;
    ``skipped`` are names of folders that are not entered, with ``./`` in front where only those right below the root
    are not; ``deepest`` is how far below one find goes at most, None for any depth."""

    roots: tuple[str, ...]
    accepted: tuple[Accepted, ...]
    skipped: frozenset[str]
    deepest: int | None

    def may_give(self, name: str, kind: Kind) -> bool:
        """Whether a path below a root that ends with this name may be printed, or given to a command."""
        return any(each.may_be(name, kind) for each in self.accepted)

    def enters(self, name: str, *, top: bool) -> bool:
        """Whether find may go into a folder of this name, which lies right in a root where ``top``."""
        return name not in self.skipped and not (top and f"./{name}" in self.skipped)


def find_tests(words: Sequence[str]) -> FindTests | None:
    """Read the words behind the program's name, in which ``RUNS`` stands for each command; None where one is not
    known."""
    roots: list[str] = []
    rest = list(words)
    while rest and rest[0][:1] not in {"-", "!", "("} and rest[0] not in {")", ","}:
        roots.append(rest.pop(0))
    depths = [value for option, value in pairwise(rest) if option == "-maxdepth"]
    if not all(re.fullmatch(r"\d{1,4}", value) for value in depths):
        return None
    reader = _Reader(rest, here=roots in ([], ["."]))
    try:
        found = reader.alternatives() if rest else [_List()]
    except _NotReadError:
        return None
    if reader.rest:
        return None
    # Above the least depth, and below a folder that comes last, nothing is pruned.
    prunes = _DISTURBS_PRUNING.isdisjoint(words)
    pruned: set[str] = set()
    for each in found:
        if each.pruned is None:
            break
        pruned |= each.pruned if prunes else set()
    acts = any(each.acts for each in found)
    accepted = tuple(each.accepted() for each in found if each.acts or not acts)
    skipped = frozenset.intersection(*(each.skipped for each in accepted)) if accepted else frozenset[str]()
    return FindTests(tuple(roots) or (".",), accepted, skipped | pruned, max(map(int, depths), default=None))


_DISTURBS_PRUNING = frozenset({"-mindepth", "-depth", "-d"})
_ACTIONS = frozenset({"-print", "-print0", RUNS})
_VALUED = frozenset("-iname -ipath -iwholename -size -mtime -mmin -ctime -atime -perm -user -newer -mindepth".split())
_ALONE = frozenset("-empty -readable -executable -xdev -mount -depth".split())
_PATHS = frozenset({"-path", "-wholename"})


class _NotReadError(Exception):
    """A word has no known meaning here."""


class _List:
    """One list of tests, all of which must be true, with the folders that it wants by their path. ``pruned`` are those
    that it surely leaves out, if that is all it does; ``unsure``: it has further tests. Behind an action no test
    counts."""

    def __init__(self) -> None:
        self.names: list[tuple[str, ...]] = []
        self.folders: set[str] = set()
        self.skipped: set[str] = set()
        self.files = self.unsure = self.acts = False
        self.pruned: set[str] | None = None

    def accepted(self) -> Accepted:
        named = [tuple(name.removeprefix("./") for name in self.folders)] if self.folders else []
        return Accepted((*self.names, *named), self.files, frozenset(self.skipped))


class _Reader:
    def __init__(self, words: Sequence[str], *, here: bool) -> None:
        self.rest = list(words)
        self._here = here
        self._depth = 0

    def alternatives(self) -> list[_List]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _NotReadError
        found = [self._list()]
        while self.rest[:1] in (["-o"], ["-or"]):
            self._next()
            found.append(self._list())
        self._depth -= 1
        return found

    def _list(self) -> _List:
        found = _List()
        self._term(found)
        while self.rest and self.rest[0] not in {"-o", "-or", ")"}:
            if self.rest[0] in {"-a", "-and"}:
                self._next()
            self._term(found)
        return found

    def _next(self) -> str:
        if not self.rest:
            raise _NotReadError
        return self.rest.pop(0)

    def _value(self) -> str:
        """What a test is about. It is not read where it is called like a test or an action itself."""
        value = self._next()
        if value == RUNS or (value[:1] == "-" and not value[1:2].isdigit()):
            raise _NotReadError
        return value

    def _term(self, found: _List) -> None:
        negated = 0
        while self.rest[:1] in (["!"], ["-not"]):
            self._next()
            negated += 1
        word = self._next()
        if word in _ACTIONS or word == "-prune":
            if negated:
                raise _NotReadError
            self._act(word, found)
        elif word in _PATHS:
            self._path(self._value(), found, negated=negated)
        else:
            # What must not be, and what stands behind an action, says nothing of the paths that are given.
            counts = not negated and not found.acts
            self._test(word, found if counts else _List())
            found.unsure = found.unsure or not counts

    def _test(self, word: str, found: _List) -> None:
        if word == "(":
            self._group(found)
        elif word == "-name":
            pattern = self._value()
            if pattern.isascii() and not _STRANGE.search(pattern):
                found.names.append((pattern,))
            else:
                found.unsure = True
        elif word == "-type":
            letters = self._value()
            found.files = found.files or letters == "f"
            found.unsure = found.unsure or letters not in {"f", "d"}
        elif word == "-maxdepth":
            self._value()
        elif word in _VALUED or word in _ALONE:
            found.unsure = True
            if word in _VALUED:
                self._value()
        else:
            raise _NotReadError

    def _act(self, word: str, found: _List) -> None:
        if word != "-prune":
            found.acts = True
        elif found.acts or self._depth > 1 or self.rest[:1] not in (["-o"], ["-or"]):
            raise _NotReadError  # a test behind it may be moved in front of it
        elif found.unsure or found.files or found.skipped or len(found.names) + len(found.folders) != 1:
            found.pruned = set()
        else:
            found.pruned = {name for each in found.names for name in each if _PLAIN.fullmatch(name)} | found.folders

    def _group(self, found: _List) -> None:
        """Alternatives in parentheses. Of these, only names count."""
        inside = self.alternatives()
        if self._next() != ")" or any(each.acts or each.pruned is not None for each in inside):
            raise _NotReadError
        if all(each.names for each in inside):
            found.names.append(tuple(pattern for each in inside for pattern in each.names[0]))
        found.unsure = found.unsure or any(
            each.unsure or each.files or each.folders or each.skipped or len(each.names) != 1 for each in inside
        )

    def _path(self, pattern: str, found: _List, *, negated: int) -> None:
        place = _BELOW.fullmatch(pattern)
        if place is None or found.acts or negated > 1 or (place["top"] and not self._here):
            found.unsure = True
        elif bool(negated) == bool(place["all"]):
            (found.skipped if negated else found.folders).add(f"./{place['name']}" if place["top"] else place["name"])
        else:
            found.unsure = True


_BELOW = re.compile(r"(?:(?P<top>\.)|\*)/(?P<name>[\w.-]+)(?P<all>/\*)?", re.ASCII)
"""``*/NAME/*`` for what lies below any folder of that name, ``./NAME`` for one that lies right here."""
_PLAIN = re.compile(r"[\w.-]+", re.ASCII)
_DEEPEST = 20
_STRANGE = re.compile(r"[?\[\]\\]")


def _matches(parts: Sequence[str], text: str) -> bool:
    """Whether a text consists of these parts and anything between them."""
    if len(parts) == 1:
        return text == parts[0]
    first, *middle, last = parts
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
