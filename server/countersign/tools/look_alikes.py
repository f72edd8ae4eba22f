"""Words as a person reads them, whatever letters they are written with.

For names that another program chose and that are searched for words: an agent's options, the fields of its questions.
The letters are those of Unicode's confusables (UTS 39) that look like one Latin letter; the table is not complete.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_LETTERS: Mapping[str, str] = {
    # Cyrillic, Greek, Armenian, Cherokee, and Latin letters of other shapes
    "a": "аɑα", "b": "ЬᏏ", "c": "сϲᴄ", "d": "ԁᏧժ", "e": "еҽє", "f": "ƒք", "g": "ɡցԍ", "h": "һհᏂ", "i": "іıɩι",
    "j": "јյϳ", "k": "кκ", "l": "ӏⅼǀ", "m": "мᴍ", "n": "ոռηп", "o": "оοօσԾ", "p": "рρϱ", "q": "ԛգզ", "r": "гᴦ",
    "s": "ѕꜱՏ", "t": "тτ", "u": "υսʋц", "v": "ѵνᴠ", "w": "ѡԝաω", "x": "хχ×", "y": "уүγყ", "z": "ᴢʐ",
    "A": "АΑᎪ", "B": "ВΒᏴ", "C": "СϹᏟ", "D": "Ꭰ", "E": "ЕΕᎬ", "F": "ϜҒ", "G": "ԌᏀ", "H": "НΗᎻ", "I": "ІΙ", "J": "ЈᎫ",
    "K": "КΚᏦ", "L": "ᏞԼ", "M": "МΜᎷ", "N": "Ν", "O": "ОΟՕ", "P": "РΡᏢ", "Q": "Ԛ", "R": "ᎡᏒ", "S": "ЅᏚՏ", "T": "ТΤᎢ",
    "U": "Ս", "V": "ѴᏙ", "W": "ԜᎳ", "X": "ХΧ", "Y": "ҮΥᎽ", "Z": "ΖᏃ",
}  # fmt: skip
_AS_LATIN = str.maketrans({each: latin for latin, letters in _LETTERS.items() for each in letters})
_SHAPE = re.compile(
    r"LATIN LETTER SMALL CAPITAL ([A-Z])|(?:NEGATIVE )?(?:CIRCLED|SQUARED) LATIN CAPITAL LETTER ([A-Z])"
    r"|LATIN (?:SMALL|CAPITAL) LETTER (?:TURNED |REVERSED )?([A-Z])(?: WITH .*)?\Z"
)
_UNSEEN = ("Mn", "Me", "Cf")
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that are drawn as nothing."""
_DIGITS = str.maketrans("013457@$", "oleastas")
_WORD = re.compile(r"[\w@$]+")
_LIKE_LATIN = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})


def skeleton(text: str) -> str:
    """Return the text with letters that look Latin as Latin ones, without accents and invisible characters."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(_AS_LATIN))
    visible = (each for each in parts if unicodedata.category(each) not in _UNSEEN and each not in _BLANK)
    return "".join(each if each.isascii() else _latin(each) for each in visible)


def without_digits_for_letters(text: str, one: str = "l") -> str:
    """Return the text with words that mix digits and letters (``Y0L0``) as they are read (``YoLo``). ``one`` is the
    letter that a 1 stands for."""
    letters = {**_DIGITS, ord("1"): one}
    return _WORD.sub(lambda match: match[0] if match[0].isdigit() else match[0].translate(letters), text)


def looks_latin(text: str) -> bool:
    """Whether letters of another alphabet stand among Latin ones, or all of them read as Latin."""
    letters = [each for each in unicodedata.normalize("NFKC", text) if each.isalpha()]
    if not any(unicodedata.name(each, "").split(" ")[0] in _LIKE_LATIN for each in letters):
        return False
    return any(map(_is_latin, letters)) or all(_is_latin(each) for each in skeleton(text) if each.isalpha())


def _is_latin(letter: str) -> bool:
    return (letter.isascii() and letter.isalpha()) or unicodedata.name(letter, "").startswith("LATIN ")


def _latin(letter: str) -> str:
    match = _SHAPE.match(unicodedata.name(letter, ""))
    return (match[1] or match[2] or match[3]).lower() if match else letter
