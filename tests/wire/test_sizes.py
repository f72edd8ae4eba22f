"""The size of a value counts what it takes in memory, not only its strings."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.wire.sizes import size_of, size_of_few

SHAPES = {
    "empty lists": [[]] * 90_000,
    "empty objects": [{}] * 90_000,
    "locations": [{"path": f"/w/{number}"} for number in range(45_000)],
    "options": [{"optionId": str(number), "name": "x", "kind": "allow_once"} for number in range(20_000)],
    "numbers": list(range(90_000)),
    "a text": "x" * (1 << 20),
    "a wide text": "\U0001f600" * (1 << 18),
}


@pytest.mark.parametrize("value", SHAPES.values(), ids=SHAPES)
def test_the_memory_of_a_value_is_not_counted_as_much_less_than_it_takes(value):
    text = json.dumps(value, ensure_ascii=False)
    tracemalloc.start()
    try:
        parsed = json.loads(text)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size_of(parsed).memory > taken / 2


VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(VALUES, st.integers(0, 40))
def test_few_values_have_their_size_and_more_have_none(value, most: int):
    size = size_of(value)
    assert size_of_few(value, most) == (size if size.values <= most else None)
