"""What stands between ``$'`` and ``'``, decoded as bash decodes it (docs/gate.md S4)."""

from __future__ import annotations

import re

from countersign.gate.shell.syntax.tree import NotUnderstood

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_SINGLE = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def decode_ansi(text: str) -> str:
    """The byte string (one character a byte) that bash makes of this text.

    Raises:
        NotUnderstood: an escape that bash itself treats by locale, or NUL, which ends the string early.
    """
    if "\\" not in text:
        return text
    if re.search(r"\\x\{|\\x(?![0-9A-Fa-f])|\\[uU](?![0-9A-Fa-f])", text):
        raise NotUnderstood("a `$'…'` string contains an unknown escape")
    return _ESCAPE.sub(_decode, text)


def _decode(found: re.Match[str]) -> str:
    byte, short, long, octal, control, single = found.groups()
    if control is not None:
        raise NotUnderstood("a `$'…'` string contains a control escape")
    if single is not None:
        return _SINGLE.get(single, "\\" + single)
    if short or long:
        point = int(short or long, 16)
        if point == 0 or point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise NotUnderstood("a `$'…'` string contains an invalid character")
        return chr(point).encode().decode("latin-1")
    value = int(byte, 16) if byte else int(octal, 8) & 0xFF
    if value == 0:
        raise NotUnderstood("a `$'…'` string contains NUL")
    return chr(value)
