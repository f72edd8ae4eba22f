"""The names that curl makes of one: ``{a,b}``, ``[a]`` and ``[a-z]`` are patterns of its own, in what it sends too. And
which file an address of this machine (``file:``) is.

Unlike bash, curl reads ``{a}`` as a list as well, and nests none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

_RANGE = re.compile(r"\[(.)(?:-(.)(?::\d+)?)?\]")
_LIST = re.compile(r"\{([^{}]*)\}")
_MOST_RANGES = 2
_MOST_NAMES = 200


def has_globs(text: str) -> bool:
    """Return true if curl may make other names of this text."""
    return "{" in text or "[" in text


def curl_names(text: str) -> Iterator[str | None]:
    """Yield every name; None where they are too many to list."""
    names = [text]
    while any(_LIST.search(name) for name in names):
        if len(names) > _MOST_NAMES:
            yield None
            return
        names = [made for name in names for made in _of_list(name)]
    for name in filter(None, names):
        if name.count("[") > _MOST_RANGES:
            yield None
        else:
            yield from _of_ranges(name)


def _of_list(name: str) -> list[str]:
    found = _LIST.search(name)
    if found is None:
        return [name]
    return [name[: found.start()] + each + name[found.end() :] for each in found[1].split(",")]


def _of_ranges(name: str) -> Iterator[str]:
    found = _RANGE.search(name)
    if found is None:
        yield name
        return
    for point in range(ord(found[1]), min(ord(found[2] or found[1]), 127) + 1):
        yield from _of_ranges(name[: found.start()] + chr(point) + name[found.end() :])


def is_local(beginning: str) -> bool:
    """Return true if an address that begins like this is a file of this machine."""
    return beginning.lower().startswith("file:")


def may_be_local(address: str | None, beginning: str) -> bool:
    """Return true if an address, None if only its beginning is known, may be a file of this machine."""
    return is_local(beginning) or (address is None and "file:".startswith(beginning.lower()))


def local_path(address: str) -> str:
    """The address of a file without its scheme and machine."""
    return _SCHEME.sub("", address)


def local_files(text: str) -> Iterator[str | None]:
    """Yield the files that curl's own patterns name, as it may spell each; None where they are too many to list."""
    for name in curl_names(text):
        if name is None:
            yield None
            continue
        # What stands behind `?` and `#` in the address of a file is no part of its name.
        yield from dict.fromkeys((name, *map(unquote, (name, without_query(name)))))


def without_query(text: str) -> str:
    """An address without what stands behind ``?`` and ``#``."""
    return _QUERY.sub("", text)


_QUERY = re.compile(r"[?#].*", re.DOTALL)
_SCHEME = re.compile(r"(?i)^file:(?://[^/]*)?")
