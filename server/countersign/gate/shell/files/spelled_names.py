"""Whether a pathname pattern could spell one of the names that are secret or protected.

A name may hold NULs: alone for any name, in front for any stem (``"\\x00.pem"``).
"""

from __future__ import annotations

from functools import lru_cache

from countersign.gate.patterns import glob_segment, tokens_match


@lru_cache(maxsize=1024)
def first_spelled(pattern: str, names: tuple[str, ...]) -> str | None:
    """The first of these names that the last parts of a pattern could spell while they say something of it."""
    return next((name for name in names if _could_match(pattern, name)), None)


def _could_match(pattern: str, name: str) -> bool:
    parts, names = [part for part in pattern.split("/") if part not in {"", "."}], name.split("/")
    if len(parts) < len(names):
        return False
    last = parts[-len(names) :]
    return all(_part_matches(part, one) for part, one in zip(last, names, strict=True)) and any(
        glob_segment(part).says_something for part in last
    )


def _part_matches(part: str, name: str) -> bool:
    if name == "\x00":
        return True
    segment = glob_segment(part)
    if name.startswith("\x00"):
        # Any stem: the pattern must allow a character that only a wildcard can stand for.
        return any_name_matches(part, name) and part not in {"*", "*.*"}
    return segment.says_something and segment.may_match_any_case(name)


def any_name_matches(part: str, name: str) -> bool:
    """Whether a segment may match a name in which a NUL stands for any stem, a leading dot like any character."""
    return tokens_match(glob_segment(part).tokens, name)


def segments_match(pattern: str, path: str) -> bool:
    """Whether an absolute pattern could spell this path, a leading dot never by a wildcard."""
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(
        name == "\x00" or glob_segment(part).may_match_any_case(name) for part, name in zip(parts, names, strict=True)
    )
