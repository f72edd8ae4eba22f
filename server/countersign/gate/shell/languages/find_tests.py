"""Which paths ``find ROOT… TEST…`` may print or give to a command, as far as its words tell.

Each test of a path is true, false or not known. What is not known may be either, so that a path counts unless it is
surely left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from countersign.gate.shell.languages.find import RUNS

Kind = Literal["file", "folder", "link"]


class FoundPath(NamedTuple):
    """A path as find prints it, its last name, and what it is."""

    printed: str
    name: str
    kind: Kind


class Answer(NamedTuple):
    """Whether a test may be true, and whether it may be false."""

    true: bool
    false: bool


class Seen:
    """What happens to one path: it may be ``given`` (printed, or handed to a command), and is surely ``pruned``."""

    def __init__(self) -> None:
        self.given = self.pruned = False


_Test = Callable[[FoundPath, Seen, bool], Answer]
"""The last argument says that the test is surely reached."""

_TRUE, _UNKNOWN = Answer(true=True, false=False), Answer(true=True, false=True)


class FindTests(NamedTuple):
    """``roots`` as they are written; ``deepest`` is how far below one find goes at most, None for any depth."""

    roots: tuple[str, ...]
    test: _Test
    acts: bool
    prunes: bool
    deepest: int | None

    def look(self, path: FoundPath) -> Seen:
        """Return what happens to this path."""
        seen = Seen()
        answer = self.test(path, seen, True)
        seen.given = seen.given or (answer.true and not self.acts)
        seen.pruned = seen.pruned and self.prunes
        return seen


def find_tests(words: Sequence[str]) -> FindTests | None:
    """Read the words behind the program's name, in which ``RUNS`` stands for each command; None where one is not
    known."""
    roots: list[str] = []
    rest = list(words)
    while rest and rest[0][:1] not in {"-", "!", "("} and rest[0] not in {")", ","}:
        roots.append(rest.pop(0))
    depths = [value for option, value in pairwise(rest) if option == "-maxdepth"]
    if "-prune" in words and not _DISTURBS_PRUNING.isdisjoint(words):
        return None  # above the least depth, and below a folder that comes last, nothing is left out
    if not all(re.fullmatch(r"\d{1,4}", value) for value in depths):
        return None
    reader = _Reader(rest, slash=any(root.endswith("/") for root in roots))
    try:
        test = reader.either() if rest else _always
    except _NotReadError:
        return None
    if reader.rest:
        return None
    return FindTests(
        tuple(roots) or (".",),
        test,
        acts=not _ACTIONS.isdisjoint(words),
        prunes="-depth" not in words,
        deepest=max(map(int, depths), default=None),
    )


_DISTURBS_PRUNING = frozenset({"-mindepth", "-depth", "-d"})
_ACTIONS = frozenset({"-print", "-print0", RUNS})
_UNSURE = frozenset("-size -mtime -mmin -ctime -atime -perm -user -newer".split())
_UNSURE_ALONE = frozenset("-empty -readable -executable".split())
_DEPTHS = frozenset({"-maxdepth", "-mindepth"})
_ALWAYS = frozenset("-xdev -mount -depth".split())


class _NotReadError(Exception):
    """A word has no known meaning here."""


class _Reader:
    def __init__(self, words: Sequence[str], *, slash: bool) -> None:
        self.rest = list(words)
        self._slash = slash
        self._depth = 0

    def either(self) -> _Test:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _NotReadError
        found = [self._all()]
        while self.rest[:1] in (["-o"], ["-or"]):
            self._next()
            found.append(self._all())
        self._depth -= 1
        return _any(found)

    def _all(self) -> _Test:
        found = [self._one()]
        while self.rest and self.rest[0] not in {"-o", "-or", ")"}:
            if self.rest[0] in {"-a", "-and"}:
                self._next()
            found.append(self._one())
        return _all(found)

    def _next(self) -> str:
        if not self.rest:
            raise _NotReadError
        return self.rest.pop(0)

    def _value(self) -> str:
        """What a test is about. It is not read where it is called like a test or an action itself."""
        value = self._next()
        if value[:1] == "-" and not value[1:2].isdigit():
            raise _NotReadError
        return value

    def _one(self) -> _Test:
        negated = False
        while self.rest[:1] in (["!"], ["-not"]):
            self._next()
            negated = not negated
        test = self._test(self._next())
        return _not(test) if negated else test

    def _test(self, word: str) -> _Test:
        if word == "(":
            inside = self.either()
            if self._next() != ")":
                raise _NotReadError
            return inside
        if word in _PATTERNS:
            whole, pattern = word not in {"-name", "-iname"}, self._value()
            if whole and self._slash and not pattern.startswith("*/"):
                return _not_known  # some print `src//x` for what is found in `src/`
            return _matching(pattern, whole=whole, folded=word.startswith("-i"))
        if word == "-type":
            return _of_type(self._value())
        if word in _UNSURE:
            self._value()
            return _not_known
        if word in _DEPTHS:
            self._value()
            return _always
        if word in _ALWAYS:
            return _always
        if word in _UNSURE_ALONE:
            return _not_known
        if word in {"-print", "-print0"}:
            return _given
        if word == RUNS:
            return _run
        if word == "-prune":
            return _pruned
        raise _NotReadError


_DEEPEST = 20
_PATTERNS = frozenset("-name -iname -path -ipath -wholename -iwholename".split())


def _any(tests: Sequence[_Test]) -> _Test:
    def test(path: FoundPath, seen: Seen, sure: bool) -> Answer:
        true, false = False, True
        for each in tests:
            found = each(path, seen, sure)
            true, false = true or found.true, false and found.false
            if not found.false:
                break
            sure = sure and not found.true
        return Answer(true, false)

    return tests[0] if len(tests) == 1 else test


def _all(tests: Sequence[_Test]) -> _Test:
    def test(path: FoundPath, seen: Seen, sure: bool) -> Answer:
        true, false = True, False
        for each in tests:
            found = each(path, seen, sure)
            true, false = true and found.true, false or found.false
            if not found.true:
                break
            sure = sure and not found.false
        return Answer(true, false)

    return tests[0] if len(tests) == 1 else test


def _not(inner: _Test) -> _Test:
    def test(path: FoundPath, seen: Seen, sure: bool) -> Answer:
        found = inner(path, seen, sure)
        return Answer(found.false, found.true)

    return test


def _always(path: FoundPath, seen: Seen, sure: bool) -> Answer:
    return _TRUE


def _not_known(path: FoundPath, seen: Seen, sure: bool) -> Answer:
    return _UNKNOWN


def _given(path: FoundPath, seen: Seen, sure: bool) -> Answer:
    seen.given = True
    return _TRUE


def _run(path: FoundPath, seen: Seen, sure: bool) -> Answer:
    seen.given = True
    return _UNKNOWN


def _pruned(path: FoundPath, seen: Seen, sure: bool) -> Answer:
    seen.pruned = seen.pruned or sure
    return _TRUE


def _of_type(letters: str) -> _Test:
    kind = _KINDS.get(letters)

    def test(path: FoundPath, seen: Seen, sure: bool) -> Answer:
        # What is neither a folder nor a link may be a special file.
        if kind is None or (path.kind == "file" and kind == "file"):
            return _UNKNOWN
        return Answer(path.kind == kind, path.kind != kind)

    return test


_KINDS: dict[str, Kind] = {"f": "file", "d": "folder", "l": "link"}


def _matching(pattern: str, *, whole: bool, folded: bool) -> _Test:
    """Wildcards are compared where they are stars alone; they match slashes and leading dots."""
    if not pattern.isascii() or _STRANGE.search(pattern):
        return _not_known
    exact, loose = pattern.split("*"), pattern.lower().split("*")

    def test(path: FoundPath, seen: Seen, sure: bool) -> Answer:
        text = path.printed if whole else path.name
        if not text.isascii() or "\n" in text:
            return _UNKNOWN
        lowered = text.lower()
        may = _matches(loose, lowered)
        return Answer(may, not (may if folded else _matches(exact, text)))

    return test


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
