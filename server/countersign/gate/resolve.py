"""One path in all its spellings: as given, lexically normalised, and as the kernel would follow it.

Reads links and kinds, opens nothing. What is not there yet is resolved lexically; what cannot be resolved says why.
Where a path lies and what may be done with it is ``paths.py``'s business.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import Literal

from .characters import hidden_character
from .protected import DEVICE_EXEMPT, DEVICE_TREES

Kind = Literal["file", "folder", "missing", "special", "unknown"]

_PATH_BYTES = 4095
_NAME_BYTES = 255
_LINKS = 40
"""Limits of the kernels we run on; a path beyond them cannot name a file."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A path in all its spellings. All are absolute and hold no ``.``, ``..`` or doubled slash.

    ``resolved`` is None where it cannot be resolved. ``between`` are the spellings met on the way, one for each link.
    ``refused`` says why the path may not be used at all (P5), ``unclear`` why it must be asked for (P6). ``links`` is
    the number of names that a file has.
    """

    given: str
    lexical: str
    resolved: str | None
    between: tuple[str, ...] = ()
    refused: str | None = None
    unclear: str | None = None
    kind: Kind = "missing"
    links: int = 1

    def spellings(self) -> tuple[str, ...]:
        """Every spelling once, the lexical one first."""
        found = dict.fromkeys((self.lexical, *self.between))
        if self.resolved is not None:
            found[self.resolved] = None
        return tuple(found)


def resolve(path: str, *, cwd: str, home: str) -> Resolved:
    """Resolve a literal path (P5: only a leading ``~/`` is expanded) relative to the absolute ``cwd``. Never raises."""
    refused = _refused(path)
    if refused is not None:
        return Resolved(path, path, None, refused=refused, kind="unknown")
    expanded = f"{home}/{path[2:]}" if path.startswith("~/") else path
    absolute = expanded if expanded.startswith("/") else f"{cwd}/{expanded}"
    lexical = normalise(absolute)
    if len(os.fsencode(lexical)) > _PATH_BYTES:
        return Resolved(path, lexical, None, refused="it is longer than a path can be", kind="unknown")
    walk = _Walk(absolute)
    resolved = walk.follow()
    unclear = walk.unclear or _in_device_tree((lexical, *walk.between, resolved or lexical))
    if resolved is not None and unclear is None and walk.kind == "special":
        unclear = "it is no ordinary file"
    # Where no link was followed, such a name comes from the workspace or the home, which the person opened.
    hidden = hidden_character(resolved) if resolved not in (None, lexical) else None
    if hidden is not None:
        unclear = unclear or f"a link leads to a name that holds {hidden}, which is not shown as what it is"
    if resolved is not None and len(os.fsencode(resolved)) > _PATH_BYTES:
        resolved, unclear = None, "it is longer than a path can be"
    return Resolved(path, lexical, resolved, tuple(walk.between), None, unclear, walk.kind, walk.links)


def normalise(absolute: str) -> str:
    """Take ``.``, ``..`` and doubled slashes out by the text alone."""
    parts: list[str] = []
    for part in absolute.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _refused(path: str) -> str | None:
    if not path:
        return "it is empty"
    hidden = hidden_character(path)
    if hidden is not None:
        return f"it holds {hidden}, which is not shown as what it is"
    if any(len(os.fsencode(part)) > _NAME_BYTES for part in path.split("/")):
        return "a part of it is longer than a name can be"
    return "it is longer than a path can be" if len(os.fsencode(path)) > _PATH_BYTES else None


def _in_device_tree(spellings: tuple[str, ...]) -> str | None:
    for spelling in spellings:
        for tree in DEVICE_TREES:
            if _under(spelling, tree) and not any(_under(spelling, exempt) for exempt in DEVICE_EXEMPT):
                return f"it goes through {tree}, where names change their meaning"
    return None


def _under(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


class _Walk:
    """Follows one path part by part, as the kernel would; keeps what it met on the way."""

    __slots__ = ("between", "kind", "links", "real", "todo", "unclear")

    def __init__(self, absolute: str) -> None:
        self.todo = absolute.split("/")[::-1]
        self.real: list[str] = []
        self.between: list[str] = []
        self.unclear: str | None = None
        self.kind: Kind = "folder"
        self.links = 1

    def follow(self) -> str | None:
        hops = 0
        while self.todo:
            part = self.todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                del self.real[-1:]
                self.kind = "folder"
                continue
            here = "/" + "/".join([*self.real, part])
            try:
                found = os.lstat(here)
            except ValueError:
                return self._lost("it cannot be a path")
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    return self._lost(f"it cannot be looked at ({_told(error)})")
                self.kind, self.links = "missing", 1
                self.real.append(part)
                continue
            if not stat.S_ISLNK(found.st_mode):
                self._stand(part, found)
                continue
            hops += 1
            if hops > _LINKS:
                return self._lost("its links go round in a circle")
            self.between.append(normalise("/".join([here, *self.todo[::-1]])))
            try:
                target = os.readlink(here)
            except OSError as error:
                return self._lost(f"a link cannot be read ({_told(error)})")
            if target.startswith("/"):
                self.real = []
            self.todo += target.split("/")[::-1]
        return "/" + "/".join(self.real)

    def _lost(self, why: str) -> None:
        self.unclear, self.kind = why, "unknown"

    def _stand(self, part: str, found: os.stat_result) -> None:
        self.real.append(part)
        if stat.S_ISDIR(found.st_mode):
            self.kind, self.links = "folder", 1
        elif stat.S_ISREG(found.st_mode):
            self.kind, self.links = "file", found.st_nlink
        else:
            self.kind, self.links = "special", found.st_nlink


def _told(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()
