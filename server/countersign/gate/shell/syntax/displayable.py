"""Whether a text looks like what it is (docs/gate.md S5): no control, invisible or bidirectional characters.

What the gate shows is what runs, so a text that cannot be shown honestly can never be allowed. Ordinary letters of any
script, dashes and emoji are fine; a name that mixes scripts is only a risk, which the card tells.
"""

from __future__ import annotations

import re
import unicodedata

from countersign.gate.probes.hidden_characters import is_never_drawn

_ORDINARY = re.compile(r"[\t\n\x20-\x7e]*")

_SPLIT = "the text contains a carriage return, NUL or other control character"
_HIDDEN = "the text contains invisible or bidirectional characters"
_BLANK = "the text contains a space that the shell does not treat as one"


def unshowable(text: str) -> str | None:
    """Why the text cannot be shown as it runs, as one sentence, or None."""
    if _ORDINARY.fullmatch(text):
        return None
    for index, char in enumerate(text):
        if "\x20" <= char <= "\x7e" or char in "\t\n":
            continue
        reason = _reason(text, index, char)
        if reason is not None:
            return reason
    return None


def mixes_scripts(name: str) -> bool:
    """Whether a name has letters of more than one script, as a lookalike has."""
    if name.isascii():
        return False
    scripts = {unicodedata.name(char, "?").split(" ")[0] for char in name if char.isalpha()}
    return len(scripts - {"MICRO", "MASCULINE", "FEMININE"}) > 1


def _reason(text: str, index: int, char: str) -> str | None:
    category = unicodedata.category(char)
    if category == "Cc":
        return _SPLIT
    if category in {"Cs", "Co", "Cn"}:
        return "the text contains characters that cannot be shown"
    if char == "\u200d":
        joins = 0 < index < len(text) - 1 and _pictures(text[index - 1]) and _pictures(text[index + 1])
        return None if joins else _HIDDEN
    if char in "\ufe0e\ufe0f":
        return None if index and _pictures(text[index - 1], keycap=text[index + 1 : index + 2] == "\u20e3") else _HIDDEN
    if is_never_drawn(char):
        return _HIDDEN
    if category == "Zs":
        return _BLANK
    if category in {"Mn", "Me"} and not _carries_mark(text, index):
        return _HIDDEN
    return None


def _pictures(char: str, *, keycap: bool = False) -> bool:
    """Whether an emoji may continue after this character."""
    if keycap and char in "0123456789#*":
        return True
    return char > "\x7f" and (char in "\u203c\u2049\ufe0f" or unicodedata.category(char) in {"So", "Sk", "Sm"})


def _carries_mark(text: str, index: int) -> bool:
    """A combining mark belongs on a letter, digit or other mark; on a blank or an operator it hides something."""
    before = text[index - 1 : index]
    return bool(before) and (unicodedata.category(before)[0] in "LM" or before.isdigit() or before in "#*\ufe0f")
