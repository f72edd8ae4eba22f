"""Files that a program chooses by patterns and endings of its own (facet ``chooses``): ``flake8 --filename '*'``.

Linters and formatters take files of their own kinds in the folders that they are given. Some options add kinds, and
then what they print of a file may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.program_globs import has_groups, may_be_secret_glob, without_groups
from countersign.gate.shell.programs.argv import one_spelling
from countersign.gate.shell.programs.tables import FACETS, names_with_field, words_of
from countersign.gate.shell.syntax.tree import Word

CHOOSING = frozenset(key[0] for key in FACETS["chooses"])
_NAMES, _ENDINGS, _KNOWN, _ANY = (words_of("chooses", field) for field in ("names", "endings", "known", "any_file"))
_PATTERNS = names_with_field("chooses", "operands")
_NOTHING = frozenset[str]()


def chosen_files(
    name: str, words: Sequence[Word], known: ProgramReading, is_folder: Callable[[str], bool]
) -> Iterator[FileUse]:
    """Yield the patterns that name files to a program, and what may be a secret by the names or endings that it takes.
    ``is_folder`` says of an operand whether it is one."""
    options = {one_spelling(option.name) for option in known.arguments.options}
    every = not options.isdisjoint(map(one_spelling, _ANY.get(name, _NOTHING)))
    for _, word in known.arguments.operands if name in _PATTERNS else ():
        text = word.value or ""
        if _WILD.search(text) or has_groups(text):
            # One with a mark in front leaves files out.
            hidden = any(each.rsplit("/", 1)[-1] == ".*" for each in without_groups(text))
            if text[0] != "!" and (hidden or every) and may_be_secret_glob(text):
                yield _unknown(word)
            else:
                yield FileUse("read", word, shown=True, free=True)
        elif every and word.value is not None and is_folder(text):
            yield _unknown(word)
    for word in _values(_NAMES.get(name, _NOTHING), words, known):
        if word.value is None or any(may_be_secret_glob(each) for each in _BETWEEN.split(word.value)):
            yield _unknown(word)
    for word in _values(_ENDINGS.get(name, _NOTHING), words, known):
        # `*` alone is any ending, and what a text without one means differs.
        endings = [each for each in _BETWEEN.split(word.value or "") if each]
        spelled = {f".{each.removeprefix('*').removeprefix('.')}" for each in endings}
        if not endings or not spelled <= _KNOWN.get(name, _NOTHING):
            yield _unknown(word)


_WILD = re.compile(r"[*?\[]")
_BETWEEN = re.compile(r"[,\s]+")


def _values(names: frozenset[str], words: Sequence[Word], known: ProgramReading) -> Iterator[Word]:
    """The values of these options in any spelling; of one that the row does not say to take any, the next word."""
    spelled = {one_spelling(name) for name in names}
    for option in known.arguments.options if names else ():
        if one_spelling(option.name) in spelled:
            if option.value is not None:
                yield option.value
            else:
                yield from words[option.index + 1 : option.index + 2]


def _unknown(word: Word) -> FileUse:
    return FileUse("read", unknown()._replace(source=word.source))
