"""Subcommands of which a text says only a part: `docker r"$x"` and `yarn e*` may be `docker run` and `yarn exec`.

Words that may be anything count as ones that could become an option already; these begin with letters of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from countersign.gate.shell.languages.git import READ_HERE
from countersign.gate.shell.languages.git_options import CHANGING
from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.programs.subcommand_depth import DEPTH, GROUPS, VALUED
from countersign.gate.shell.programs.tables import FACETS, GIT, SUBCOMMANDS, TABLES, field_of
from countersign.gate.shell.syntax.tree import Word

_Key = tuple[str, ...]


def _all_keys() -> Iterable[_Key]:
    yield from TABLES
    yield from SUBCOMMANDS
    yield from GROUPS
    for facet in FACETS.values():
        yield from facet
    yield from ((key[0], word) for key, words in field_of("outputs", "filled_by").items() for word in words.split())
    for name in READ_HERE:
        yield from ((name, subcommand) for subcommand in GIT)
        yield from ((name, subcommand, word) for subcommand, words in CHANGING.items() for word in words)


def _by_front() -> Mapping[_Key, frozenset[str]]:
    found: dict[_Key, set[str]] = {}
    for key in _all_keys():
        for length in range(1, len(key)):
            found.setdefault(key[:length], set()).add(key[length])
    return {front: frozenset(words) for front, words in found.items()}


_BEHIND = _by_front()
"""The words that may follow a program's name and its first subcommands, as far as the tables know them."""


def takes_subcommands(name: str) -> bool:
    """Whether the first words of this program say what it does."""
    return (name,) in _BEHIND or name in DEPTH


def is_subcommand(name: str, *words: str | None) -> bool:
    """Whether the tables know the last of these words behind the program's name and the others."""
    return words[-1] in subcommands_of(name, *[word or "" for word in words[:-1]])


def subcommands_of(name: str, *words: str) -> frozenset[str]:
    """The words that the tables know behind the program's name and these."""
    return _BEHIND.get((name, *words), frozenset())


def begun_by(word: str, name: str, *words: str) -> Sequence[str]:
    """Return the words behind the program's name and these that a program which takes the beginning of a subcommand for
    its name may take this word for, sorted: of each part between colons (``d:r`` for ``dbal:run-sql``)."""
    return [each for each in _by_first_letter((name, *words)).get(word[:1], ()) if _begins(word, each)]


def _begins(word: str, name: str) -> bool:
    parts, whole = word.split(":"), name.split(":")
    return len(parts) <= len(whole) and all(each.startswith(part) for part, each in zip(parts, whole, strict=False))


@lru_cache(maxsize=1000)
def _by_first_letter(front: _Key) -> Mapping[str, Sequence[str]]:
    names = sorted(_BEHIND.get(front, ()))
    found: dict[str, list[str]] = {":": names}  # an empty part begins any
    for name in names:
        found.setdefault(name[:1], []).append(name)
    return found


def may_be_subcommand(name: str, words: Sequence[Word], arguments: Arguments) -> Word | None:
    """Return the first word of this program that is not constant and may be one of its subcommands."""
    front: _Key = (name,)
    if front not in _BEHIND:
        return None
    values = _option_values(arguments)
    for index, (before, word) in enumerate(pairwise(words), 1):
        if word.form == "quoted" and (index in values or before.value in VALUED.get(name, ())):
            continue
        if word.value is not None:
            if (*front, word.value) in _BEHIND:
                front = (*front, word.value)
            elif word.value[:1] not in {"-", "+"} and before.prefix[:1] != "-":
                return None  # an operand
        elif word.choices:
            return word if not _BEHIND[front].isdisjoint(word.choices) else None
        elif word.prefix[:1] != "-":
            begins = word.prefix
            return word if any(each != begins and each.startswith(begins) for each in _BEHIND[front]) else None
    return None


def _option_values(arguments: Arguments) -> set[int]:
    """The places of words that are the values of the options in front of them."""
    behind = {option.index + 1 for option in arguments.options if option.value is not None and not option.attached}
    return behind.difference(index for index, _ in arguments.operands)
