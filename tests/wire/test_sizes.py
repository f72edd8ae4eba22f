"""The size of a value counts what it takes in memory, not only its strings."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from countersign.wire.sizes import size_of

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
