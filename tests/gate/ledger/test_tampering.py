"""The tamper list: each way once, found by what must find it. ``make soak`` tries each at many places."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.gate.ledger.tampering import TAMPERINGS, found_by, undetected


@pytest.mark.parametrize("name", TAMPERINGS)
def test_each_way_is_found_by_what_must_find_it(name: str, tmp_path: Path):
    finder, tamper = TAMPERINGS[name]
    assert found_by(finder, tamper, tmp_path / "storage", random.Random(name)) is None


@pytest.mark.parametrize("finder", ["start", "check", "refused", "told", "commit", "anchor"])
def test_what_was_not_tampered_with_is_found_by_nothing(finder, tmp_path: Path):
    """The checks of this list can fail: each says so of a ledger that nobody touched."""
    assert found_by(finder, lambda file, rng: None, tmp_path / "storage", random.Random(1)) is not None


def test_the_places_differ_from_number_to_number():
    assert list(undetected(7, range(2 * len(TAMPERINGS)))) == []
    assert len(TAMPERINGS) >= 24
