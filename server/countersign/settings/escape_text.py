"""Foreign text as people are shown it: in backticks, with nothing invisible left invisible."""

from __future__ import annotations

from countersign.settings.confirmations import canonical
from countersign.wire.base import Json

MOST_SHOWN = 2000
"""Characters of one foreign text that a sentence or a dialog shows; the rest is counted."""


def escaped(text: str, most: int = MOST_SHOWN) -> str:
    """The text with control, bidirectional and other unprintable characters as visible escapes, and at most so long."""
    rest = len(text) - most
    shown_part = text[:most]
    made = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown_part)
    return made if rest <= 0 else f"{made}… ({rest} more characters)"


def shown(text: str) -> str:
    """As ``escaped``, in backticks."""
    return f"`{escaped(text)}`"


def shown_value(value: Json) -> str:
    """A value in backticks: a text as it is, anything else as JSON."""
    return shown(value if isinstance(value, str) else canonical(value))
