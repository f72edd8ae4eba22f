"""A denied command is found in a text that is not understood, whatever hidden character stands in it."""

from __future__ import annotations

import pytest

from countersign.gate.shell.syntax.rough_scan import pieces

HIDDEN = ["\u00ad", "\u034f", "\u061c", "\u115f", "\u180b", "\u200b", "\u2065", "\u2800", "\ufe0f", "\U000e0041"]


@pytest.mark.parametrize("char", HIDDEN, ids=lambda char: f"U+{ord(char):04X}")
@pytest.mark.parametrize("text", ["r{0}m -rf x", "{0}rm -rf x", "rm{0} -rf x", "rm{0}-rf x", "ls; rm {0}-rf x"])
def test_a_hidden_character_does_not_hide_a_command(text: str, char: str) -> None:
    found = [[word.value for word in words] for words in pieces(text.format(char))]
    assert ["rm", "-rf", "x"] in found
