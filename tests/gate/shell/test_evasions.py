"""Every evasion ever thought of, with what went wrong as its name. The list only grows.

What concerns one program alone stands beside its record (``test_records.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .asked import decide, rows

EVASIONS = rows(Path(__file__).parent / "evasions.jsonl")


def test_every_evasion_has_a_name_of_its_own() -> None:
    names = [row["name"] for row in EVASIONS]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("row", EVASIONS, ids=lambda row: row["name"])
def test_an_evasion_is_seen_through(row: dict[str, Any]) -> None:
    assert decide(row["command"], **row["rules"], **row.get("with", {})) == row["expect"]
