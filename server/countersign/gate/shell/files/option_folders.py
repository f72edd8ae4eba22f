"""Folders that a program may write in because an option names them: ``-C FOLDER``, ``--cache-dir=FOLDER``.

The name of the option is taken for what it says, whatever the program, so no table need know every program. Only rules
that forbid or ask for editing are applied to what is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.languages.git import only_reads
from countersign.gate.shell.syntax.tree import Text, Word
from countersign.gate.shell.syntax.words import constant, with_pieces

_MOST = 200
_OPTION = re.compile(
    r"(?:-C|--?(?![\w-]*(?:\bno-|exclude|ignore|include|skip|template|config))"
    r"[\w-]*(?:dir|directory|folder|cwd|prefix|cache|store|tree|base|root|path|target|dest|destination|out|output))"
    r"(?:=(.*)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ATTACHED = re.compile(r"-C(.*)", re.DOTALL)


def written_folders(words: Sequence[Word], known: ProgramReading) -> Iterator[Word]:
    """Yield what options of a program that not only reads name as a folder."""
    if only_reads(known.git) if known.git is not None else known.program is not None and known.program.known:
        return
    for index, word in enumerate(words[1 : _MOST + 1], 1):
        text = word.prefix
        if text[:1] != "-":
            continue
        found = _OPTION.fullmatch(text) or _ATTACHED.fullmatch(text)
        if found is None:
            continue
        if word.value is None:
            yield _without(word, text.find("=") + 1 or 2 * text.startswith("-C"))
        elif found.lastindex:
            yield constant(found[1])
        elif index + 1 < len(words):
            yield words[index + 1]


def _without(word: Word, length: int) -> Word:
    """A word without the option in front, where that stands in a piece of its own."""
    first = word.pieces[0]
    if not isinstance(first, Text) or len(first.text) < length:
        return word
    rest = with_pieces(word, (first._replace(text=first.text[length:]), *word.pieces[1:]))
    return rest._replace(prefix=word.prefix[length:])
