"""Numbers that a client reads as they are. JavaScript reads a longer integer as the nearest number that it can hold, so
that a card would show another one than the agent sent."""

from __future__ import annotations

from countersign.wire.base import Json

MOST_EXACT = 1 << 53
"""Up to this every integer has a number of its own in JavaScript."""


def exactly_read(value: Json) -> Json:
    """Return the value with integers beyond ``MOST_EXACT`` as texts; the value itself where it has none."""
    match value:
        case int() if abs(value) > MOST_EXACT:
            return str(value)
        case list():
            entries = [exactly_read(each) for each in value]
            return entries if any(new is not old for new, old in zip(entries, value, strict=True)) else value
        case dict():
            members = {key: exactly_read(each) for key, each in value.items()}
            return members if any(members[key] is not each for key, each in value.items()) else value
        case _:
            return value
