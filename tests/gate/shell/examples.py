"""The examples in the records of programs, as rows like those of ``evasions.toml``; and both together.

A group of examples (``[[examples]]`` of a record) has the form that ``tests/corpora`` describes. Workspace and home do
not exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.corpora import rows_of_file, rows_of_group

from .asked import HOME, WS

RECORDS = Path(__file__).parents[3] / "server/countersign/gate/shell/programs/records"
EVASIONS = Path(__file__).parent / "evasions.toml"


@cache
def examples() -> list[dict[str, Any]]:
    return [row for path in sorted(RECORDS.glob("*.toml")) for row in of_record(path.stem, path.read_text("utf-8"))]


def of_record(program: str, text: str) -> Iterator[dict[str, Any]]:
    for group in tomllib.loads(text).get("examples", ()):
        for row in rows_of_group(group, program):
            yield {**row, "name": f"{row['why']}: {row['command']}", "program": program, "workspace": WS, "home": HOME}


@cache
def shell_evasions() -> list[dict[str, Any]]:
    """Return each evasion that was ever found and does not concern one program alone."""
    return [{**row, "name": f"{row['why']}: {row['command']}"} for row in rows_of_file(EVASIONS)]


def evasions() -> list[dict[str, Any]]:
    """Return each evasion that was ever found: of one program, and of the shell."""
    return [*shell_evasions(), *examples()]
