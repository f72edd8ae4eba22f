"""The size of JSON values and texts, so that what each peer sends can be bounded. Which bound holds is the caller's."""

from __future__ import annotations

from dataclasses import dataclass

from countersign.wire.base import Json

OVERHEAD = 8
"""Characters that a value takes as JSON text, about, beside its strings."""


VALUE_MEMORY = 128
"""Bytes that a value takes beside the characters of its strings, about: small objects and lists take most."""


@dataclass(frozen=True, slots=True)
class Size:
    """``values``: how many values a JSON value consists of; ``characters``: its length as JSON text, about;
    ``memory``: bytes that it takes, about."""

    values: int
    characters: int
    memory: int


FEW = 2000
"""Values that are counted in a millisecond."""


def size_of(value: Json) -> Size:
    """Return the size of a value, in time linear in its values."""
    size = size_of_few(value, most=None)
    assert size is not None
    return size


def size_of_few(value: Json, most: int | None = FEW) -> Size | None:
    """Return the size of a value; None if it has more values than ``most``, in a time that does not grow with them."""
    values = characters = memory = 0
    ahead = [value]
    while ahead:
        if most is not None and values + len(ahead) > most:
            return None
        each = ahead.pop()
        values += 1
        if isinstance(each, str):
            characters += len(each)
            memory += text_memory(each)
        elif isinstance(each, list):
            ahead += each
        elif isinstance(each, dict):
            ahead += each.values()
            for key in each:
                characters += len(key)
                memory += text_memory(key)
    return Size(values, characters + OVERHEAD * values, memory + VALUE_MEMORY * values)


def text_memory(text: str) -> int:
    """Return the bytes that a text takes at most: one character outside ASCII widens all of them."""
    return len(text) if text.isascii() else 4 * len(text)
