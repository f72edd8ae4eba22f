"""Which characters cannot be shown honestly."""

from __future__ import annotations

import pytest

from countersign.gate.probes.hidden_characters import hidden_character, is_never_drawn, visible

SEEN = ["plain", "a b", "Grüße", "日本語", "עברית", "👍", "❤\ufe0f", "1\ufe0f", "a–b—c", "e\u0301", "“x”", "\u00a0"]
HIDDEN = {
    "a\0": "U+0000", "a\n": "U+000A", "\t": "U+0009", "\x1b[0m": "U+001B", "\x85": "U+0085", "\u00ad": "U+00AD",
    "\u200b": "U+200B", "\u200d": "U+200D", "\u202e": "U+202E", "\u2066": "U+2066", "\u2028": "U+2028",
    "\ufeff": "U+FEFF", "\u3164": "U+3164", "\u034f": "U+034F", "\ue000": "U+E000", "\ud800": "U+D800",
    "x\ufe0f": "U+FE0F", "\ufe01": "U+FE01", "👍\U000e0100": "U+E0100", "\U000e0041": "U+E0041", "\u2800": "U+2800",
    "\u180b": "U+180B", "\U000e0fff": "U+E0FFF", "\u2065": "U+2065",
}  # fmt: skip

DEFAULT_IGNORABLE = """
    00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8
    1BCA0-1BCA3 1D173-1D17A E0000-E0FFF
""".split()
"""Unicode's property of that name, from ``DerivedCoreProperties.txt``."""


@pytest.mark.parametrize("span", DEFAULT_IGNORABLE)
def test_whatever_unicode_lets_a_drawing_ignore_is_in_the_table(span: str) -> None:
    low, _, high = span.partition("-")
    codes = range(int(low, 16), int(high or low, 16) + 1)
    assert [f"{code:X}" for code in codes if not is_never_drawn(chr(code))] == []


@pytest.mark.parametrize("text", SEEN)
def test_ordinary_text_of_any_script_is_seen(text: str) -> None:
    assert hidden_character(text) is None


@pytest.mark.parametrize(("text", "character"), HIDDEN.items())
def test_what_is_not_seen_is_named(text: str, character: str) -> None:
    assert hidden_character(text) == character


def test_hidden_characters_are_spelled_out_and_long_text_is_cut() -> None:
    assert visible("a\u202eb") == "a\\u{202e}b"
    assert visible("x" * 300) == "x" * 199 + "…"
