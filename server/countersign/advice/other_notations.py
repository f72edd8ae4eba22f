"""Rules written as another language would write them, which can be read but match less than the person means.

A regular expression, a list with commas, quotes around the whole, a path that begins with one slash: each is a valid
rule about something else. Pure, like ``lint.py``, which shows these complaints.
"""

from __future__ import annotations

import re

from countersign.gate import CommandPattern, PathPattern

_TOP_FOLDERS = frozenset({"etc", "home", "root", "usr", "proc", "sys", "dev", "Users", "Volumes", "private"})
"""Folders of a disk that hardly a workspace has at its own top. ``/bin``, ``/lib`` and ``/tmp`` are common there."""


def command_notation(pattern: CommandPattern) -> str | None:
    """Why this pattern of a ``Bash`` rule is about another command than it seems, if it is."""
    text = pattern.text.strip()
    first = re.split(r"\s", text, maxsplit=1)[0]
    if first.startswith("^") or re.fullmatch(r"/.*[^\w/].*/[a-z]*|/\w+/", text):
        return "is no regular expression: each character stands for itself; write the first words and `:*`"
    if _is_quoted(text):
        return "is about a program with that whole name, because it is quoted; leave out the quotes"
    if "," in first and re.search(r",\s*[\w./-]+(:\*)?$", text):
        return "is about one command whose name has a comma; write one rule for each command"
    if text.endswith(" :*"):
        return f"is about a word that begins with `:`; for any further words write `{text[:-3].rstrip()}:*`"
    return None


def path_notation(pattern: PathPattern) -> str | None:
    """Why this pattern of a ``Read`` or ``Edit`` rule is about another place than it seems, if it is."""
    text = pattern.text.strip()
    if _is_quoted(text):
        return "is about a name with quotes in it; leave out the quotes"
    if named := re.search(r"\$\{?[A-Za-z_]\w*\}?|%[A-Za-z_]+%", text):
        return f"takes `{named[0]}` for a name: variables are not replaced; write `~/` for the home folder"
    if prefix := re.match(r"(?:file|path|glob|regex):", text):
        return f"takes `{prefix[0]}` for the beginning of a name; write the path alone"
    if re.match(r"[A-Za-z]:[\\/]", text):
        return "takes the drive letter for a name; write an absolute path as `//folder/file`"
    if re.search(r",\s", text):
        return "is about one name with a comma in it; write one rule for each path"
    if pattern.root == "workspace" and text.startswith("/") and pattern.segments[0] in _TOP_FOLDERS:
        return f"is about `{text[1:]}` in the workspace; write `/{text}` for the place on the disk"
    return None


def _is_quoted(text: str) -> bool:
    return re.fullmatch(r"\"[^\"]*\"|'[^']*'|`[^`]*`", text) is not None
