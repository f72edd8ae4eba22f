"""Whether a value of git's settings runs something of the work tree (docs/gate.md S9).

A command there may name a file of the work tree, or a program that runs what it finds in the folder it is started in,
as `python -m` and `npx` do. Which settings hold commands, and which programs run nothing, says the record of git.
"""

from __future__ import annotations

import os
import re
import shlex
from itertools import takewhile

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.effects.chosen_programs import (
    only_in_workspace,
    program_path,
    runs_by_shim,
    why_strange,
)
from countersign.gate.shell.effects.settings_inside import settings_inside
from countersign.gate.shell.programs.tables import field_of, names_with, names_with_field

UNCERTAIN = "its settings are not read with certainty"
_COMMANDS = frozenset(" ".join(field_of("settings", "commands").values()).split())
"""Keys of settings whose value is a command that `git status`, `diff`, `log` and the like may run."""
_FETCHING = frozenset(" ".join(field_of("settings", "fetching").values()).split())
"""Those that fetching from a remote runs."""
_READING = frozenset(" ".join(field_of("settings", "reading").values()).split())
"""Sections and keys of those which run while it only reads, whatever the output is."""
_HARMLESS = frozenset(" ".join(field_of("settings", "harmless").values()).split())
_FORMS, _PAGERS, _VERIFIERS, _TEXTS = (
    frozenset(form for forms in field_of("settings", kind).values() for form in forms)
    for kind in ("forms", "pagers", "verifiers", "texts")
)
"""Programs that run nothing of the folder that they are started in and open no other file than the one that is named
behind them, however it is called (`unzip x` tries `x.zip`, and `openssl` takes some names for addresses), and commands
that do no harm whoever wrote them; pagers and verifiers only where git gives them no names (`gpg x.gpg` writes `x`)."""

_KNOWN_SETTINGS = frozenset(form.split()[0] for form in _FORMS | _TEXTS)
"""Programs that take their settings from git's."""
_ALONE = (names_with("starts_no_other") | names_with("builtin")) - names_with_field("read_only", "settings")
"""Programs that start no other, and take no settings by which they do more than read."""

_OFFLINE = _FORMS & frozenset(" ".join(field_of("settings", "offline").values()).split(", "))
_GIVEN_PATHS = frozenset({"diff.external", "diff.command"})
"""Settings of commands whose first word is a name out of a commit, which may be an option of theirs, or the name of a
link to any file: none is harmless."""

_AROUND = re.compile(r"[\s;&|<>()\"'={},]+")
_UNCERTAIN = frozenset("$`\\\n\t\r*?[")
_OPERATORS = frozenset("();<>|&{}!")
_TRUTH = re.compile(r"true|false|yes|no|on|off|[01]", re.IGNORECASE | re.ASCII)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


_NO_PROGRAMS = frozenset({"alias", "column"})
"""Sections whose keys are names of commands of git: none starts a program while git only reads."""


def holds_command(section: str, key: str, value: str, *, fetches: bool) -> bool:
    """Whether a setting names a command that reading may run. ``fetches``: what is missing is fetched."""
    fetching = fetches and (key in _FETCHING or (key == "url" and "::" in value))
    return section not in _NO_PROGRAMS and (fetching or key in _COMMANDS or section == "pager")


def starts_while_reading(section: str, key: str, value: str) -> bool:
    """Whether a setting that holds a command starts it while git only reads, whatever the output is."""
    return f"{section}.{key}" in _READING and not _names_nothing(section, key, value)


def _names_nothing(section: str, key: str, value: str) -> bool:
    """Whether git takes the value for a switch, and starts no program called ``on``: so it does for two kinds only."""
    switched = section == "pager" or (section, key) == ("core", "fsmonitor")
    return value == "" or (switched and _TRUTH.fullmatch(value) is not None)


def is_offline(filter_command: str) -> bool:
    """Whether a filter surely fetches nothing: one of those that only encrypt."""
    return _as_form(filter_command) in _OFFLINE


def _as_form(text: str) -> str:
    """A command as it is, but for quotes around its program as `git-crypt` writes them. Nothing else is spelled
    otherwise: git puts the name of a file in quotes of its own in the place of ``%f``, and those change with others
    around them."""
    return _QUOTED_PROGRAM.sub(r"\1", text, count=1)


def why_not_harmless(section: str, key: str, text: str, folder: str, paths: PathJudge, *, own: bool) -> str | None:
    """Why this command may do more than a person meant who lets git read, or None. One of the repository's ``own``
    settings must be spelled out as harmless."""
    setting = f"{section}.{key}"
    if _names_nothing(section, key, text):
        return None
    if not _UNCERTAIN.isdisjoint(text):
        return f"it is not certain what its setting `{setting}` runs"
    for word in _AROUND.split(text):
        if word == "" or word.startswith("%"):  # `%f`, which git replaces
            continue
        named = expanded(word, paths.home, folder)
        if named is None:
            return UNCERTAIN
        is_there = "/" in word or not _is_missing(named)
        if is_there and (in_work_tree(named, folder, paths) or _is_brought(word, named, folder)):
            return f"its setting `{setting}` runs a file of the workspace"
    if setting in _GIVEN_PATHS:
        harmless = False
    elif own:
        harmless = _as_form(text) in _forms_of(section, key)
    else:
        harmless = setting not in _READING or (_runs_nothing_else(text) and _keeps_names_whole(text))
    if not harmless:
        return f"it is not known what its setting `{setting}` runs"
    return _why_others_choose(setting, text, paths) if own or setting in _READING else None


def _why_others_choose(setting: str, text: str, paths: PathJudge) -> str | None:
    """Why the programs of a command may be others than are meant, or do more by what lies in the workspace."""
    path = program_path(paths.workspace, paths.home)
    programs = [word for word in _AROUND.split(text) if "/" not in word and _PROGRAM.fullmatch(word)]
    if any(disk.is_there(f"{folder}/{each}") for each in programs for folder in path.inside) or any(
        only_in_workspace(each, path, by_shell=False) for each in programs
    ):
        return f"its setting `{setting}` runs a file of the workspace"
    started = _programs_of(text) or []
    if any(why_strange(each, path) is not None for each in started) or any(
        runs_by_shim(each, path) for each in programs
    ):
        return f"it is not known what its setting `{setting}` runs"
    program = next((each for each in started if each not in _ALONE | _KNOWN_SETTINGS), None)
    if program is None or not settings_inside(paths):
        return None
    return f"the workspace may hold settings that `{program}` uses"


_PROGRAM = re.compile(r"(?:[^\WA-Za-z_]|[.+-])*[A-Za-z_][\w.+-]*")


def _keeps_names_whole(text: str) -> bool:
    """Whether the name of a file, which git puts in quotes in the place of ``%f``, is one word of the command."""
    return "%" not in text or (_QUOTES.isdisjoint(text) and _NAME_ALONE.sub("", text).count("%") == 0)


_QUOTED_PROGRAM = re.compile(r'\A"([\w-]+)"(?= )')
_QUOTES = frozenset("\"'\\")
_NAME_ALONE = re.compile(r"(?<=[ \t])%f(?=[ \t]|\Z)")


def _forms_of(section: str, key: str) -> frozenset[str]:
    """The commands that are harmless in this setting of a repository's own. What fsmonitor says git believes, and may
    then show what lies behind a link, so it has none."""
    if "pager" in (section, key):
        return _PAGERS
    kinds = {"gpg": _VERIFIERS, "filter": _FORMS, "lfs": _FORMS, "diff": _TEXTS if key == "textconv" else frozenset()}
    return kinds.get(section, frozenset())


def _runs_nothing_else(text: str) -> bool:
    """Whether each program of a command is one that runs nothing of the folder that it is started in."""
    programs = _programs_of(text)
    return programs is not None and _HARMLESS.issuperset(programs)


def _programs_of(text: str) -> list[str] | None:
    """The names of the programs of a command, None where that is not certain or a file is redirected."""
    tokens = shlex.shlex(text, posix=True, punctuation_chars="();<>|&{}!")
    tokens.commenters = ""
    try:
        words = list(tokens)
    except ValueError:
        return None
    programs: list[str] = []
    first = True
    for word in words:
        if set(word) <= _OPERATORS:
            if "<" in word or ">" in word:
                return None
            first = True
        elif first and not _ASSIGNED.fullmatch(word):
            first = False
            programs.append(os.path.basename(word))
    return programs


def expanded(value: str, home: str, folder: str) -> str | None:
    """Return the place that a value names, or None where that is not certain."""
    # Older versions of git make a blank of a tab inside a value.
    if "\\" in value or any(character < " " for character in value):
        return None
    if value.startswith(("~", "%", ":(")):
        if not value.startswith("~/"):
            return None
        value = f"{home}{value[1:]}"
    parts = [part for part in value.split("/") if part not in ("", ".")]
    if ".." in parts[len(list(takewhile(lambda part: part == "..", parts))) :]:
        return None  # behind a link it leads elsewhere than the text says
    return os.path.normpath(os.path.join(folder, value))


def in_work_tree(path: str, folder: str, paths: PathJudge) -> bool:
    """Whether a spelling of this path lies in the workspace, but in no folder that git keeps to itself, or is another
    path to git than it is here (``/proc/self/cwd/x``, ``/dev/stdin``)."""
    resolved = paths.resolve(path, cwd=folder)
    if resolved.resolved is None or resolved.unclear is not None:
        return True
    return any(
        paths.inside_workspace(spelling, cwd="/") and ".git" not in spelling.split("/")
        for spelling in {resolved.lexical, resolved.resolved}
    )


def _is_brought(word: str, named: str, folder: str) -> bool:
    """Whether a person's setting means another program in each repository (``.git/hooks/query-watchman``), which comes
    with it."""
    return "/" in word and not word.startswith("~") and named.startswith(f"{folder}/")


def _is_missing(path: str) -> bool:
    found = disk.path_stat(path)
    return isinstance(found, int) and found in disk.MISSING
