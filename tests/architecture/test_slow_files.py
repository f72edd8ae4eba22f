"""The list of slow test files names files that are there, each once and in order."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_of_slow_files_is_in_order_and_names_test_files() -> None:
    lines = (ROOT / "tests" / "slow_files.txt").read_text().splitlines()
    assert lines == sorted(set(lines))
    assert [line for line in lines if not (ROOT / line).is_file()] == []
