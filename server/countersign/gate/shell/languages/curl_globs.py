"""The names that curl makes of one: ``{a,b}``, ``[a]`` and ``[a-z]`` are patterns of its own, in what it sends too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.gate.shell.syntax.words import expand_braces

_RANGE = re.compile(r"\[(.)(?:-(.)(?::\d+)?)?\]")
_MOST_RANGES = 2


def curl_names(text: str) -> Iterator[str]:
    """Every name; of many ranges a secret's, since they may spell any."""
    try:
        names = expand_braces(text)
    except OverflowError:
        names = [".env"]
    for name in filter(None, names):
        if name.count("[") > _MOST_RANGES:
            yield ".env"
        else:
            yield from _of_ranges(name)


def _of_ranges(name: str) -> Iterator[str]:
    found = _RANGE.search(name)
    if found is None:
        yield name
        return
    for point in range(ord(found[1]), min(ord(found[2] or found[1]), 127) + 1):
        yield from _of_ranges(name[: found.start()] + chr(point) + name[found.end() :])
