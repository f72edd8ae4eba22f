"""A reason names the mode that really decided: no mode that would have let the call through is blamed for asking."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import get_args

import pytest

from countersign.gate.decisions.decide import _MODE_NAMES, MATRIX, _allowed_by, _unruled
from countersign.wire.verdicts import Mode

MODES = get_args(Mode)
CASES = [
    (
        "auto beside the workspace's default",
        ("auto", "default"),
        "execute",
        "Default mode asks before commands",
    ),
    ("the other way round", ("default", "auto"), "execute", "Default mode asks before commands"),
    ("two that ask", ("ask", "default"), "write", "Ask every time and Default modes ask before edits"),
    ("acceptEdits outside", ("auto", "acceptEdits"), "write", "Accept edits mode asks before edits"),
    ("dontAsk denies and does not ask", ("dontAsk", "default"), "execute", "Default mode asks before commands"),
]


@pytest.mark.parametrize(("modes", "category", "words"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_the_mode_that_asks_is_named(modes, category, words):
    assert _unruled(category, modes, False) == f"no rule matches. {words}"


@pytest.mark.parametrize("modes", [*permutations(MODES, 1), *permutations(MODES, 2)], ids="+".join)
@pytest.mark.parametrize("category", list(MATRIX))
def test_no_mode_that_allows_is_blamed(modes, category):
    reason = _unruled(category, modes, True)
    named = reason.partition(". ")[2].partition(" mode")[0].split(" and ")
    for mode in modes:
        if MATRIX[category][mode] == "allow":
            assert _MODE_NAMES[mode] not in named
    allowed = _allowed_by(modes).get(category)
    if allowed is not None:
        assert all(mode in allowed.reason for mode in modes)


def test_modes_are_named_as_in_the_editors_picker():
    words = (Path(__file__).parents[2] / "client-ts/webview/words.ts").read_text()
    picker = dict(re.findall(r"mode: '(\w+)',\s+name: t\((?:'|\")(.+?)(?:'|\")\)", words))
    assert picker == _MODE_NAMES
