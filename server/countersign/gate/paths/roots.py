"""Folders that paths are counted from, and the segments that paths fall into. Pure but for finding where a root lies.

A root counts in its lexical and in its resolved spelling: a workspace opened by a link is both
(docs/gate.md "Both spellings").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from countersign.gate.paths.resolve import normalise, resolve
from countersign.gate.paths.sensitive_paths import DEVICE_TREES, protected_in_home
from countersign.gate.patterns import fold, folded_segments
from countersign.gate.probes import disk
from countersign.gate.rules.subtree_index import Place

Segments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that paths are counted from, in its lexical and its resolved spelling."""

    spellings: tuple[str, ...]
    parts: tuple[Segments, ...]

    def relative(self, segments: Segments) -> Iterator[Segments]:
        """The segments below it, once for each of its spellings that they lie under. Case counts."""
        for root in self.parts:
            if segments[: len(root)] == root:
                yield segments[len(root) :]

    def relative_any_case(self, segments: Segments) -> Iterator[Segments]:
        """The same where case does not count, as on some disks: only ever to deny or ask more."""
        for root in self.parts:
            if segments[: len(root)] == root or folded_segments(segments[: len(root)]) == folded_segments(root):
                yield segments[len(root) :]


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that one workspace's paths are counted from. ``straight`` is the workspace where it is a folder with
    no link on the way to it, else None. ``quiet`` says that besides nothing lies there that any list knows by its
    place: an ordinary name below it is nothing but that."""

    workspace: Folder
    home: Folder
    additional: tuple[Folder, ...]
    own: tuple[Folder, ...]
    straight: str | None
    quiet: bool


def roots_at(
    workspace: str, home: str, additional: Sequence[str], own: Sequence[str], resolved: Sequence[str] = ()
) -> Roots:
    """Where these folders lie now. Found out once, and again when one of them is no longer what it was.

    ``resolved`` are where the additional ones led when a person confirmed them; one that leads elsewhere is left out.
    """
    asked = (workspace, home, tuple(additional), tuple(own), tuple(resolved))
    kept = _KEPT.get(asked)
    if kept is not None and all(disk.identity(path) == seen for path, seen in kept[0]):
        return kept[1]
    at_home, ours = folder_at(home, home), tuple(folder_at(path, home) for path in own if path)
    straight = _straight(workspace, home)
    added = tuple(folder_at(folder, home, cwd=workspace) for folder in additional if folder)
    found = Roots(
        folder_at(workspace, home),
        at_home,
        tuple(one for one, led in zip_longest(added, resolved) if one and led in (None, one.spellings[-1])),
        ours,
        straight,
        straight is not None and _is_quiet(straight, at_home, ours),
    )
    folders = (found.workspace, found.home, *added, *found.own)
    paths = dict.fromkeys(spelling for folder in folders for spelling in folder.spellings)
    if len(_KEPT) >= _MOST_KEPT:
        _KEPT.clear()
    _KEPT[asked] = (tuple((path, disk.identity(path)) for path in paths), found)
    return found


_MOST_KEPT = 64
_KEPT: dict[tuple[object, ...], tuple[tuple[tuple[str, object], ...], Roots]] = {}


def _straight(workspace: str, home: str) -> str | None:
    found = resolve(workspace, cwd="/", home=home)
    plain = found.resolved == found.lexical and not found.between and found.kind == "folder" and found.lexical != "/"
    return found.lexical if plain else None


def _is_quiet(straight: str, home: Folder, own: Sequence[Folder]) -> bool:
    """Whether no list counts names from above this folder, or knows a place below it by more than its name."""
    folded = fold(straight)
    for root in (root for folder in own for root in folder.spellings):
        if is_within(fold(root), folded) or is_within(folded, fold(root)):
            return False
    segments = segments_of(straight)
    if len(list(as_other_systems(straight))) > 1 or any(is_within(folded, tree) for tree in DEVICE_TREES):
        return False
    places = list(home.relative_any_case(segments))
    return not any(protected_in_home(place) or any(part[:1] == "." for part in place) for place in places)


def folder_at(path: str, home: str, cwd: str = "/") -> Folder:
    """The folder at this path, as it lies now. A relative path counts from ``cwd``."""
    found = resolve(path, cwd=cwd, home=home)
    spellings = found.spellings() if found.resolved is not None else (normalise(path),)
    spellings = (spellings[0], spellings[-1]) if len(spellings) > 1 else spellings
    return Folder(spellings, tuple(segments_of(spelling) for spelling in spellings))


@lru_cache(maxsize=4096)
def segments_of(path: str) -> Segments:
    """The parts of a path, without empty ones."""
    return tuple(filter(None, path.split("/")))


def is_within(path: str, root: str) -> bool:
    """Whether a path is a root or lies below it, by the text alone."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def place_of(root: Folder, segments: Segments) -> Place:
    """Where a folder lies relative to a root, in any case."""
    for place in root.relative_any_case(segments):
        return place
    folded = folded_segments(segments)
    return "holds" if any(folded_segments(part[: len(segments)]) == folded for part in root.parts) else "apart"


def as_other_systems(path: str) -> Iterator[Segments]:
    """The segments of a path, and what other file systems take them for: trailing dots and blanks, streams,
    backslashes.

    Only ever used to deny or ask more. A shared or mounted folder may lie on such a system.
    """
    segments = segments_of(path)
    yield segments
    if _READ_OTHERWISE.search(path) is None:
        return
    if any("\\" in segment for segment in segments):
        yield tuple(part for part in segments_of(normalise("/" + "/".join(segments).replace("\\", "/"))))
    trimmed = tuple(segment.split(":", 1)[0].rstrip(". ") or segment for segment in segments)
    if trimmed != segments:
        yield trimmed
    short = tuple(".git" if fold(segment) in ("git~1", "git~2") else segment for segment in trimmed)
    if short != trimmed:
        yield short


_READ_OTHERWISE = re.compile(r"[\\:~]|[. ](?:/|\Z)")
"""What a path has of which another file system may make something else."""
