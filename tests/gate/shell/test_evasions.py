"""Every evasion ever thought of, with what went wrong as its reason. The list only grows.

What concerns one program alone stands beside its record (``test_records.py``).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpora import context

from .asked import decide
from .examples import shell_evasions

EVASIONS = shell_evasions()


def test_no_evasion_stands_twice() -> None:
    texts = [(row["command"], str(row["rules"]), str(context(row))) for row in EVASIONS]
    assert sorted(set(texts)) == sorted(texts)


@pytest.mark.parametrize("row", EVASIONS, ids=lambda row: row["name"])
def test_an_evasion_is_seen_through(row: dict[str, Any]) -> None:
    assert decide(row["command"], **row["rules"], **context(row)) == row["expect"]


def test_a_lone_surrogate_is_shown_otherwise_than_it_runs() -> None:
    """No row: TOML is text in UTF-8, which cannot hold one."""
    assert decide("echo a\ud800b", allow=["Bash(echo:*)"]) == "ask"
