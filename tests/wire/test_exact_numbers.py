"""A card shows every digit of a number, though its client would round it."""

from __future__ import annotations

import json

from countersign.wire.approvals import ToolPreview
from countersign.wire.base import as_json, to_json
from countersign.wire.exact_numbers import exactly_read


def test_an_integer_that_a_client_would_round_reaches_it_with_all_its_digits() -> None:
    given = {
        "account": 9007199254740993,
        "in": [{"a": -(10**30)}],
        "small": 2**53,
        "yes": True,
        "half": 0.5,
        "no": None,
    }
    shown = ToolPreview(input=given).input
    assert shown == {**given, "account": "9007199254740993", "in": [{"a": f"-1{'0' * 30}"}]}
    # As JavaScript reads it: every integer as the nearest double.
    assert json.loads(to_json(ToolPreview(input=given)), parse_int=float)["input"] == shown
    assert as_json(ToolPreview(input=shown))["input"] == shown


def test_an_input_without_such_numbers_is_not_copied() -> None:
    given = {"a": [1, {"b": "9007199254740993"}], "c": False}
    assert exactly_read(given) is given
