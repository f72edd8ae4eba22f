"""Words whose rest is only known at run time, where that may make them words that run, load or write something.

``make S"$x"`` may name a shell and ``gcc -f"$x"`` a plug-in. The tables tell such words by how they are spelled; of one
whose end is not known, any end counts. Words of which nothing is known are ``Arguments.holes``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from countersign.gate.shell.effects.operand_code import READER_PATTERNS, RUNNING_NAMES, package_program
from countersign.gate.shell.effects.options_by_name import STRANGE, may_name_code
from countersign.gate.shell.programs.argv import Arguments, may_be_several
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import field_of, names_with
from countersign.gate.shell.programs.word_patterns import SPELLED_PROGRAMS, UNFINISHED, keys_of
from countersign.gate.shell.syntax.tree import Word

if TYPE_CHECKING:
    import regex

_LONGEST = 1_000
"""Characters of a beginning that is compared; one that is longer counts as one that matches."""


def may_match(pattern: re.Pattern[str], beginning: str) -> bool:
    """Whether a word that begins so matches a pattern at its beginning, or would with some end."""
    return len(beginning) > _LONGEST or _partial(pattern).match(beginning, partial=True) is not None


@lru_cache(maxsize=512)
def _partial(pattern: re.Pattern[str]) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415 few texts need it, and it would be a part of every start

    return regex.compile(pattern.pattern, regex.IGNORECASE if pattern.flags & re.IGNORECASE else 0)


def _may_be_option(row: Program, beginning: str) -> bool:
    """Whether a word that begins so may be one of the long options that do more."""
    bare = beginning.lstrip("-")
    return beginning[:1] == "-" and any(option[:2] == "--" and option[2:].startswith(bare) for option in row.escapes)


_BY_READER: Mapping[str, re.Pattern[str]] = {
    key[0]: READER_PATTERNS[reader] for key, reader in field_of("readers", "code").items() if reader in READER_PATTERNS
}


TAKE_ANY_WORD = names_with("takes_any_value")
"""Programs whose options take the next word for a value whatever it looks like, beside those whose records are
whole."""


def open_values(name: str, found: Arguments, row: Program) -> Iterator[Word]:
    """Yield the values of options that may be options themselves."""
    watched = bool(row.escapes) or name in SPELLED_PROGRAMS or name in _BY_READER
    if found.open_values and watched and not row.grammar.whole and name not in TAKE_ANY_WORD:
        yield from found.open_values


LONG_OPTION = re.compile(r"--?[\w.-]{2,}")
"""An option that may take the word behind it as if it stood behind a `=`."""


def open_words(name: str, words: Sequence[Word], found: Arguments, row: Program, *, by_name: bool) -> Iterator[Word]:
    """Yield the words of a program that begin with a text of their own and may become ones that do more, but values
    of options that take text. ``by_name``: options with such a beginning count, not only letters."""
    unfinished = [(index, word) for index, word in enumerate(words) if word.value is None and word.prefix and index]
    if not unfinished:
        return
    texts = row.grammar.texts
    values = {option.index + 1 for option in found.options if option.name in texts and not option.attached}
    unknown = [word for index, word in unfinished if index not in values or may_be_several(word)]
    patterns: list[re.Pattern[str]] = []
    if name in SPELLED_PROGRAMS:
        patterns += [UNFINISHED[key] for key in keys_of(name, words, UNFINISHED)]
    if name in _BY_READER:
        patterns.append(_BY_READER[name])
    before = {id(word): words[index - 1].value or "" for index, word in unfinished}
    for _, word in unfinished:
        # The value of a long option may stand behind `=` or in the next word.
        option = before[id(word)]
        spelled = [word.prefix, *([f"{option}={word.prefix}"] if LONG_OPTION.fullmatch(option) else [])]
        named = by_name and word in unknown
        if (named and (_may_be_option(row, word.prefix) or (row is STRANGE and may_name_code(word.prefix)))) or any(
            may_match(pattern, text) for pattern in patterns for text in spelled
        ):
            yield word
    first = next(iter(package_program(name, words, found)), None)
    if first is not None and first in unknown and any(each.startswith(first.prefix) for each in RUNNING_NAMES):
        yield first
