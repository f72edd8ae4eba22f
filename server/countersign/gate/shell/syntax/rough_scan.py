"""Looking for denied commands in a text that is not understood (docs/gate.md S5): for deny and ask rules only.

The text can never be allowed, so too many pieces do no harm beyond a refusal that names its rule; each piece that
stands where a command could begin is read as plain words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from countersign.gate.probes.hidden_characters import is_never_drawn
from countersign.gate.shell.syntax.ansi_c_quoting import decode_ansi
from countersign.gate.shell.syntax.tree import NotUnderstood, Word
from countersign.gate.shell.syntax.words import constant

MAX_PIECES = 60_000
"""How many pieces of one text are looked at: all of one that is not refused by its size anyway."""

_CUT = re.compile(r"[;&|\n(){}`\r]+|\$\(|<\(|\b(?:then|do|else|if|while|until|elif|time)\b|(?<!\S)!(?!\S)")
_WORD = re.compile(r"""(?:[^\s'"\\]+|'[^']*'?|"(?:[^"\\]|\\.)*"?|\\.)+""", re.DOTALL)
_QUOTES = re.compile(r"['\"\\]")
_IN_FRONT = re.compile(r"[A-Za-z_]\w*=|\d*[<>]")
_REDIRECTION = re.compile(r"(?<!\d)\d*[<>]")
_QUOTING = re.compile(r"""'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)|([^'"\\]+)""", re.DOTALL)


def pieces(text: str) -> Iterator[tuple[Word, ...]]:
    """The words of everything that could be a command."""
    hidden = [ord(char) for char in set(text) if char not in "\t\n" and is_never_drawn(char)]
    spellings = [text, *(text.translate(dict.fromkeys(hidden, instead)) for instead in ("", " ") if hidden)]
    if "\\\n" in text:
        # Bash puts such lines together, unless quotes or a comment keep them apart.
        spellings.append(text.replace("\\\n", ""))
    if "$'" in text:
        spellings.append(_ANSI.sub(_spelled_out, text.replace("\\\n", "")))
    count = 0
    for spelling in spellings:
        for piece in _CUT.split(spelling):
            if _QUOTES.search(piece) is None:
                words = piece[:20_000].split()
            else:
                words = [_dequoted(word) for word in _WORD.findall(piece[:20_000])]
            while words and _IN_FRONT.match(words[0]):
                words = words[1:]
            if words:
                yield tuple([constant(word) for word in words[:200]])
                glued = _REDIRECTION.split(words[0], maxsplit=1)[0]
                if glued not in {"", words[0]}:
                    yield (constant(glued), *[constant(word) for word in words[1:200]])
                count += 1
                if count > MAX_PIECES:
                    return


def _spelled_out(found: re.Match[str]) -> str:
    try:
        text = decode_ansi(found[1])
    except NotUnderstood:
        return found[0]
    # What would end a command does not where it is quoted.
    return re.sub(r"([^\w.,:/=+-])", r"\\\1", re.sub(r"[;&|\n(){}`\r]", "_", text))


_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)


def _dequoted(word: str) -> str:
    return "".join(
        single or re.sub(r"\\([$`\"\\\n])", r"\1", double) or escaped or plain
        for single, double, escaped, plain in _QUOTING.findall(word)
    )
