"""Characters that cannot be shown honestly: control, invisible, bidirectional. One table for paths and rules.

Ordinary letters of any script, marks, dashes and emoji are fine; what makes a text look like another text is not.
"""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset(
    "\u034f"  # combining grapheme joiner: a mark that is never drawn
    "\u115f\u1160\u3164\uffa0"  # Hangul fillers: letters that are never drawn
    "\u17b4\u17b5"  # Khmer inherent vowels: never drawn
    "\u2800"  # braille blank: drawn as nothing
    "\ufffc"  # object replacement: stands for something that is not in the text
)

_NEWER_FORMAT = range(0x13430, 0x13440)
"""Egyptian hieroglyph format controls, some of which the Unicode tables of Python 3.11 do not know yet."""

_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control, format (bidirectional and zero-width too), lone surrogate, private use, line and paragraph end."""


def hidden_character(text: str) -> str | None:
    """The first character of the text that is not shown as what it is, as ``U+XXXX``, or None.

    Blanks are seen; tab and newline are control characters here: whoever allows them looks first.
    """
    if text.isascii() and text.isprintable():
        return None
    for index, char in enumerate(text):
        if is_never_drawn(char) or _is_stray_selector(text, index):
            return f"U+{ord(char):04X}"
    return None


def is_never_drawn(char: str) -> bool:
    """Whether the character by itself is drawn as nothing or changes how others are drawn; the client's table, too."""
    return char in _INVISIBLE or ord(char) in _NEWER_FORMAT or unicodedata.category(char) in _CATEGORIES


def visible(text: str, *, limit: int = 200) -> str:
    """The text with such characters spelled out, cut to ``limit`` characters, for messages."""
    shown = "".join(char if hidden_character(char) is None else f"\\u{{{ord(char):x}}}" for char in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _is_stray_selector(text: str, index: int) -> bool:
    """A variation selector that does not choose the form of the symbol before it carries hidden data."""
    if not (0xFE00 <= ord(text[index]) <= 0xFE0F or 0xE0100 <= ord(text[index]) <= 0xE01EF):
        return False
    follows_symbol = index > 0 and unicodedata.category(text[index - 1]) in {"So", "Sm", "Po", "Nd"}
    return not (follows_symbol and text[index] in "\ufe0e\ufe0f")
