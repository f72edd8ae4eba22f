"""Where the settings of a repository lead into its work tree (RULES.md S9).

The settings in ``.git`` and in a person's home are protected. What they name may lie in the work tree, where an agent
may write: another file of settings, a folder of hooks, a program that reading runs. Then reading is no mere reading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk

MOST_SETTINGS = 100_000
"""Bytes of a file of settings that is read."""
_MOST_FILES = 20
_SECTION = re.compile(r'[ \t]*\[([^\]"]*)("(?:[^"\\]|\\.)*")?[ \t]*\]')
_ENTRY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=(.*))?")
_COMMENT = re.compile(r"[ \t]*(?:[;#].*)?")
_PROGRAMS = frozenset({"fsmonitor", "textconv", "command", "external", "clean", "smudge", "process", "program"})
"""Settings whose value is a command that `git status`, `diff`, `log` and the like may run."""
_AROUND = re.compile(r"[\s;&|<>()\"'`$={},\\]+")
UNCERTAIN = "its settings are not read with certainty"


def leads_into_work_tree(folder: str, paths: PathJudge) -> str | None:
    """Why reading in this work tree depends on a file in it that settings name, or None."""
    waiting = [
        f"{folder}/.git/config",
        f"{folder}/.git/config.worktree",
        f"{paths.home}/.gitconfig",
        f"{paths.home}/.config/git/config",
        "/etc/gitconfig",
    ]
    read: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file in read:
            continue
        read.add(file)
        if len(read) > _MOST_FILES:
            return UNCERTAIN
        text = disk.beginning(file, MOST_SETTINGS + 1)
        if text is None:
            continue
        for section, key, value in _entries(text):
            if section.startswith("include") and key == "path":
                named = _expanded(value, paths.home, os.path.dirname(file))
                if named is None:
                    return UNCERTAIN
                if _in_work_tree(named, folder, paths):
                    return "its settings include a file of the workspace"
                waiting.append(named)
            elif (reason := _named_program(section, key, value, folder, paths)) is not None:
                return reason
    return None


def _named_program(section: str, key: str, value: str, folder: str, paths: PathJudge) -> str | None:
    if section == "core" and key == "hookspath":
        named = _expanded(value, paths.home, folder)
        if named is None:
            return UNCERTAIN
        # `git status`, `diff` and `describe --dirty` write what they saw into the index, and then run this hook.
        hook = f"{named}/post-index-change"
        if _in_work_tree(hook, folder, paths) and disk.can_run(hook):
            return "it runs the hook `post-index-change` of a folder in the workspace"
    elif section == "":
        return UNCERTAIN
    elif key in _PROGRAMS:
        for word in _AROUND.split(_unquoted(value)):
            if word == "" or word.startswith("%"):  # `%f`, which git replaces
                continue
            named = _expanded(word, paths.home, folder)
            if named is None:
                return UNCERTAIN
            is_there = "/" in word or not _is_missing(named)
            if is_there and _in_work_tree(named, folder, paths):
                return f"its setting `{section}.{key}` runs a file of the workspace"
    return None


def _entries(text: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the entries, each with its section and its key in small letters; the section is empty for a line that is
    not understood."""
    if len(text) > MOST_SETTINGS or b"\0" in text:
        yield "", "", ""
        return
    section = "-"
    lines = iter(os.fsdecode(text).removeprefix("\ufeff").split("\n"))
    for line in lines:
        rest = line.removesuffix("\r")
        while _goes_on(rest):
            rest = rest[:-1] + next(lines, "").removesuffix("\r")
        while (head := _SECTION.match(rest)) is not None:
            section, rest = head[1].strip().lower(), rest[head.end() :]
        if _COMMENT.fullmatch(rest):
            continue
        entry = _ENTRY.fullmatch(rest.rstrip())
        if entry is None:
            yield "", "", ""
        else:
            yield section, entry[1].lower(), entry[2] or ""


def _goes_on(line: str) -> bool:
    """Whether a value goes on in the next line."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1 and line.lstrip()[:1] not in (";", "#")


def _expanded(value: str, home: str, folder: str) -> str | None:
    """Return the place that a value names, or None where that is not certain."""
    text = _unquoted(value)
    if "\\" in text or text.startswith(("~", "%")):
        if not text.startswith("~/") or "\\" in text:
            return None
        text = f"{home}{text[1:]}"
    return os.path.normpath(os.path.join(folder, text))


def _unquoted(value: str) -> str:
    """Return a value without quotes and without the comment behind it."""
    kept: list[str] = []
    quoted = False
    for character in value:
        if character == '"':
            quoted = not quoted
        elif character in ";#" and not quoted:
            break
        else:
            kept.append(character)
    return "".join(kept).strip()


def _in_work_tree(path: str, folder: str, paths: PathJudge) -> bool:
    return paths.inside_workspace(path, cwd=folder) and not path.startswith(f"{folder}/.git/")


def _is_missing(path: str) -> bool:
    found = disk.standing(path)
    return isinstance(found, int) and found in disk.MISSING
