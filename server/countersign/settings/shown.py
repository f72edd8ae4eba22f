"""Foreign text as people are shown it: in backticks, with nothing invisible left invisible."""

from __future__ import annotations

from countersign.wire.base import Json

from .trust import canonical


def shown(text: str) -> str:
    """The text in backticks; control, bidirectional and other unprintable characters as visible escapes."""
    return "`" + "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text) + "`"


def shown_value(value: Json) -> str:
    """A value in backticks: a text as it is, anything else as JSON."""
    return shown(value if isinstance(value, str) else canonical(value))
