"""The corpora: many small questions with the answers that docs/gate.md gives. Examples, not its limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from countersign.advice.explain import check_line
from countersign.gate.shell.syntax.bash_check import BashSyntax
from tests.corpora import given_rows

from .layouts import filled, lay_out

BASH = BashSyntax()


def answer(question: dict[str, Any]) -> str:
    result = json.loads(check_line(json.dumps(question).encode(), check_syntax=BASH))
    return result.get("decision") or result["error"]


@pytest.mark.parametrize("row", given_rows("paths"), ids=lambda row: row["id"])
def test_a_path_is_decided_as_the_corpus_says(row: dict[str, Any], tmp_path: Path) -> None:
    spots = {name: str(tmp_path / name) for name in ("ws", "home", "out")}
    lay_out(row.get("layout", []), spots)
    given = answer(
        {
            "tool": row["tool"],
            "args": {"path": filled(row["path"], spots)},
            "rules": row["rules"],
            "workspace": spots["ws"],
            "home": spots["home"],
            "additionalDirectories": [filled(folder, spots) for folder in row.get("add_dirs", [])],
        }
    )
    assert given in (row["expect"], *row["also_ok"]), row["why"]


@pytest.mark.parametrize("row", given_rows("commands"), ids=lambda row: row["id"])
def test_a_command_is_decided_as_the_corpus_says(row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    given = answer(
        {
            "tool": "bash",
            "args": {"command": row["command"]},
            "rules": row["rules"],
            "workspace": str(tmp_path / "ws"),
            "home": str(tmp_path / "home"),
        }
    )
    assert given in (row["expect"], *row["also_ok"]), row["why"]
