"""Titles show what they hold."""

from __future__ import annotations

import pytest

from countersign.tools.visible import TITLE_LENGTH, as_title, file_name, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, ünïcödé, 漢字, 🙂", "plain text, ünïcödé, 漢字, 🙂"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("\x00\x1b[31m\x7f\x85", "\\x00\\x1b[31m\\x7f\\x85"),
        ("a\u202eb\u2066c\u200b", "a\\u202eb\\u2066c\\u200b"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("\ud800", "\\ud800"),
        ("❤\ufe0f is an emoji, a\ufe0f is not", "❤\ufe0f is an emoji, a\\ufe0f is not"),
        ("\ufeffmark", "\\ufeffmark"),
    ],
)
def test_what_cannot_be_seen_is_written_as_an_escape(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize("text", ["x" * 1000, "\n" * 1000, "\u202e" * 201, "🙂" * 201])
def test_a_long_title_is_cut_with_a_mark(text: str) -> None:
    title = as_title(text)
    assert len(title) == TITLE_LENGTH
    assert title.endswith("…")


def test_a_title_of_just_the_length_is_left_alone() -> None:
    assert as_title("x" * TITLE_LENGTH) == "x" * TITLE_LENGTH


def test_a_name_that_is_no_utf8_can_be_sent_as_json() -> None:
    assert file_name(b"caf\xe9".decode("utf-8", "surrogateescape")) == "caf\\xe9"
