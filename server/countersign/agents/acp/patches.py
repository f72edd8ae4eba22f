"""Texts of patches, read strictly: a line that the format does not know makes the whole text not understood.

Three formats: ``*** Begin Patch`` (several files), a unified diff of one file whose path is given beside it, and a map
of changes by path. Which files the agent opens for them is ``shapes.py``'s to work out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from countersign.agents.acp.file_edit import FileEdit, Hunk
from countersign.wire.base import Json

HEADER = re.compile(r"\*\*\* (?P<operation>Add|Update|Delete) File: (?P<path>\S.*)")
MOVE = re.compile(r"\*\*\* Move to: (?P<path>\S.*)")
RANGE = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<olds>\d+))? \+\d+(?:,(?P<news>\d+))? @@.*")
PREAMBLE = re.compile(r"|diff --git .*|Index: .*|=+|index [0-9a-f.]+( \d+)?|(new|deleted|create|delete) file mode \d+")
OTHER_LINE_ENDS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)")
"""What ends a line for Python's ``splitlines`` and other readers, but not in a patch as it is read here."""
MOST_PATCHED = 256
"""Files of one patch that are read; a patch of more is not understood."""
HEADED = ("diff ", "Index: ")
"""What a line in front of a diff begins with that names files; a name with a blank in it is not understood."""
NOWHERE = ("/dev/null", "dev/null")


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """What a patch does to one file. ``edit`` None: its text afterwards is not told, or it has none."""

    path: str
    operation: Literal["add", "update", "delete"]
    edit: FileEdit | None = None
    moved_to: str | None = None


def read_patch(text: str) -> tuple[PatchedFile, ...] | None:
    """The files of a text that begins with ``*** Begin Patch``, or None where it is anything else."""
    lines = text.strip().split("\n")
    if OTHER_LINE_ENDS.search(text):
        return None  # some agents read another line there
    if len(lines) < 2 or lines[0].rstrip() != "*** Begin Patch" or lines[-1].rstrip() != "*** End Patch":
        return None
    starts = [index for index in range(1, len(lines) - 1) if HEADER.fullmatch(lines[index])]
    if not starts or starts[0] != 1 or len(starts) > MOST_PATCHED:
        return None
    sections = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines) - 1], strict=True)]
    files = [_section(section) for section in sections]
    known = tuple(file for file in files if file is not None)
    return known if len(known) == len(files) else None


def read_unified_diff(text: str, path: str) -> tuple[PatchedFile, ...] | None:
    """The one file of a unified diff whose headers all name ``path``, or None where they do not."""
    lines = text.rstrip("\n").split("\n")
    start = next((index for index, line in enumerate(lines) if line.startswith("--- ")), None)
    if OTHER_LINE_ENDS.search(text):
        return None
    if start is None or start + 1 >= len(lines) or not lines[start + 1].startswith("+++ "):
        return None
    if not all(PREAMBLE.fullmatch(line) for line in lines[:start]):
        return None
    headed = [name for line in lines[:start] if line.startswith(HEADED) for name in line.split()[1:] if name[0] != "-"]
    if not all(_named(name, path) for name in headed):
        return None
    before, after = (_named(line[4:], path) for line in lines[start : start + 2])
    hunks = _hunks(lines[start + 2 :])
    if hunks is None or None in (before, after) or before == after == "":
        return None
    if after == "":
        return (PatchedFile(path, "delete"),)
    if before == "":
        # Only of a file that is not there: no place is named in one that is.
        hunks = tuple(replace(hunk, start=None) for hunk in hunks)
    return (PatchedFile(path, "update" if before else "add", FileEdit(path, hunks=hunks, loose=True)),)


def read_changes(changes: Mapping[str, Json]) -> tuple[PatchedFile, ...] | None:
    """The files of a map from path to ``{type: add | update | delete, …}``, or None where one is anything else."""
    files: list[PatchedFile] = []
    for path, raw in list(changes.items())[: MOST_PATCHED + 1]:
        change = {key: value for key, value in raw.items() if value is not None} if isinstance(raw, dict) else {}
        content, diff, moved = change.get("content"), change.get("unified_diff"), change.get("move_path")
        match change.get("type"), change.keys() - {"type"}:
            case "add", keys if keys == {"content"} and isinstance(content, str):
                files.append(PatchedFile(path, "add", FileEdit(path, content=content)))
            case "delete", keys if keys <= {"content"}:
                files.append(PatchedFile(path, "delete"))
            case "update", keys if keys in ({"unified_diff"}, {"unified_diff", "move_path"}):
                strict = isinstance(diff, str) and OTHER_LINE_ENDS.search(diff) is None
                hunks = _hunks(str(diff).rstrip("\n").split("\n")) if strict else None
                if hunks is None or not isinstance(moved, str | None):
                    return None
                edit = FileEdit(path, hunks=hunks, loose=True) if moved is None else None
                files.append(PatchedFile(path, "update", edit, moved))
            case _:
                return None
    return tuple(files) if 0 < len(files) <= MOST_PATCHED else None


def _named(header: str, path: str) -> str | None:
    """``path`` where the header of a diff names it, ``""`` where it names no file, None where it names another."""
    name = header.split("\t", maxsplit=1)[0].rstrip()
    bare = re.sub(r"^[ab]/", "", name)
    if name in NOWHERE or bare in NOWHERE:
        return ""
    return path if path in (name, bare, f"/{name}", f"/{bare}") else None


def _section(lines: Sequence[str]) -> PatchedFile | None:
    """One file of a patch: its header line and what follows."""
    header = HEADER.fullmatch(lines[0])
    if header is None:
        return None
    path, rest = header["path"].rstrip(), list(lines[1:])
    match header["operation"]:
        case "Add":
            if not all(line.startswith("+") for line in rest):
                return None
            content = "".join(f"{line[1:]}\n" for line in rest)
            return PatchedFile(path, "add", FileEdit(path, content=content, loose=True))
        case "Delete":
            return PatchedFile(path, "delete") if not any(line.strip() for line in rest) else None
        case _:
            moved = MOVE.fullmatch(rest[0]) if rest else None
            hunks = _bare_hunks(rest[1:] if moved else rest)
            if hunks is None:
                return None
            updated = PatchedFile(path, "update", FileEdit(path, hunks=hunks, loose=True) if hunks else None)
            return replace(updated, edit=None, moved_to=moved["path"].rstrip()) if moved else updated


def _bare_hunks(lines: Sequence[str]) -> tuple[Hunk, ...] | None:
    """The hunks of a patch whose ``@@`` lines carry no numbers."""
    hunks: list[Hunk] = []
    body: list[str] = []
    for line in (*lines, "@@"):
        if line.startswith("@@"):
            if body:
                hunks.append(_hunk(body, None))
            body = []
        elif line == "*** End of File":
            continue
        elif line[:1] in ("", " ", "+", "-"):
            body.append(line or " ")
        else:
            return None
    return tuple(hunks)


def _hunks(lines: Sequence[str]) -> tuple[Hunk, ...] | None:
    """The hunks of a unified diff; their numbers must be those of their lines."""
    hunks: list[Hunk] = []
    index = 0
    while index < len(lines):
        head = RANGE.fullmatch(lines[index])
        if head is None:
            return None
        end = index + 1
        while end < len(lines) and lines[end][:1] in (" ", "+", "-"):
            end += 1
        hunk = _hunk(lines[index + 1 : end], int(head["old"]))
        if (len(hunk.old), len(hunk.new)) != (int(head["olds"] or 1), int(head["news"] or 1)):
            return None
        hunks.append(hunk)
        index = end
    return tuple(hunks) or None


def _hunk(body: Sequence[str], start: int | None) -> Hunk:
    old = tuple(line[1:] for line in body if line[0] in " -")
    new = tuple(line[1:] for line in body if line[0] in " +")
    return Hunk(old, new, start)
