"""Settings compare modes by the matrix that the gate decides by."""

import pytest

from countersign.gate.decisions.decide import MATRIX
from countersign.settings.modes import CELLS, MODES, as_mode, is_looser


def test_settings_and_the_gate_have_one_matrix():
    assert {mode: {category: MATRIX[category][mode] for category in MATRIX} for mode in MODES} == CELLS


LOOSER = [
    ("auto", "default", True),
    ("default", "ask", True),
    ("plan", "ask", True),
    ("plan", "default", False),
    ("dontAsk", "default", False),
    ("dontAsk", "ask", True),
    ("ask", "default", False),
    ("ask", "plan", True),
    ("acceptEdits", "default", True),
    ("default", "acceptEdits", False),
]


@pytest.mark.parametrize(("mode", "than", "looser"), LOOSER)
def test_a_mode_is_looser_where_any_category_is(mode, than, looser):
    assert is_looser(mode, than) is looser


@pytest.mark.parametrize("value", ["Plan", "", None, 1, ["plan"], {}])
def test_what_is_no_mode_is_none(value):
    assert as_mode(value) is None
