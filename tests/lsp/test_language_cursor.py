"""Where the cursor is in a settings text, finished or not, and how places are counted."""

from __future__ import annotations

import pytest
from lsprotocol import types

from countersign.lsp.language.cursor import cursor_at, setting_path
from countersign.lsp.language.positions import Positions, units_of
from countersign.settings.jsonc import parse_jsonc


def place(text: str) -> tuple[object, ...] | None:
    """Whether a key or a value belongs there, the path, and what the cursor is in."""
    offset = text.index("|")
    cursor = cursor_at(text.replace("|", "", 1), offset)
    if cursor is None:
        return None
    return (cursor.place, cursor.path, cursor.token.text if cursor.token else None)


PLACES = [
    ("", '|{"a": 1}', None),
    ("", '{"a": 1}|', None),
    ("a key in quotes", '{"a|b": 1}', ("key", (), "ab")),
    ("a missing key", "{|}", ("key", (), None)),
    ("a missing key after a comma", '{"a": 1, |}', ("key", (), None)),
    ("a value", '{"a": "x|y"}', ("value", ("a",), "xy")),
    ("a missing value", '{"a": |}', ("value", ("a",), None)),
    ("a missing value before another key", '{"a": |, "b": 1}', ("value", ("a",), None)),
    ("a word", '{"a": tr|ue}', ("value", ("a",), "true")),
    ("behind a word", '{"a": tru|}', ("value", ("a",), "tru")),
    ("nested", '{"a": {"b": {"c": "|"}}}', ("value", ("a", "b", "c"), "")),
    ("a key of an inner object", '{"a": {"b": 1, "|"}}', ("key", ("a",), "")),
    ("an item", '{"a": ["x", "y|"]}', ("value", ("a", 1), "y")),
    ("between items", '{"a": ["x", |]}', ("value", ("a", 1), None)),
    ("before a comma", '{"a": ["x"|, "y"]}', ("value", ("a", 1), None)),
    ("an item that is an object", '{"a": ["x", {"rule": "r|"}]}', ("value", ("a", 1, "rule"), "r")),
    ("a comma is missing", '{"a": ["x" "y|"]}', ("value", ("a", 1), "y")),
    ("a comma is missing between members", '{"a": 1 "b|": 2}', ("key", (), "b")),
    ("a quote is missing", '{"a": ["Bash(ls |\n', ("value", ("a", 0), "Bash(ls ")),
    ("a quote is missing and more follows", '{"a": ["Ba|\n  ], "b": 1}', ("value", ("a", 0), "Ba")),
    ("every end is missing", '{"a": {"b": ["|', ("value", ("a", "b", 0), "")),
    ("just before a string", '{"a": |"x"}', ("value", ("a",), None)),
    ("just behind a string", '{"a": "x"|}', ("key", (), None)),
    ("an escaped quote", r'{"a": "x\"|y"}', ("value", ("a",), 'x"y')),
    ("a line comment", '{"a": 1 // he|re\n}', None),
    ("the end of a line comment", '{"a": 1 // here|\n}', None),
    ("a block comment", '{"a": /* | */ 1}', None),
    ("an open block comment", '{"a": /* |', None),
    ("behind a block comment", '{"a": /* x */ |1}', ("value", ("a",), "1")),
    ("quotes in a comment", '{ // "a": "\n "b": "|"}', ("value", ("b",), "")),
    ("too many ends", '{"a": 1}}}|', None),
    ("a list at the top", '["|"]', ("value", (0,), "")),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*case[1:], id=case[0] or case[1]) for case in PLACES])
def test_the_place_is_told_however_unfinished_the_text_is(text: str, expected: object) -> None:
    assert place(text) == expected


def test_the_other_keys_of_an_object_are_known_before_and_after_the_cursor() -> None:
    text = '{"x": {"a": 1, "", "b": {"deep": 2}, "c": [3]}, "y": 4}'
    cursor = cursor_at(text, text.index('""') + 1)
    assert cursor is not None
    assert cursor.keys == {"a", "b", "c"}


def test_an_item_is_told_by_where_it_begins() -> None:
    text = '{"a": ["x", {"rule": "r"}]}'
    for inside, begins in (("x", '"x"'), ('r"}', "{")):
        cursor = cursor_at(text, text.rindex(inside))
        assert cursor is not None
        assert cursor.item == text.rindex(begins)


PATHS = [
    (("countersign.permissions.allow", 0), False, ("permissions", "allow", 0)),
    (("countersign.permissions", "allow", 0), False, ("permissions", "allow", 0)),
    (("countersign", "permissions", "allow", 0), False, ("permissions", "allow", 0)),
    (("countersign", "agents", "a.b", "bypassPermissions"), False, ("agents", "a.b", "bypassPermissions")),
    (("permissions", "allow", 0), False, None),
    (("permissions", "allow", 0), True, ("permissions", "allow", 0)),
    (("permissions.allow", 0), True, ("permissions", "allow", 0)),
    (("countersign.permissions", "allow", 0), True, ("permissions", "allow", 0)),
    (("countersignature.mode",), False, None),
    ((), True, None),
]


@pytest.mark.parametrize(("path", "ours", "expected"), PATHS)
def test_a_path_is_read_as_the_settings_read_it(path, ours, expected) -> None:
    assert setting_path(path, ours=ours) == expected


TEXT = "a\r\nb😀c\rd\u2028e\n\x0cf"
COUNTED = [
    # character, line, column in UTF-16, in UTF-8
    ("a", 0, 0, 0),
    ("b", 1, 0, 0),
    ("😀", 1, 1, 1),
    ("c", 1, 3, 5),
    ("d", 2, 0, 0),
    ("e", 2, 2, 4),
    ("f", 3, 1, 1),
]


@pytest.mark.parametrize(("char", "line", "in_utf16", "in_utf8"), COUNTED)
def test_places_are_counted_as_the_editor_counts_them(char, line, in_utf16, in_utf8) -> None:
    for encoding, column in (("utf-16", in_utf16), ("utf-8", in_utf8), (None, in_utf16)):
        positions = Positions.of(TEXT, units_of(encoding))
        assert positions.position(TEXT.index(char)) == types.Position(line, column)
        assert positions.offset(types.Position(line, column)) == TEXT.index(char)


def test_places_count_as_in_the_reading_of_settings() -> None:
    text = '\ufeff{"a":\r1,\r\n"😀": /* \u2028 */ 2}'
    document = parse_jsonc(text)
    plain = Positions.of(text)
    for offset in range(1, len(text)):
        if text[offset] != "\n":
            assert plain.at(*document.position(offset)) == offset - 1


BEYOND = [
    (types.Position(0, 99), 1),
    (types.Position(1, 2), 4),  # in the middle of a character
    (types.Position(9, 0), len(TEXT)),
]


@pytest.mark.parametrize(("position", "offset"), BEYOND)
def test_a_place_that_is_none_is_taken_as_the_nearest(position, offset) -> None:
    assert Positions.of(TEXT).offset(position) == offset
