"""The addresses of remotes that a repository's settings name, for git commands that give only a remote's name.

An address was judged when it was added through the gate; it counts again here, since rules may have come since, and
since remotes are added elsewhere, too. Only a `.git/config` of plain lines is read. Where git takes settings from
other files as well (``include``, a worktree's, `.git/remotes`), or changes addresses (``insteadOf``), the addresses
are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import folders_up, repository_above, repository_at
from countersign.gate.shell.files.word_values import join, literal
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.languages.git_options import ADDRESSED

_MOST = 100_000
_MOST_ADDRESSES = 50
_HEADER = re.compile(r'\[([\w.-]+)(?:[ \t]+"([^"\\]*)")?\](.*)')
_SETTING = re.compile(r"([A-Za-z][\w-]*)[ \t]*(?:=(.*))?")
_ADDRESSES = frozenset({"url", "pushurl", "remote", "pushremote", "pushdefault"})
"""Settings whose value may be an address: a branch's remote and the default one to push to need not be names."""
_ELSEWHERE = frozenset({"include", "includeif", "url"})
"""Sections that name further files of settings, or replace the beginnings of addresses."""


def remote_addresses(git: Git, folder: str, paths: PathJudge) -> tuple[str, ...] | None:
    """Return the addresses of the remotes that this command names, or all of them where it names none; None where
    they are unknown."""
    if git.subcommand not in ADDRESSED:
        return ()
    for word in git.folders:
        if word.value is None:
            return None
        folder = join(folder, literal(word), paths.home)
    by_name = _remotes(folder, paths)
    if by_name is None or git.before.has("--git-dir"):
        return None
    named = {word.value for _, word in git.arguments.operands} & by_name.keys()
    found = [address for name, each in by_name.items() if not named or name in named for address in each]
    return tuple(dict.fromkeys(found)) if len(found) <= _MOST_ADDRESSES else None


def may_be_remote(name: str, folder: str, paths: PathJudge) -> bool:
    """Whether the repository that git works in here may have a remote of this name."""
    if repository_above(folder, paths) is None:
        return True
    by_name = _remotes(folder, paths)
    return by_name is None or name in by_name


def _remotes(folder: str, paths: PathJudge) -> dict[str, list[str]] | None:
    for above in folders_up(folder, paths):
        found = repository_at(above, paths)
        if found is None:
            continue
        if isinstance(found, str) or disk.is_there(f"{found.own}/config.worktree"):
            return None
        if found.own == found.shared and disk.is_there(f"{found.own}/commondir"):
            return None
        if any(disk.names_in(f"{found.shared}/{name}") for name in ("remotes", "branches")):
            return None
        text = disk.beginning(f"{found.shared}/config", _MOST + 1) or b""
        return None if len(text) > _MOST else _read(text.decode(errors="replace").split("\n"))
    return {}


def _read(lines: Iterable[str]) -> dict[str, list[str]] | None:
    """The addresses by the name of their remote, or by an empty one; None if a line is not plain."""
    found: dict[str, list[str]] = {}
    section = name = ""
    for line in lines:
        rest = line.strip()
        header = _HEADER.fullmatch(rest)
        if header is not None:
            section, dot, below = header[1].partition(".")
            section, name = section.lower(), header[2] if header[2] is not None else below if dot else ""
            if section in _ELSEWHERE:
                return None
            rest = header[3].strip()
        if not rest or rest[0] in "#;":
            continue
        setting = _SETTING.fullmatch(rest)
        if setting is None or rest.endswith("\\"):
            return None
        key, value = setting[1].lower(), _value(setting[2] or "")
        if key in _ADDRESSES:
            if value is None:
                return None
            if value:
                found.setdefault(name if section == "remote" and key != "pushdefault" else "", []).append(value)
    return found


def _value(text: str) -> str | None:
    """A value without quotes, or None where it holds some inside, a backslash or a comment."""
    value = text.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return None if re.search(r"[\"\\#;]", value) else value
