"""Pathspecs of git: ``:/x``, ``:(top,glob)x``, ``:!x``, ``src/*.py`` (``gitglossary``)."""

from __future__ import annotations

import re
from typing import NamedTuple

from countersign.gate.patterns import fold, wildcards_meet


class Pathspec(NamedTuple):
    """What a pathspec means. ``path`` is a file or folder; ``wild``: of those below it, what a pattern chooses.
    ``top``: it counts from the top of the repository. ``whole``: it may mean all that is tracked there. ``pattern`` is
    what names are compared with, in ``any_case``."""

    path: str
    top: bool = False
    wild: bool = False
    whole: bool = False
    pattern: str = ""
    any_case: bool = False


_WHOLE = Pathspec(".", top=True, whole=True)
_KNOWN_MAGIC = frozenset({"top", "literal", "icase", "glob", "exclude", ""})
_LONG = re.compile(r":\(([^)]*)\)(.*)", re.DOTALL)
_SHORT = re.compile(r":([/!^]*):?(.*)", re.DOTALL)
_WILDCARDS = re.compile(r"[*?\[\\]")


def read_pathspec(spec: str) -> Pathspec | None:
    """Return what the pathspec means; None for one that is a path and nothing else."""
    if spec.startswith(":"):
        long = _LONG.fullmatch(spec)
        short = _SHORT.fullmatch(spec)
        if long is not None:
            words, path = frozenset(long[1].split(",")), long[2]
        elif short is not None:
            words, path = frozenset({"/": "top"}.get(mark, "exclude") for mark in short[1]), short[2]
        else:
            return _WHOLE
        if not words <= _KNOWN_MAGIC or "exclude" in words or path in _ALL:
            # Alone, one that leaves something out means all the rest.
            return _WHOLE
        top, literal = "top" in words, "literal" in words
    else:
        words, path, top, literal = frozenset[str](), spec, False, False
        if not has_wildcard(path):
            return None
        if path in _ALL - {"", "."}:
            return Pathspec(".", whole=True)
    if "icase" in words:
        return Pathspec(".", top, wild=True, pattern=path, any_case=True)
    found = None if literal else _WILDCARDS.search(path)
    if found is None:
        return Pathspec(path, top)
    return Pathspec(path[: found.start()].rpartition("/")[0] or ".", top, wild=True, pattern=path)


def has_wildcard(text: str) -> bool:
    """Return whether git compares names with this text as a pattern: a backslash makes one of it as well."""
    return _WILDCARDS.search(text) is not None


def is_path(spec: str) -> bool:
    """Return whether the pathspec is a path and nothing else: it has no wildcard of git's and no magic."""
    return spec[:1] not in {"", ":"} and not has_wildcard(spec)


def fixed_texts(pattern: str) -> tuple[str, ...]:
    """Return the texts between what stands for other characters in a pattern of git's, each of which counts as any
    text. Its wildcards take slashes as well, and brackets hold them (``wildmatch.c``)."""
    return tuple(_GAPS.split(pattern))


def may_choose(pattern: str, path: str) -> bool:
    """Return whether a pattern of git's may choose a path, from whatever folder above it the pattern counts."""
    below = _TO_PARENTS.sub("", fold(pattern))
    if _DETOUR.search(below) is not None:
        return True
    texts = fixed_texts(below)
    parts = fold(path).split("/")
    ways = (texts, (*texts[:-1], f"{texts[-1].rstrip('/')}/", ""))
    ends = ("/".join(parts[at:]) for at in range(len(parts)))
    return any(wildcards_meet(way, (end,)) for end in ends for way in ways)


_TO_PARENTS = re.compile(r"\A/*(?:\.{1,2}/+)*")
_DETOUR = re.compile(r"//|/\.{1,2}(?:/|\Z)|\\")
"""A path in a pattern that is not spelled the shortest way, or with backslashes."""

_GAPS = re.compile(r"(?:(?<![^\\]/)/+)?\*\*+/*|\*|\?|\[[!^]?\]?(?:\[:\w*:\]|\\.|[^\]\\])*\]?|\\.?", re.DOTALL)


def leaves_out(spec: str) -> bool:
    """Return whether the pathspec does nothing but leave files out (``:!x``, ``:(top,exclude)x``).

    One whose magic is not known for certain does not: attributes have a ``!`` and commas of their own, and
    ``:(attr:!exclude)x`` names what has no such attribute.
    """
    return _LEFT_OUT.match(spec) is not None


_LEFT_OUT = re.compile(r":[!^]|:\((?:(?:top|literal|icase|glob),)*exclude(?:,(?:top|literal|icase|glob|exclude))*\)")

_ALL = frozenset({"", ".", "./", "*", "**", "./*", "**/*"})
