"""The corpora: commands and paths with the verdicts that docs/gate.md gives. Examples of that page, not its limit.

A file holds groups, one for each reason and context, with what is judged in it::

    [[group]]
    reason = "./evil has no rule"
    rules = ["allow Bash(ls:*)", "deny Bash(rm:*)", "@git-reading"]
    mode = "auto"
    asks = ["ls; ./evil"]
    asks_or_denies = ["ls; ./evil; rm x", ["true; ", 500, "./evil"]]

- **Verdicts**: ``allows``, ``asks`` and ``denies`` list commands, or paths where ``tool`` is given. ``asks_or_denies``
  expects to ask and takes a deny, too; so with any others joined by ``_or_``.
- **A long text** is a list of pieces; ``["true; ", 500]`` stands for 500 times that piece.
- ``@NAME`` in ``rules`` and ``layout`` stands for that list of ``lists.toml``.
- ``layout``: a file ``a/b``, a folder ``a/``, a link ``a -> b``, a second name ``a = b`` of the file ``b``; all of it
  comes on top of the files that our own groups suppose.
- ``{ws}``, ``{home}`` and ``{out}`` are folders made for the test.
- ``plain_bash`` names the construct for which the text is outside Plain Bash; ``parses = false``: bash cannot parse it.

The records of programs (``gate/shell/programs/records``) have groups of the same form under ``[[examples]]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""One question: ``command`` or ``path``, ``rules``, ``expect``, ``also_ok``, ``why``, ``class``, ``id``, context."""

FOLDER = Path(__file__).parent
VERDICTS = {"allows": "allow", "asks": "ask", "denies": "deny"}
CONTEXT = ("mode", "bypass", "trusted", "workspace", "home", "cwd")
"""What a row says of the place and the moment in which it is judged, as ``countersign check`` names it."""
KEYS = {"class", "reason", "source", "rules", "add_dirs", "layout", "tool", "plain_bash", "parses", *CONTEXT}


def context(row: Row) -> dict[str, Any]:
    """Return what the row says of place and moment."""
    return {key: row[key] for key in CONTEXT if key in row}


@cache
def commands() -> list[Row]:
    """Return our own rows about commands, by class."""
    return list(_folder("commands"))


@cache
def paths() -> list[Row]:
    """Return our own rows about paths, by class."""
    return list(_folder("paths"))


@cache
def given_rows(name: str) -> list[Row]:
    """Return the rows that the gate was specified with: ``commands`` or ``paths``."""
    return list(rows_of_file(FOLDER / "given" / f"{name}.toml"))


def rows_of_file(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of groups; their class is the file's name where a group has none."""
    number = 0
    for group in tomllib.loads(path.read_text(encoding="utf-8"))["group"]:
        for row in rows_of_group(group, str(path)):
            number += 1
            yield {"class": path.stem, "id": f"{path.stem}-{number}", **row}


def rows_of_group(group: Mapping[str, Any], where: str) -> Iterator[Row]:
    """Yield one row for each text of a group.

    Raises:
        ValueError: a key, a verdict or a kind of rule is unknown, a named list does not exist, or no verdict is given.
    """
    verdicts = {key: [VERDICTS.get(each, "") for each in key.split("_or_")] for key in group if key not in KEYS}
    if unknown := [key for key, meant in verdicts.items() if not all(meant)]:
        raise ValueError(f"{where}: a group has no {', '.join(unknown)}")
    if not verdicts:
        raise ValueError(f"{where}: a group without a verdict: {group.get('reason')}")
    rules: dict[str, list[str]] = {"allow": [], "deny": [], "ask": []}
    for rule in _whole("rules", group.get("rules", ())):
        kind, _, pattern = rule.partition(" ")
        if kind not in rules:
            raise ValueError(f"{where}: a rule begins with allow, ask or deny: {rule}")
        rules[kind].append(pattern)
    shared = {key: value for key, value in group.items() if key in KEYS and key not in {"reason", "rules", "layout"}}
    if "layout" in group:
        shared["layout"] = [_thing(text) for text in _whole("layout", group["layout"])]
    about = "path" if "tool" in group else "command"
    for key, (expect, *others) in verdicts.items():
        for text in group[key]:
            row = {about: _text(text), "rules": rules, "expect": expect, "also_ok": others, "why": group["reason"]}
            yield {**row, **shared}


def _folder(name: str) -> Iterator[Row]:
    for path in sorted((FOLDER / name).glob("*.toml")):
        yield from rows_of_file(path)


@cache
def _lists() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads((FOLDER / "lists.toml").read_text(encoding="utf-8"))


def _whole(kind: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if not text.startswith("@"):
            yield text
        elif (named := _lists()[kind].get(text[1:])) is not None:
            yield from named
        else:
            raise ValueError(f"lists.toml has no {kind} named {text[1:]}")


def _text(written: str | list[Any]) -> str:
    """Put the pieces of a long text together."""
    if isinstance(written, str):
        return written
    return "".join(each if isinstance(each, str) else each[0] * each[1] for each in written)


def _thing(text: str) -> dict[str, str]:
    """Read one line of a layout."""
    for sign, kind in ((" -> ", "symlink"), (" = ", "hardlink")):
        path, found, target = text.partition(sign)
        if found:
            return {"path": path, "type": kind, "target": target}
    return {"path": text, "type": "dir" if text.endswith("/") else "file"}
