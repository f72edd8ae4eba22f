"""The strict JSON reader: what it refuses, what it takes, and that whatever it takes survives every later step."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.wire.strict_json import (
    DEEPEST,
    MOST_VALUES,
    PIECE,
    BadJson,
    as_safe,
    has_surrogate,
    is_safe,
    parse_json,
)

REFUSED = {
    "NaN": b"[NaN]",
    "Infinity": b"[Infinity]",
    "minus infinity": b'{"a": -Infinity}',
    "beyond a double": b"[1e999]",
    "beyond a double, negative": b"[-1e999]",
    "a long number": b"[" + b"1" * 400 + b"]",
    "a very long number": b"[" + b"1" * 10_000 + b"]",
    "the same key twice": b'{"a": 1, "a": 2}',
    "the same key twice by escape": b'{"a": 1, "\\u0061": 2}',
    "half of a pair": b'["\\ud800"]',
    "the other half": b'["\\uDFFF"]',
    "half of a pair as key": b'{"\\ud800": 1}',
    "halves in the wrong order": b'["\\udc00\\ud800"]',
    "raw surrogate bytes": b'["\xed\xa0\x80"]',
    "not UTF-8": b'["\xff"]',
    "UTF-16": '["a"]'.encode("utf-16"),
    "nested 101 times": b"[" * 101 + b"]" * 101,
    "nested 400 times": b"[" * 400 + b"]" * 400,
    "nested 100,000 times": b"[" * 100_000,
    "objects nested 100,000 times": b'{"a":' * 100_000,
    "many values": b"[" + b"[]," * (MOST_VALUES + 1) + b"1]",
    "many strings": b"[" + b'"",' * (2 * MOST_VALUES + 1) + b"1]",
    "many quotes": b'"' * (1 << 20),
    "many escapes": b'"' + b'\\"' * (1 << 20),
    "nothing": b"",
    "blanks": b"  ",
    "two values": b"1 2",
    "broken": b'{"a": ',
    "a backslash outside": b'[\\"[[[[',
    "a byte order mark": b"\xef\xbb\xbf[]",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_would_break_later_is_refused_at_once(data: bytes):
    began = time.thread_time()
    with pytest.raises(BadJson):
        parse_json(data)
    assert time.thread_time() - began < 1


def test_a_text_over_its_limit_is_refused_unread():
    with pytest.raises(BadJson, match="longer than 10 bytes"):
        parse_json(b"[" * 11, most_bytes=10)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        (b'["\\ud83d\\ude00", "\xf0\x9f\x98\x80"]', ["\U0001f600", "\U0001f600"]),
        (b'["[[[[\\"[[[", "{{{{\\\\"]', ['[[[["[[[', "{{{{\\"]),
        (b'["\\\\ud800"]', ["\\ud800"]),
        (b"[" * DEEPEST + b"]" * DEEPEST, None),
        (b' {"a": 1}\r\n', {"a": 1}),
    ],
    ids=["all kinds", "whole pairs", "brackets in strings", "an escaped backslash", "as deep as may be", "blanks"],
)
def test_what_is_json_is_taken(data: bytes, value):
    assert parse_json(data) == (json.loads(data) if value is None else value)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY)
def test_a_value_made_safe_can_be_written_and_read(value):
    safe = as_safe(value)
    assert is_safe(safe)
    assert parse_json(json.dumps(safe, ensure_ascii=False, allow_nan=False).encode()) == safe


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY)
def test_only_what_is_broken_is_replaced(value):
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        assert not is_safe(value)
    else:
        assert as_safe(value) == value == parse_json(written)


@given(st.binary() | st.text().map(str.encode) | ANY.map(lambda value: json.dumps(value).encode()))
def test_whatever_is_taken_is_safe_and_nothing_else_is_raised(data: bytes):
    try:
        value = parse_json(data)
    except BadJson:
        return
    assert is_safe(value)
    assert json.loads(data) == value


def test_replacements_name_what_was_there():
    deep: list = []
    for _ in range(DEEPEST + 1):
        deep = [deep]
    assert as_safe([math.nan, "a\ud800b"]) == ["[not a finite number: nan]", "a\ufffdb"]
    assert "nested deeper than" in json.dumps(as_safe(deep))


@pytest.mark.parametrize("place", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, 2 * PIECE + 5])
@pytest.mark.parametrize("half", [(0xD800,), (0xDFFF,), (0xDE00, 0xD83D), (0xD83D, 0xDE00)])
def test_half_of_a_pair_is_found_wherever_it_stands_in_a_long_text(place: int, half: tuple[int, ...]):
    filling = "\U0001f600" * (2 * PIECE + 5)
    text = filling[:place] + "".join(map(chr, half)) + filling[place:]
    assert has_surrogate([text])
    assert not is_safe([text])
    assert not has_surrogate([filling])
    assert is_safe([filling])
