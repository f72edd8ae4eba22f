"""Text made safe to look at: what cannot be seen is written as an escape.

Titles, names in listings and messages go through here; what is executed never does, and previews carry the true text,
which the client escapes when it draws. Which characters are hidden is for ``gate.characters`` to say.
"""

from __future__ import annotations

from countersign.gate import hidden_character

TITLE_LENGTH = 200
"""Characters of a title, at most (docs/gate.md "Environment of commands")."""
MESSAGE_LENGTH = 300
"""Characters of what an error quotes, at most."""

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str) -> str:
    """The text with every control, bidirectional, invisible or broken character as a visible escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(text, index) for index in range(len(text)))


def as_title(text: str) -> str:
    """One visible line of at most ``TITLE_LENGTH`` characters; what is cut off is marked with an ellipsis."""
    # Escaping makes text longer, never shorter, so more than this need not be looked at.
    shown = visible(text[: TITLE_LENGTH + 1])
    return shown if len(shown) <= TITLE_LENGTH else shown[: TITLE_LENGTH - 1] + "…"


def as_message(text: str) -> str:
    """One visible line of at most ``MESSAGE_LENGTH`` characters, for errors that quote an agent or a server."""
    shown = visible(" ".join(text[: 4 * MESSAGE_LENGTH].split())[: MESSAGE_LENGTH + 1])
    return shown if len(shown) <= MESSAGE_LENGTH else shown[: MESSAGE_LENGTH - 1] + "…"


def file_name(name: str) -> str:
    """A name as the disk gave it, visible, and fit for JSON even where its bytes are not UTF-8."""
    return visible(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def _shown(text: str, index: int) -> str:
    character = text[index]
    # With the character before it: a variation selector is in order right after the symbol whose form it chooses.
    if hidden_character(character) is None or (index > 0 and hidden_character(text[index - 1 : index + 1]) is None):
        return character
    return _SHORT.get(character) or _escape(ord(character))


def _escape(number: int) -> str:
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
