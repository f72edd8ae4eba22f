"""Whether a pathname pattern could spell one of the names that are secret or protected.

A name may hold NULs: alone for any name, in front for any stem (``"\\x00.pem"``).
"""

from __future__ import annotations

from functools import lru_cache

from countersign.gate.paths.sensitive_paths import PROTECTED, PROTECTED_ENDINGS, SECRET_IN_HOME, SECRET_SAMPLES
from countersign.gate.patterns import glob_segment, parse_path, tokens_match

_SECRET_FOLDERS = tuple("/".join(names) for names in SECRET_IN_HOME)
_PROTECTED_ANYWHERE = (*("/".join(names) for names in PROTECTED), *(f"\x00{ending}" for ending in PROTECTED_ENDINGS))


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


@lru_cache(maxsize=1024)
def may_be_secret(pattern: str) -> bool:
    """Whether a pattern may match a secret in a folder of which nothing is known."""
    return _may_hold(pattern, _SECRET_FOLDERS) or _may_hold(pattern, SECRET_SAMPLES, last=True)


@lru_cache(maxsize=1024)
def may_be_protected(pattern: str) -> bool:
    """The same for a protected name, or what lies below one."""
    return _may_hold(pattern, _PROTECTED_ANYWHERE)


def _may_hold(pattern: str, names: tuple[str, ...], *, last: bool = False) -> bool:
    """Whether consecutive parts of a pattern (with ``last`` the last ones), one with a wildcard among them, may match
    one of these names."""
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    for name in names:
        spelled = name.split("/")
        most = len(parts) - len(spelled) + 1
        for at in range(max(0, most - 1) if last else 0, most):
            window = parts[at : at + len(spelled)]
            if any(glob_segment(part).literal is None for part in window) and all(map(_may_be_name, window, spelled)):
                return True
    return False


def _may_be_name(part: str, name: str) -> bool:
    if not name.startswith("\x00"):
        return glob_segment(part).may_match_any_case(name)
    return parse_path(f"**/*{name[1:]}").may_touch((part,))


def any_name_matches(part: str, name: str) -> bool:
    """Whether a segment may match a name in which a NUL stands for any stem, a leading dot like any character."""
    return tokens_match(glob_segment(part).tokens, name)


def may_be_any_name(part: str, name: str) -> bool:
    """Whether a segment may match a name in which a NUL stands for any stem, by a wildcard or by spelling the stem out;
    a leading dot is like any character."""
    return any_name_matches(part, name) or _may_be_name(part, name)


def segments_match(pattern: str, path: str) -> bool:
    """Whether an absolute pattern could spell this path, a leading dot never by a wildcard."""
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(
        name == "\x00" or glob_segment(part).may_match_any_case(name) for part, name in zip(parts, names, strict=True)
    )
