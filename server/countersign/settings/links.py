"""Symlinks on the way to a settings file: which there are, and whether the file is still reached the same way.

A settings file behind a symlink can be taken away or exchanged without anybody touching its name. So a file's links
are kept with it: one that is reached another way than before, or no longer there, is not an edit by a person.
"""

from __future__ import annotations

import os

Links = tuple[tuple[str, str], ...]
"""Each symlink on the way, with its target as it is written."""

MOST_LINKS = 40
"""How many the kernel follows."""


def links_to(path: str | os.PathLike[str]) -> Links:
    """Every symlink on the way to an absolute path. One right under the root is the system's own and left out."""
    found: dict[str, str] = {}
    real: list[str] = []
    todo = os.path.abspath(path).split(os.sep)[::-1]
    while todo and len(found) < MOST_LINKS:
        part = todo.pop()
        if part in ("", os.curdir):
            continue
        if part == os.pardir:
            del real[-1:]
            continue
        here = os.sep + os.sep.join([*real, part])
        try:
            target = os.readlink(here)
        except (OSError, ValueError):
            real.append(part)
            continue
        if here in found:
            break
        if real:
            found[here] = target
        if os.path.isabs(target):
            real = []
        todo += target.split(os.sep)[::-1]
    return tuple(found.items())


def leads_nowhere(links: Links) -> bool:
    """Whether one of these symlinks has no target."""
    return any(not os.path.exists(link) for link, _ in links)
