"""Which characters cannot be shown honestly."""

from __future__ import annotations

import pytest

from countersign.gate.probes.hidden_characters import hidden_character, visible

SEEN = ["plain", "a b", "Grüße", "日本語", "עברית", "👍", "❤\ufe0f", "1\ufe0f", "a–b—c", "e\u0301", "“x”", "\u00a0"]
HIDDEN = {
    "a\0": "U+0000", "a\n": "U+000A", "\t": "U+0009", "\x1b[0m": "U+001B", "\x85": "U+0085", "\u00ad": "U+00AD",
    "\u200b": "U+200B", "\u200d": "U+200D", "\u202e": "U+202E", "\u2066": "U+2066", "\u2028": "U+2028",
    "\ufeff": "U+FEFF", "\u3164": "U+3164", "\u034f": "U+034F", "\ue000": "U+E000", "\ud800": "U+D800",
    "x\ufe0f": "U+FE0F", "\ufe01": "U+FE01", "👍\U000e0100": "U+E0100", "\U000e0041": "U+E0041", "\u2800": "U+2800",
}  # fmt: skip


@pytest.mark.parametrize("text", SEEN)
def test_ordinary_text_of_any_script_is_seen(text: str) -> None:
    assert hidden_character(text) is None


@pytest.mark.parametrize(("text", "character"), HIDDEN.items())
def test_what_is_not_seen_is_named(text: str, character: str) -> None:
    assert hidden_character(text) == character


def test_hidden_characters_are_spelled_out_and_long_text_is_cut() -> None:
    assert visible("a\u202eb") == "a\\u{202e}b"
    assert visible("x" * 300) == "x" * 199 + "…"
