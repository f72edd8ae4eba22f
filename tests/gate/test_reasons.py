"""A reason names the mode that really decided: no mode that would have let the call through is blamed for asking."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import pytest

from countersign.gate.decisions.decide import MATRIX, _allowed_by, _unruled
from countersign.wire.verdicts import Mode

MODES = get_args(Mode)
CASES = [
    (
        "auto beside the workspace's default",
        ("auto", "default"),
        "execute",
        "mode default asks before running commands",
    ),
    ("the other way round", ("default", "auto"), "execute", "mode default asks before running commands"),
    ("two that ask", ("ask", "default"), "write", "modes ask and default ask before changing files"),
    ("acceptEdits outside", ("auto", "acceptEdits"), "write", "mode acceptEdits asks before changing files"),
    ("dontAsk denies and does not ask", ("dontAsk", "default"), "execute", "mode default asks before running commands"),
]


@pytest.mark.parametrize(("modes", "category", "words"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_the_mode_that_asks_is_named(modes, category, words):
    assert _unruled(category, modes, False) == f"no rule matches, and {words}"


@pytest.mark.parametrize("modes", [*permutations(MODES, 1), *permutations(MODES, 2)], ids="+".join)
@pytest.mark.parametrize("category", list(MATRIX))
def test_no_mode_that_allows_is_blamed(modes, category):
    reason = _unruled(category, modes, True)
    named = reason.replace(",", "").split()
    for mode in modes:
        if MATRIX[category][mode] == "allow":
            assert mode not in named
    allowed = _allowed_by(modes).get(category)
    if allowed is not None:
        assert all(mode in allowed.reason for mode in modes)
