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
from countersign.gate.shell.programs.argv import is_one_of, one_spelling
from countersign.gate.shell.programs.tables import FACETS, names_with_field, words_of
from countersign.gate.shell.syntax.tree import Word

CHOOSING = frozenset(key[0] for key in FACETS["chooses"])
_NAMES, _ENDINGS, _KNOWN, _ANY = (words_of("chooses", field) for field in ("names", "endings", "known", "any_file"))
_PATTERNS = names_with_field("chooses", "operands")
_OPENS_ALL = names_with_field("chooses", "opens_all")
"""Programs that open what their patterns match, of whatever kind it is."""
_NOTHING = frozenset[str]()


def chosen_files(
    name: str, words: Sequence[Word], known: ProgramReading, is_folder: Callable[[str], bool]
) -> Iterator[FileUse]:
    """Yield the patterns that name files to a program, and what may be a secret by the names or endings that it takes.
    ``is_folder`` says of an operand whether it is one."""
    every = any(_means(option.name, _ANY.get(name, _NOTHING)) for option in known.arguments.options)
    named = known.arguments.operands if name in _PATTERNS else ()
    operands = [word for _, word in named if "://" not in word.prefix]
    if operands and all(_leaves_out(word.value or "") for word in operands):
        yield from map(_unknown, operands)  # all other files are meant
    for word in operands:
        text = word.value or ""
        if _WILD.search(text) or has_groups(text):
            # One with a mark in front leaves files out.
            hidden = any(each.rsplit("/", 1)[-1] == ".*" for each in without_groups(text))
            if not _leaves_out(text) and (hidden or every or name in _OPENS_ALL) and may_be_secret_glob(text):
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


def _leaves_out(pattern: str) -> bool:
    """Whether a pattern says which files are not meant; `!(x)` is a group in one that says which are."""
    return pattern[:1] == "!" and pattern[1:2] != "("


_WILD = re.compile(r"[*?\[]")
_BETWEEN = re.compile(r"[,\s]+")


def _values(names: frozenset[str], words: Sequence[Word], known: ProgramReading) -> Iterator[Word]:
    """The values of these options in any spelling; of one that the row does not say to take any, the next word."""
    for option in known.arguments.options if names else ():
        if _means(option.name, names):
            if option.value is not None:
                yield option.value
            else:
                yield from words[option.index + 1 : option.index + 2]


def _means(option: str, names: frozenset[str]) -> bool:
    """Whether an option is one of these in any spelling, or its beginning, which some parsers take for the whole."""
    given, long = one_spelling(option), option.startswith("--")
    return any(given == one_spelling(name) or (long and is_one_of(option, (name,))) for name in names)


def _unknown(word: Word) -> FileUse:
    return FileUse("read", unknown()._replace(source=word.source))
