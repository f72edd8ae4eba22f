"""Control files: the settings, stores and policies that decide what the gate does, by every name that leads to them.

A control file is what it resolves to, not how it is spelled: a person's user settings may be a symlink into the very
workspace that an agent works in. So each path is resolved anew for each decision, every symlink on the way and every
target counts as the file itself, and a hard link to it does too. Which paths are control files is the policy's to say;
what follows from touching one is ``path_judge.py``'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from countersign.gate.paths.resolve import Resolved, resolve
from countersign.gate.patterns import fold, folded_segments
from countersign.gate.probes import disk

Segments = tuple[str, ...]

PROFILES = "profiles"
"""The folder of an editor's user settings that holds one folder for each profile."""


def control_names(paths: Sequence[str]) -> tuple[Segments, ...]:
    """Every name of these absolute paths as they lie now, as folded segments: each as it is spelled, each spelling met
    on the way through a symlink, and where it leads. Of a folder, the symlinks that stand in it too."""
    return disk.combined(_find_names, tuple(paths)) if paths else ()


def control_objects(paths: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Device and inode of each file at these paths and, for a folder, of each file that stands in it."""
    return disk.combined(_find_objects, tuple(paths)) if paths else frozenset()


def is_control(
    resolved: Resolved, views: Iterable[Segments], paths: Sequence[str], *, replaces: Callable[[], bool]
) -> bool:
    """True if a path with these spellings is one of these control files, a hard link to one, or lies in a control
    folder. If ``replaces`` returns true, also if it is a folder or symlink on the way to one: who moves, removes or
    makes that decides where the file is read from."""
    if not paths:
        return False
    names = control_names(paths)
    for view in views:
        folded = folded_segments(view)
        for name in names:
            if folded[: len(name)] == name or (name[: len(folded)] == folded and replaces()):
                return True
    if resolved.links < 2 or resolved.resolved is None:
        return False
    return disk.object_at(resolved.resolved) in control_objects(paths)


_MOST_KEPT = 16
_KEPT: dict[tuple[str, ...], tuple[tuple[disk.Probe, ...], tuple[Segments, ...]]] = {}


def _find_names(paths: tuple[str, ...]) -> tuple[Segments, ...]:
    """The names, found anew only if one of the disk probes that they rest on shows something else than before: the
    paths share most of their folders."""
    kept = _KEPT.get(paths)
    if kept is not None and disk.unchanged(kept[0]):
        return kept[1]
    with disk.record_probes() as probes:
        names = _names_now(paths)
    if len(_KEPT) >= _MOST_KEPT:
        _KEPT.clear()
    _KEPT[paths] = (tuple(dict.fromkeys(probes)), names)
    return names


def _names_now(paths: tuple[str, ...]) -> tuple[Segments, ...]:
    found: dict[Segments, None] = {}
    for path in paths:
        resolved = _resolved(path)
        _add(found, resolved)
        for folder in _folders(resolved):
            for name in disk.links_in(folder):
                _add(found, _resolved(f"{folder}/{name}"))
    return tuple(found)


def _find_objects(paths: tuple[str, ...]) -> frozenset[tuple[int, int]]:
    found: set[tuple[int, int] | None] = set()
    for path in paths:
        resolved = _resolved(path)
        found.add(_object_of(resolved))
        for folder in _folders(resolved):
            found.update(_object_of(_resolved(f"{folder}/{name}")) for name in disk.names_in(folder))
    return frozenset(one for one in found if one is not None)


def _object_of(resolved: Resolved) -> tuple[int, int] | None:
    return disk.object_at(resolved.resolved) if resolved.resolved is not None and resolved.kind == "file" else None


def _folders(resolved: Resolved) -> Iterator[str]:
    """A control folder and, where it holds an editor's profiles, those and the folder of each."""
    if resolved.resolved is None or resolved.kind != "folder":
        return
    yield resolved.resolved
    profiles = _resolved(f"{resolved.resolved}/{PROFILES}").resolved
    if profiles is not None and disk.is_folder(profiles):
        yield profiles
        for name in disk.names_in(profiles):
            yield _resolved(f"{profiles}/{name}").resolved or f"{profiles}/{name}"


def _resolved(path: str) -> Resolved:
    return resolve(path, cwd="/", home="/")


def _add(found: dict[Segments, None], resolved: Resolved) -> None:
    for spelling in resolved.spellings():
        segments = tuple(fold(part) for part in spelling.split("/") if part)
        if segments:
            found[segments] = None
