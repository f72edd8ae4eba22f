"""What a row of the chat shows of a call's input: whole where it is short, never long."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.wire.shown_input import MOST_SHOWN_INPUT, shown_input
from countersign.wire.sizes import size_of

LONG = "y" * (1 << 20)


@pytest.mark.parametrize(
    "given_input",
    [
        {"a": LONG},
        {"a": LONG, "b": LONG, "c": 1},
        {"a": {"b": LONG}},
        {"a": [1] * 50_000},
        {LONG: 1},
        {str(number): "y" * 100 for number in range(5000)},
    ],
    ids=["text", "texts", "nested", "values", "key", "many"],
)
def test_a_long_input_is_cut_and_says_so(given_input: dict):
    shown = shown_input(given_input)
    assert size_of(shown).characters <= 2 * MOST_SHOWN_INPUT
    assert "cut" in json.dumps(shown)


values = st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.text(max_size=5), values, max_size=5))
def test_a_short_input_is_shown_as_it_is(given_input: dict):
    assert shown_input(given_input) == given_input
