"""Shapes of tool input that we know: an input is understood only when all of its keys belong to exactly one of them.

Agents name the same things differently, so each meaning is a set of names (``key_names.py``). An input with a key that
is left over, or that fits two shapes, is not understood; ``hints.py`` then finds everything that it could mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from countersign.agents.acp.command_shapes import read_command, read_commands
from countersign.agents.acp.file_edit import FileEdit
from countersign.agents.acp.key_names import (
    BOOKKEEPING,
    CONTENT,
    EDIT_EXTRAS,
    FETCH_EXTRAS,
    FOLDER,
    FROM,
    MANY,
    NEW,
    OLD,
    PARENT,
    PATCH,
    PATH,
    PATTERN,
    READ_EXTRAS,
    SEARCH_EXTRAS,
    SEARCH_NAMES,
    TO,
    URL,
    WORDS,
)
from countersign.agents.acp.patches import PatchedFile, read_changes, read_patch, read_unified_diff
from countersign.agents.acp.reading import AgentContext, Given, Reading, either_way, fit, without_nul, write_effects
from countersign.gate import Effect, FetchUrl, ReadPath, UseTool, WritePath
from countersign.wire.base import Json

DOES_MORE = re.compile(r"write|edit|delete|remove|move|rename|create|patch|exec|run|bash|shell|terminal", re.IGNORECASE)
"""Words in a tool's name that speak against its being a reader."""
WILDCARDS = re.compile(r"[*?\[{]")
ORDINARY = re.compile(r"(?!\.)[\w*.-]*\.(?!env|pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)[A-Za-z0-9]{1,8}")
"""The last part of a pattern that no secret's name matches."""
MOST_FILES = 256
"""Files of one call that are read as a list."""


def read_input(
    raw: Json, kind: str | None, names: Sequence[str], ground: AgentContext, call_id: str | None = None
) -> Reading | None:
    """What the input would touch, or None where it is not understood as a whole.

    An agent that sends its own event whole says so by its ``call_id``; what such an event holds beside the tool's input
    is left out then.
    """
    if not isinstance(raw, dict):
        return None
    given = {key: value for key, value in raw.items() if value is not None}
    if call_id is not None and given.get("call_id") == call_id:
        given = {key: value for key, value in given.items() if key not in BOOKKEEPING}
    readings = [reading for shape in SHAPES if (reading := shape(given, kind, names, ground)) is not None]
    return readings[0] if len(readings) == 1 else None


def _write(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = fit(given, [PATH, CONTENT], WORDS)
    if fitted is None:
        return None
    return Reading(write_effects(fitted[0], ground), (FileEdit(fitted[0], content=fitted[1]),))


def _edit(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = fit(given, [PATH, OLD, NEW], EDIT_EXTRAS)
    if fitted is None:
        return None
    path, old, new = fitted
    edit = FileEdit(path, replacements=((old, new, _everywhere(given)),))
    return Reading(write_effects(path, ground), (edit,))


def _edits(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    edits = given.get("edits")
    fitted = fit({key: value for key, value in given.items() if key != "edits"}, [PATH], WORDS)
    if fitted is None or not isinstance(edits, list) or not edits:
        return None
    replacements = []
    for entry in edits:
        texts = fit(entry, [OLD, NEW], EDIT_EXTRAS) if isinstance(entry, dict) else None
        if texts is None:
            return None
        replacements.append((texts[0], texts[1], isinstance(entry, dict) and _everywhere(entry)))
    return Reading(write_effects(fitted[0], ground), (FileEdit(fitted[0], replacements=tuple(replacements)),))


def _everywhere(given: Given) -> bool:
    return given.get("replace_all") is True or given.get("replaceAll") is True


def _move(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = fit(given, [FROM, TO], WORDS)
    if fitted is None:
        return None
    ends = [ground.absolute(path) for path in fitted]
    return Reading(tuple(WritePath(full, "move") for paths in ends for full in paths)) if all(ends) else None


def _look(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A path and nothing else says what is touched, not how: the kind must say it, and no name may speak against it."""
    fitted = fit(given, [PATH | FOLDER], READ_EXTRAS)
    if fitted is None:
        return None
    paths = ground.absolute(fitted[0])
    if kind == "delete":
        return Reading(tuple(WritePath(full, "delete") for full in paths))
    if kind not in ("read", "search") or any(DOES_MORE.search(name) for name in names):
        return None
    below = kind == "search" or any(os.path.isdir(without_nul(full)) for full in paths)
    return Reading((*(ReadPath(full, below=below) for full in paths), *_matched(fitted[0], ground)))


def _matched(path: str, ground: AgentContext) -> tuple[Effect, ...]:
    """All below the folder in front of a pattern: some agents read what a pattern matches (``paths: ["**/*"]``). What
    could match a secret counts as one that lies there."""
    wild = WILDCARDS.search(path)
    if wild is None:
        return ()
    folder = path[: wild.start()].rpartition("/")[0] or ("/" if path.startswith("/") else ".")
    matched = [ReadPath(full, below=True) for full in ground.absolute(folder)]
    if not ORDINARY.fullmatch(path.rpartition("/")[2]):
        matched += (ReadPath(os.path.join(each.path, ".env")) for each in list(matched))
    return tuple(matched)


def _look_at_many(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A list of files, each a path or an object with a path; each must be understood as a read by itself."""
    listed = [value for key, value in given.items() if key in MANY]
    rest = {key: value for key, value in given.items() if key not in MANY}
    entries = listed[0] if len(listed) == 1 and isinstance(listed[0], list) else []
    if kind != "read" or not 0 < len(entries) <= MOST_FILES or fit(rest, [], WORDS) is None:
        return None
    readings = [_look(entry if isinstance(entry, dict) else {"path": entry}, kind, names, ground) for entry in entries]
    effects = [effect for reading in readings if reading is not None for effect in reading.effects]
    return Reading(tuple(dict.fromkeys(effects))) if None not in readings else None


def _place(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A file outside the workspace beside its own folder: some agents ask so whether a call may go there, before they
    ask for the call. What the call does to the file is not said, so it counts as read and as written."""
    path = file_beside_its_folder(dict(given))
    if path is None or kind not in (None, "other", "read", "edit") or any(DOES_MORE.search(name) for name in names):
        return None
    inside = os.path.realpath(ground.workspace or ground.folder)
    for full in (without_nul(each) for each in ground.absolute(path)):
        if os.path.isdir(full) or Path(os.path.realpath(full)).is_relative_to(inside):
            return None
    return Reading(either_way(path, ground))


def file_beside_its_folder(raw: Json) -> str | None:
    """Return the path of an input that holds nothing but a file and the folder that the file lies in."""
    given = raw if isinstance(raw, dict) else {}
    fitted = fit({key: value for key, value in given.items() if key != PARENT}, [PATH], frozenset())
    return fitted[0] if fitted is not None and given.get(PARENT) == os.path.dirname(fitted[0]) != "" else None


def _patch(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """The text of a patch: of several files, or a unified diff beside the path of its file."""
    texts = [value for key, value in given.items() if key in PATCH]
    rest = {key: value for key, value in given.items() if key not in PATCH}
    text = texts[0] if len(texts) == 1 else None
    if not isinstance(text, str):
        return None
    if fit(rest, [], WORDS) is not None:
        return _of_patched(read_patch(text), ground)
    fitted = fit(rest, [PATH], WORDS)
    return _of_patched(read_unified_diff(text, fitted[0]), ground) if fitted is not None else None


def _changes(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """Changes by file: what is added, updated, deleted or moved."""
    if given.keys() != {"changes"} or not isinstance(given["changes"], dict):
        return None
    return _of_patched(read_changes(given["changes"]), ground)


def _of_patched(patched: Sequence[PatchedFile] | None, ground: AgentContext) -> Reading | None:
    if not patched:
        return None
    effects: list[Effect] = []
    for file in patched:
        if not all(ground.absolute(end) for end in (file.path, file.moved_to or file.path)):
            return None
        if file.operation == "delete":
            effects += [WritePath(full, "delete") for full in ground.absolute(file.path)]
        elif file.moved_to is not None:
            effects += [WritePath(full, "move") for end in (file.path, file.moved_to) for full in ground.absolute(end)]
        else:
            effects += write_effects(file.path, ground)
    edits = tuple(file.edit for file in patched if file.edit is not None)
    return Reading(tuple(dict.fromkeys(effects)), edits if len(patched) == 1 else ())


def _search(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A search below a folder. Nobody says whether it goes into hidden files with keys and passwords, so it asks."""
    folder = next((value for key, value in given.items() if key in PATH | FOLDER), ".")
    rest = {key: value for key, value in given.items() if key not in PATH | FOLDER}
    fitted = fit(rest, [PATTERN], SEARCH_EXTRAS | SEARCH_NAMES)
    if fitted is None or kind not in ("read", "search") or not isinstance(folder, str) or len(given) - len(rest) > 1:
        return None
    reads = tuple(ReadPath(full, below=True) for full in ground.absolute(folder))
    return Reading((*reads, UseTool("acp:search")))


def _fetch(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    method = given.get("method", "GET")
    fitted = fit(given, [URL], FETCH_EXTRAS | {"method"})
    if fitted is None or not isinstance(method, str) or not fitted[0].lower().startswith(("http://", "https://")):
        return None
    return Reading((FetchUrl(fitted[0], method.upper()),))


Shape = Callable[[Given, "str | None", Sequence[str], AgentContext], Reading | None]
SHAPES: tuple[Shape, ...] = (
    read_command, read_commands, _write, _edit, _edits, _move, _look, _look_at_many, _place, _patch, _changes,
    _search, _fetch,
)  # fmt: skip
