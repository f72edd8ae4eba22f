"""One path in all its spellings: as given, lexically normalised, and as the kernel would follow it.

Reads links and kinds, opens nothing. What is not there yet is resolved lexically; what cannot be resolved says why.
Where a path lies and what may be done with it is ``path_judge.py``'s business.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import Literal, NamedTuple

from countersign.gate.paths.sensitive_paths import DEVICE_EXEMPT, DEVICE_TREES
from countersign.gate.patterns import fold
from countersign.gate.probes import disk
from countersign.gate.probes.hidden_characters import hidden_character

Kind = Literal["file", "folder", "missing", "special", "unknown"]

PATH_BYTES = 4095
_NAME_BYTES = 255
MOST_PARTS = 256
"""Folders on the way of one path, each of which is looked at and compared with every rule."""
_LINKS = 40
"""Limits of the kernels we run on; a path beyond them cannot name a file."""
_SHORT = re.compile(r"[^.]{1,7}~[0-9]{1,6}(?:\.[^.]{0,3})?")
"""How the file systems of Windows shorten a name (`VSCODE~1`), shared folders and disks that are mounted included."""


class Resolved(NamedTuple):
    """A path in all its spellings. All are absolute and hold no ``.``, ``..`` or doubled slash.

    ``resolved`` is None where it cannot be resolved. ``between`` are the spellings met on the way, one for each link.
    ``refused`` says why the path may not be used at all (P5), ``unclear`` why it must be asked for (P6). ``links`` is
    the number of names that a file has. ``passed`` are the places on the way where a link stands, and those that ``..``
    leaves.
    """

    given: str
    lexical: str
    resolved: str | None
    between: tuple[str, ...] = ()
    refused: str | None = None
    unclear: str | None = None
    kind: Kind = "missing"
    links: int = 1
    passed: tuple[str, ...] = ()

    def spellings(self) -> tuple[str, ...]:
        """Every spelling once, the lexical one first."""
        found = dict.fromkeys((self.lexical, *self.between))
        if self.resolved is not None:
            found[self.resolved] = None
        return tuple(found)


def resolve(
    path: str,
    *,
    cwd: str,
    home: str,
    straight: str | None = None,
    opened: str = "/",
    walked: dict[str, Walk] | None = None,
) -> Resolved:
    """Resolve a literal path (P5: only a leading ``~/`` is expanded) relative to the absolute ``cwd``. Never raises.

    ``straight`` is a folder that is known to be one, with no link on the way to it: what leads there is not looked at
    once more. ``opened`` is the folder that a person opened: invisible characters in its own name (an emoji may have
    them) refuse nothing. ``walked`` keeps the ways to the folders of paths, so that each is gone once; it is filled
    here.
    """
    refused = _refused(path, opened)
    if refused is not None:
        return Resolved(path, path, None, refused=refused, kind="unknown")
    expanded = f"{home}/{path[2:]}" if path.startswith("~/") else path
    absolute = expanded if expanded.startswith("/") else f"{cwd}/{expanded}"
    if absolute.count("/") > MOST_PARTS:
        reason = f"it has more than {MOST_PARTS} parts"
        return Resolved(path, absolute, None, refused=reason, kind="unknown")
    lexical = normalise(absolute)
    if _too_long(lexical, PATH_BYTES):
        return Resolved(path, lexical, None, refused="it is longer than a path can be", kind="unknown")
    walk = _walk(absolute, straight, {} if walked is None else walked)
    resolved = walk.follow()
    unclear = walk.unclear or _in_device_tree((lexical, *walk.between, resolved or lexical))
    if resolved is not None and unclear is None and walk.kind == "special":
        unclear = "it is no ordinary file"
    # Where no link was followed, such a name comes from the workspace or the home, which the person opened.
    hidden = hidden_character(_below(resolved, opened)) if resolved is not None and resolved != lexical else None
    if hidden is not None:
        unclear = unclear or f"a link leads to a name that contains {hidden}, an invisible or misleading character"
    if resolved is not None and _too_long(resolved, PATH_BYTES):
        resolved, unclear = None, "it is longer than a path can be"
    passed = tuple(walk.passed)
    return Resolved(path, lexical, resolved, tuple(walk.between), None, unclear, walk.kind, walk.links, passed)


def resolve_ordinary(path: str, straight: str, folders: set[str]) -> Resolved | None:
    """The same for an ordinary path (``ordinary_names.py``) below such a folder, as long as there is no link on the way
    and nothing strange at its end; else None. ``folders`` are those that were met on such ways already."""
    above, _, last = path.rpartition("/")
    here = f"{straight}/{above}" if above else straight
    if above and here not in folders:
        here = straight
        for part in above.split("/"):
            here = f"{here}/{part}"
            found = disk.path_stat(here)
            if found in disk.MISSING:
                whole = f"{straight}/{path}"  # below what is not there nothing stands
                return Resolved(path, whole, whole)
            if isinstance(found, int) or _KINDS.get(found.kind) is None:
                return None
        folders.add(here)
    here = f"{here}/{last}"
    found = disk.path_stat(here)
    if isinstance(found, int):
        return Resolved(path, here, here) if found in disk.MISSING else None
    kind = _KINDS.get(found.kind)
    return None if kind is None else Resolved(path, here, here, (), None, None, kind, found.names)


def normalise(absolute: str) -> str:
    """Take ``.``, ``..`` and doubled slashes out by the text alone."""
    parts: list[str] = []
    for part in absolute.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _below(path: str, folder: str) -> str:
    """The part of a path below a folder; the whole path where it does not lie there."""
    return path.removeprefix(folder.rstrip("/") + "/")


def _refused(path: str, opened: str) -> str | None:
    if not path:
        return "it is empty"
    hidden = hidden_character(_below(path, opened))
    if hidden is not None:
        return f"it contains {hidden}, an invisible or misleading character"
    if _too_long(path, _NAME_BYTES) and any(_too_long(part, _NAME_BYTES) for part in path.split("/")):
        return "a part of it is longer than a name can be"
    return "it is longer than a path can be" if _too_long(path, PATH_BYTES) else None


def _too_long(text: str, most: int) -> bool:
    # A character has four bytes at most.
    return len(text) * 4 > most and len(os.fsencode(text)) > most


def _in_device_tree(spellings: tuple[str, ...]) -> str | None:
    for spelling in dict.fromkeys(spellings):
        for tree in DEVICE_TREES:
            if (
                spelling.startswith(tree)
                and _under(spelling, tree)
                and not any(_under(spelling, exempt) for exempt in DEVICE_EXEMPT)
            ):
                return f"it goes through {tree}, where names change their meaning"
    return None


def _is_listed(path: str) -> bool:
    """Whether a name is among those that its folder lists, in any case. What is there and not listed goes by another
    name that rules and lists know."""
    folder, _, name = path.rpartition("/")
    return any(fold(each) == fold(name) for each in disk.names_in(folder or "/"))


def _under(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


def _walk(absolute: str, straight: str | None, walked: dict[str, Walk]) -> Walk:
    """The walk along a path, as far as its folder, whose own is kept, where the last part is a plain name."""
    folder, _, last = absolute.rpartition("/")
    if not folder or last in ("", ".", ".."):
        return Walk(absolute, straight)
    above = walked.get(folder)
    if above is None:
        above = walked[folder] = Walk(folder, straight)
        above.follow()
    return above.to(last)


class Walk:
    """Follows one path part by part, as the kernel would; keeps what it met on the way."""

    __slots__ = ("between", "hops", "kind", "links", "missing", "passed", "real", "todo", "unclear")

    def __init__(self, absolute: str, straight: str | None) -> None:
        self.real: list[str] = []
        if straight is not None and absolute.startswith(straight) and absolute[len(straight) :][:1] in ("", "/"):
            self.real = straight[1:].split("/")
            absolute = absolute[len(straight) :]
        self.todo = absolute.split("/")[::-1]
        self.between: list[str] = []
        self.passed: list[str] = []
        self.unclear: str | None = None
        self.kind: Kind = "folder"
        self.links = 1
        self.hops = 0
        self.missing: int | None = None
        """How many parts of ``real`` lead to the first that is not there."""

    def to(self, name: str) -> Walk:
        """The walk to a name in the folder that this one, which was followed, leads to."""
        further = object.__new__(Walk)
        further.real, further.passed, further.todo = self.real.copy(), self.passed.copy(), [name]
        further.between = [f"{each.rstrip('/')}/{name}" for each in self.between]
        further.unclear, further.kind, further.links, further.hops = self.unclear, self.kind, self.links, self.hops
        further.missing = self.missing
        return further

    def follow(self) -> str | None:
        """Where the path leads, or None where that cannot be said."""
        if self.kind == "unknown":
            return None
        while self.todo:
            part = self.todo.pop()
            if part in ("", "."):
                continue
            if self.missing is not None and len(self.real) < self.missing:
                self.missing = None
            if part == "..":
                self.passed.append("/" + "/".join(self.real))
                del self.real[-1:]
                self.kind = "folder"
                continue
            if self.missing is not None:
                self.real.append(part)  # nothing exists below a missing part
                self.kind, self.links = "missing", 1
                continue
            here = "/" + "/".join([*self.real, part])
            found = disk.path_stat(here)
            if isinstance(found, int):
                if found not in disk.MISSING:
                    return self._lost(f"it cannot be read ({_told(found)})")
                self.kind, self.links = "missing", 1
                self.real.append(part)
                self.missing = len(self.real)
                continue
            if _SHORT.fullmatch(part) is not None and not disk.combined(_is_listed, here):
                self.unclear = "it goes by a short name that the file system has for a longer one"
            if found.kind != stat.S_IFLNK:
                self._stand(part, found)
                continue
            self.hops += 1
            if self.hops > _LINKS:
                return self._lost("its links go round in a circle")
            self.passed.append(here)
            self.between.append(normalise("/".join([here, *self.todo[::-1]])))
            target = disk.link_target(here)
            if isinstance(target, int):
                return self._lost(f"a link cannot be read ({_told(target)})")
            if target.startswith("/"):
                self.real = []
            self.todo += target.split("/")[::-1]
        return "/" + "/".join(self.real)

    def _lost(self, why: str) -> None:
        self.unclear, self.kind = why, "unknown"

    def _stand(self, part: str, found: disk.PathStat) -> None:
        self.real.append(part)
        self.kind, self.links = _KINDS.get(found.kind, "special"), found.names


_KINDS: dict[int, Kind] = {stat.S_IFDIR: "folder", stat.S_IFREG: "file"}


def _told(number: int) -> str:
    return "no path" if number == errno.EINVAL else os.strerror(number).lower()
