"""JSON from outside, read strictly: what agents, model servers and stored chats give us.

``json.loads`` takes duplicate keys, ``NaN``, ``1e999``, half of a surrogate pair and any nesting, and each of these
breaks something later: a chat that cannot be drawn, stored or sent to a model again. ``parse_json`` refuses them before
it builds anything, in time linear in the bytes. ``as_safe`` repairs values that are already built. What a value means
is left to whoever reads it.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from countersign.wire.base import Json

MOST_BYTES = 16 << 20
"""Bytes of one JSON text."""
DEEPEST = 100
"""How deep a value may be nested; models and encoders give up at some depth beyond, each at its own."""
MOST_VALUES = 100_000
"""Values in one JSON text: so many are parsed in some 50 ms."""
LONGEST_NUMBER = 300
"""Digits of one number; a client reads a longer one as infinity."""
PIECE = 1 << 18
"""Characters of a text that are looked at in one step of the interpreter."""
REPLACED = "\ufffd"
"""Stands for half of a surrogate pair."""

_STRUCTURE = b"[]{}"
_NO_STRUCTURE = bytes(set(range(256)) - set(_STRUCTURE))
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadJson(ValueError):
    """The text is not JSON as it is taken here; the message says why, without quoting the text."""


def parse_json(text: bytes | bytearray | str, *, most_bytes: int = MOST_BYTES) -> Json:
    """Return the value of a JSON text.

    Raises:
        BadJson: it is too long, too deep, has too many values, is not UTF-8 or not JSON, or holds a duplicate key, a
            number that is not finite, or half of a surrogate pair.
    """
    if len(text) > most_bytes:
        raise BadJson(f"it is longer than {most_bytes} bytes")
    try:
        data = text.encode() if isinstance(text, str) else bytes(text)
        _check_structure(data)
        value = _DECODER.decode(data.decode())
    except BadJson:
        raise
    except UnicodeError:
        raise BadJson("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise BadJson("it is not valid JSON") from None
    if _HALF.search(data) is not None and has_surrogate(value):
        raise BadJson("it holds half of a surrogate pair")
    return value


def has_surrogate(value: Json) -> bool:
    """Return true if a key or a string in the value has no UTF-8."""
    ahead: list[Json] = [value]
    while ahead:
        match ahead.pop():
            case str() as text:
                if not _is_unicode(text):
                    return True
            case list() as entries:
                ahead += entries
            case dict() as entries:
                ahead += entries
                ahead += entries.values()
            case _:
                pass
    return False


def is_safe(value: Json) -> bool:
    """Return true if ``as_safe`` would change nothing."""
    level: list[Json] = [value]
    for _ in range(DEEPEST + 1):
        inner: list[Json] = []
        for each in level:
            match each:
                case str() as text:
                    if not _is_unicode(text):
                        return False
                case float() as number:
                    if not math.isfinite(number):
                        return False
                case list() as entries:
                    inner += entries
                case dict() as entries:
                    inner += entries
                    inner += entries.values()
                case _:
                    pass
        if not inner:
            return True
        level = inner
    return False


def as_safe(value: Json) -> Json:
    """Return the value with every piece replaced that cannot be stored, sent or drawn; each replacement names it."""
    return value if is_safe(value) else _repaired(value, DEEPEST)


def safe_text(text: str) -> str:
    """Return the text with each half of a surrogate pair replaced."""
    return text if text.isascii() else _SURROGATE.sub(REPLACED, text)


def _is_unicode(text: str) -> bool:
    """Return true if the text has no half of a surrogate pair. Encoded piece by piece: ten times as fast as a regular
    expression, which would hold up every thread while it looks through megabytes."""
    if text.isascii():
        return True
    try:
        for start in range(0, len(text), PIECE):
            text[start : start + PIECE].encode()
    except UnicodeEncodeError:
        return False
    return True


def _repaired(value: Json, depth: int) -> Json:
    match value:
        case str():
            return safe_text(value)
        case float() if not math.isfinite(value):
            return f"[not a finite number: {value}]"
        case list() | dict() if depth == 0:
            return f"[nested deeper than {DEEPEST}]"
        case list():
            return [_repaired(entry, depth - 1) for entry in value]
        case dict():
            return {safe_text(key): _repaired(entry, depth - 1) for key, entry in value.items()}
        case _:
            return value


def _check_structure(data: bytes) -> None:
    """Refuse too many values and too deep a nesting before anything is built.

    Strings are cut out first. The cut is right up to the first character that is not JSON, and no parser goes further.
    """
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if bare.count(b'"') > 4 * MOST_VALUES:
        raise BadJson(f"it has more than {MOST_VALUES} values")
    outside = b"".join(bare.split(b'"')[::2])
    if outside.count(b",") + outside.count(b"[") + outside.count(b"{") > MOST_VALUES:
        raise BadJson(f"it has more than {MOST_VALUES} values")
    depth = 0
    for bracket in outside.translate(None, _NO_STRUCTURE):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEEPEST:
            raise BadJson(f"it is nested deeper than {DEEPEST}")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadJson("an object in it has the same key twice")
    return made


def _constant(name: str) -> NoReturn:
    raise BadJson(f"`{name}` is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJson("a number in it is not finite")
    return number


def _int(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise BadJson(f"a number in it has more than {LONGEST_NUMBER} digits")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)
