"""Characters that cannot be shown honestly: control, invisible, bidirectional. One table for paths and rules.

Ordinary letters of any script, marks, dashes and emoji are fine; what makes a text look like another text is not.
"""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset(
    chr(code)
    for low, high in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x2065, 0x2065),  # reserved
        (0x2800, 0x2800),  # braille blank: not ignorable by Unicode, but drawn as nothing
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
        (0xFFF0, 0xFFF8),  # reserved
        (0xFFFC, 0xFFFC),  # object replacement: stands for something that is not in the text
        (0x13430, 0x1343F),  # hieroglyph format controls, some of which Python 3.11 does not know yet
        (0xE0000, 0xE0FFF),  # tags and variation selectors
    )
    for code in range(low, high + 1)
)
"""Unicode's ``Default_Ignorable_Code_Point`` where the category does not say so, and some that are as good as those."""

_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control, format (bidirectional and zero-width too), lone surrogate, private use, line and paragraph end."""

_SYMBOLS = frozenset({"So", "Sm", "Po", "Nd"})


def hidden_character(text: str) -> str | None:
    """The first character of the text that is not shown as what it is, as ``U+XXXX``, or None.

    Blanks are seen; tab and newline are control characters here: whoever allows them looks first.
    """
    if text.isascii() and text.isprintable():
        return None
    for index, char in enumerate(text):
        if is_never_drawn(char) and not _chooses_form(text, index):
            return f"U+{ord(char):04X}"
    return None


def is_never_drawn(char: str) -> bool:
    """Return true if the character by itself is drawn as nothing or changes how others are drawn.

    The client's table is generated from this (``scripts/hidden_characters.py``).
    """
    return char in _INVISIBLE or unicodedata.category(char) in _CATEGORIES


def visible(text: str, *, limit: int = 200) -> str:
    """The text with such characters spelled out, cut to ``limit`` characters, for messages."""
    shown = "".join(char if hidden_character(char) is None else f"\\u{{{ord(char):x}}}" for char in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _chooses_form(text: str, index: int) -> bool:
    """Return true for a selector that chooses the form of the symbol before it; any other one carries hidden data."""
    return text[index] in "\ufe0e\ufe0f" and index > 0 and unicodedata.category(text[index - 1]) in _SYMBOLS
