"""The examples in the records of programs, as rows like those of ``evasions.jsonl``; and both together.

A group of examples (``[[examples]]`` of a record) has a reason, rules (``allow Bash(ls:*)``), perhaps a mode, and
under ``allows``, ``asks`` and ``denies`` the commands that get this verdict. Workspace and home do not exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from .asked import HOME, WS, rows

RECORDS = Path(__file__).parents[3] / "server/countersign/gate/shell/programs/records"
VERDICTS = {"allows": "allow", "asks": "ask", "denies": "deny"}
KEYS = {"reason", "rules", "mode", *VERDICTS}


@cache
def examples() -> list[dict[str, Any]]:
    return [row for path in sorted(RECORDS.glob("*.toml")) for row in of_record(path.stem, path.read_text("utf-8"))]


def of_record(program: str, text: str) -> Iterator[dict[str, Any]]:
    for group in tomllib.loads(text).get("examples", ()):
        if unknown := group.keys() - KEYS:
            raise ValueError(f"{program}: an example has no {', '.join(sorted(unknown))}")
        rules: dict[str, list[str]] = {"allow": [], "deny": [], "ask": []}
        for rule in group.get("rules", ()):
            kind, _, pattern = rule.partition(" ")
            rules[kind].append(pattern)
        context = {"workspace": WS, "home": HOME} | ({"mode": group["mode"]} if "mode" in group else {})
        for verdict, expected in VERDICTS.items():
            for command in group.get(verdict, ()):
                row = {"command": command, "rules": rules, "with": context, "expect": expected}
                yield {"name": f"{group['reason']}: {command}", "program": program, **row}


def evasions() -> list[dict[str, Any]]:
    """Return each evasion that was ever found: of one program, and of the shell."""
    return [*rows(Path(__file__).parent / "evasions.jsonl"), *examples()]
