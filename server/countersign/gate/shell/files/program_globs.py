"""Patterns that a program expands itself: braces and groups (``*.{js,ts}``, ``+(a|b)``, ``!(x)``), beside bash's own.

Each is spelled out as patterns without groups, which the rest of the gate compares with names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from countersign.gate.paths.sensitive_paths import SECRET_SAMPLES
from countersign.gate.shell.files.spelled_names import may_be_any_name, secret_form

_GROUP = re.compile(r"\\.|\[[^\]/]{0,400}\]|([?*+@!]?)([({])", re.DOTALL)
_PARTS = re.compile(r"\\.|[,|({})]", re.DOTALL)
_CLOSING = {"{": "}", "(": ")"}
_BETWEEN = {"{": ",", "(": "|"}
_MOST = 200
_LONGEST = 400
_REPEATED = 8
"""How often a group may stand for one of its characters; names of secrets have no longer beginning or ending."""


def has_groups(text: str) -> bool:
    """Return whether a text may hold braces or a group."""
    return "{" in text or "(" in text


@lru_cache(maxsize=1024)
def without_groups(pattern: str) -> tuple[str, ...]:
    """Return patterns without groups that together match at least what this one does. Where they would be too many, it
    is one for any name; a text with blanks, quotes or colons then stands for itself."""
    found, waiting = dict[str, None](), [pattern]
    while waiting and len(pattern) <= _LONGEST:
        text = waiting.pop()
        made = _first_spelled_out(text)
        if made is None:
            found[text] = None
        else:
            waiting += made
        if len(found) + len(waiting) > _MOST:
            break
    if found and not waiting:
        return tuple(found)
    return (pattern,) if _CODE.search(pattern) else (ANY_NAME,)


ANY_NAME = "*[!=]"
"""A pattern that says nothing of a name, but counts as one that does."""

_CODE = re.compile(r"[\s\"':;=$<>]")


def _first_spelled_out(text: str) -> list[str] | None:
    """The pattern with each choice of its first group in the place of that; None if it has none."""
    start = next((found for found in _GROUP.finditer(text) if found[2]), None)
    while start is not None:
        opening = start[2]
        choices, end = _choices(text, start.end(), opening)
        if choices:
            # In front of a brace these characters are not part of it.
            mark = start[1] if opening == "(" else ""
            front = text[: start.start()] + (start[1] if opening == "{" else "")
            return [front + each + text[end:] for each in _spelled_out(mark, choices)]
        start = next((found for found in _GROUP.finditer(text, start.end()) if found[2]), None)
    return None


def _choices(text: str, start: int, opening: str) -> tuple[list[str], int]:
    """What stands in a group for choice, and where it ends; nothing if it has no end."""
    choices, begun, ends = list[str](), start, [_CLOSING[opening]]
    for found in _PARTS.finditer(text, start):
        sign = found[0]
        if sign in _CLOSING:
            ends.append(_CLOSING[sign])
        elif sign == ends[-1]:
            ends.pop()
            if not ends:
                return [*choices, text[begun : found.start()]], found.end()
        elif len(ends) == 1 and sign == _BETWEEN[opening]:
            choices.append(text[begun : found.start()])
            begun = found.end()
    return [], start


def _spelled_out(mark: str, choices: list[str]) -> list[str]:
    if mark == "!" or any(_RANGE.fullmatch(each) for each in choices):
        return ["*"]
    if mark in {"*", "+"}:
        letters = "".join(sorted(set("".join(choices))))
        again = ["*"] if _SPECIAL.search(letters) else [f"[{letters}]" * times for times in range(1, _REPEATED + 1)]
        choices = [*choices, *(again if letters else [])]
    return [*choices, ""] if mark in {"*", "?"} else choices


_RANGE = re.compile(r"[^,]+\.\.[^,]+")
_SPECIAL = re.compile(r"[^\w.]")
"""What stands for itself in no list of characters, or for others in a pattern."""


def may_be_secret_glob(pattern: str) -> bool:
    """Return whether a pattern could match a secret, also one that matches every name."""
    last = [each.rstrip("/").rsplit("/", 1)[-1] for each in without_groups(pattern)]
    if any(may_be_any_name(each, name) for each in last for name in SECRET_SAMPLES):
        return True
    return any(secret_form(each, dots=True, copies=True) is not None for each in last)
