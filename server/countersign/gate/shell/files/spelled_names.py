"""Whether a pathname pattern could spell one of the names that are secret or protected.

A name may hold NULs: alone for any name, in front for any stem (``"\\x00.pem"``).
"""

from __future__ import annotations

from functools import lru_cache

from countersign.gate.paths.sensitive_paths import (
    PROTECTED,
    PROTECTED_ENDINGS,
    SECRET_FORMS,
    SECRET_IN_HOME,
    SECRET_SAMPLES,
    secret_name,
)
from countersign.gate.patterns import GlobSegment, glob_segment, parse_path, tokens_match
from countersign.gate.patterns.glob import ANY, REST, STAR, same_in_some_case

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
    if _may_hold(pattern, _SECRET_FOLDERS) or _may_hold(pattern, SECRET_SAMPLES, last=True):
        return True
    return secret_form(pattern.rstrip("/").rsplit("/", 1)[-1], dots=False, copies=True) is not None


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


@lru_cache(maxsize=2048)
def secret_form(part: str, *, dots: bool, copies: bool) -> str | None:
    """The name of a secret, with a NUL for any text, that a segment may match while it spells a part of what makes it
    one: that of ``.env.x`` for ``.e*.json``, nothing for ``*.json``. With ``dots`` a wildcard stands for a leading dot,
    too; with ``copies`` the copies of secrets count (``*.bak``)."""
    segment = glob_segment(part)
    if segment.literal is not None:
        return None if secret_name(segment.literal) is None else segment.literal
    if len(segment.tokens) > _LONGEST:
        return "\x00"
    harmless = part.lower().endswith((".example", ".sample", ".template"))
    for core, end, of_copy in SECRET_FORMS:
        if (of_copy and not copies) or (harmless and core == ".env"):
            continue
        if core[0] == "." and not dots and segment.tokens[:1] not in ((".",), (REST,)):
            continue
        if _ends_alike(segment, core + end) and _spells(
            segment, core + end, len(core) if end[-1:] == "\x00" else len(core + end)
        ):
            return core + end
    return None


def _ends_alike(segment: GlobSegment, form: str) -> bool:
    """Whether the first and the last character may be the same; quick."""
    pairs = ((segment.tokens[0], form[0]), (segment.tokens[-1], form[-1]))
    return all(char == "\x00" or token in (STAR, REST) or same_in_some_case(token, char) for token, char in pairs)


_LONGEST = 80
"""Characters and wildcards of a pattern; a longer one may be any name."""

_SPELLED = 2
"""How many characters of what makes a name a secret a pattern must spell; a leading dot is enough."""

_NEUTRAL = "q"
"""A character that no name of a secret has: what a bracket that takes it says is next to nothing."""


def _spells(segment: GlobSegment, form: str, telling: int) -> bool:
    """Whether a name of this form may be matched so that enough of its first ``telling`` characters are spelled."""
    tokens = segment.tokens
    waiting = [(0, 0, 0)]
    seen = set(waiting)
    while waiting:
        at, position, spelled = waiting.pop()
        if tokens[at : at + 1] == (REST,):
            return True
        if at == len(tokens) and position == len(form):
            if spelled >= _SPELLED:
                return True
            continue
        token = tokens[at] if at < len(tokens) else None
        char = form[position] if position < len(form) else None
        steps: list[tuple[int, int, int]] = []
        if token == STAR:
            steps.append((at + 1, position, spelled))
            if char is not None:
                steps.append((at, position + 1, spelled))
        elif char == "\x00":
            steps.append((at, position + 1, spelled))
            if token is not None:
                steps.append((at + 1, position, spelled))
        elif token is not None and char is not None and same_in_some_case(token, char):
            says = position < telling and token != ANY and not same_in_some_case(token, _NEUTRAL)
            weight = _SPELLED if at == position == 0 and char == "." else 1
            steps.append((at + 1, position + 1, min(_SPELLED, spelled + weight) if says else spelled))
        for step in steps:
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    return False
