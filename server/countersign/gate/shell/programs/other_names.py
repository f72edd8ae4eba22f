"""Other names of programs, under which the tables know them, and under which deny and ask rules mean them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from countersign.gate.shell.programs.tables import FACETS, TABLES, names_with

OTHER_NAMES: Mapping[str, str] = {other: key[0] for key, others in FACETS["also"].items() for other in others.split()}
"""Other names of the same programs, as far as their options agree."""

_SURE_NAMES = frozenset(name for names in FACETS["surely"].values() for name in names.split())
"""Those of them that no other program has."""


def surely_means(name: str, program: str) -> bool:
    """Return whether a program found under this name (without a folder) can only be that one: the name is its own, or
    no other program has it. A command that needs no rule must have such a name, since other programs are called ``gid``
    too; deny and ask rules go by every name."""
    return name == program or name in _SURE_NAMES


NAMES_LIKE: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), key[0]) for key, pattern in FACETS["named_like"].items()
)
"""Patterns of other names of the same programs."""


_IN_CAPITALS = frozenset(key[0] for key in TABLES if key[0] != key[0].lower())
"""Names that hold capitals by themselves (``Rscript``)."""


def plain_name(name: str) -> str:
    """A name in lower case, since macOS finds ``git`` as ``GIT`` too, and without the ending of Windows' programs,
    which Linux beside Windows runs as well. Never for what an allow rule covers or what needs no rule."""
    bare = _without_ending(name)
    return bare if bare in _IN_CAPITALS else bare.lower()


def _without_ending(name: str) -> str:
    return name[:-4] if len(name) > 4 and name[-4:].lower() == ".exe" else name


def with_other_names(names: frozenset[str]) -> frozenset[str]:
    """Return these programs' names with all other names of theirs."""
    return names | {other for other, name in OTHER_NAMES.items() if name in names}


def without_version(name: str) -> str:
    """The name of a program that is installed under names with a version as well (``python3.12``, ``gcc-13``)."""
    found = _VERSION.fullmatch(name)
    return found[1] if found is not None and found[1] in _VERSIONED_NAMES else name


_VERSION = re.compile(r"(.*?[a-z+])-?(\d[\d.]*)")

# --- for deny and ask rules only -------------------------------------------------------------------------------------

Likeness = Literal["same", "akin"]
"""Whether a name surely stands for the program that a rule names, or only may."""

_AKIN: Mapping[str, frozenset[str]] = {key[0]: frozenset(names.split()) for key, names in FACETS["akin"].items()}
"""Programs that do what another does, or a part of it."""

_FAMILY = {name: family for family, names in _AKIN.items() for name in names}


@lru_cache(maxsize=4096)
def family(name: str) -> str:
    """The name under which rules for a program, and for all that is called otherwise, are kept."""
    base = _known_as(plain_name(name))
    return _FAMILY.get(base, base)


def _known_as(name: str) -> str:
    base = without_version(name)
    return OTHER_NAMES.get(base, base)


_VERSIONED_NAMES = names_with("versioned")
"""Programs that are also installed with a version behind their name (``python3.11``)."""


def likeness(wanted: str, name: str) -> Likeness | None:
    """How surely a program of this name is the one that a rule names, both without folders; None if it is not."""
    in_case = _without_ending(wanted) == _without_ending(name)
    wanted, name = plain_name(wanted), plain_name(name)
    if wanted == name:
        return "same" if in_case else "akin"  # where case counts, it is another program
    if family(wanted) != family(name):
        return None
    own, other = _known_as(wanted), _known_as(name)
    if own != other and (own in _FAMILY or other in _FAMILY):
        return None if other not in _AKIN.get(own, ()) else "akin"
    theirs, ours = _version(name), _version(wanted)
    if not ours or theirs == ours or (theirs and theirs.startswith(f"{ours}.")):
        return "same"
    return "akin" if not theirs or ours.startswith(f"{theirs}.") else None


def _version(name: str) -> str:
    found = _VERSION.fullmatch(name)
    return found[2] if found is not None and found[1] in _VERSIONED_NAMES else ""


_AS_WORDS: Mapping[str, tuple[str, ...]] = {key[0]: tuple(words.split()) for key, words in FACETS["stands_for"].items()}


def as_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command whose program's name stands for a program and its subcommand (``git-push``)."""
    folder, slash, name = words[0].rpartition("/")
    spelled = _AS_WORDS.get(name)
    if spelled is None and name.startswith("git-") and re.fullmatch(r"git-[a-z-]+", name):
        spelled = ("git", name.removeprefix("git-"))
    return words if spelled is None else (f"{folder}{slash}{spelled[0]}", *spelled[1:], *words[1:])
