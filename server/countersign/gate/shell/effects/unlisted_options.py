"""Options of a program whose record lists all of them, but not this one (field ``listed``; docs/gate.md S9).

A record that names only what is dangerous misses what its author did not think of, and what the next release brings.
Where a record lists the options that neither run, load nor write as well, any other counts as code that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse
from countersign.gate.shell.programs.argv import Arguments, Option, one_spelling
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.syntax.tree import Word


def unlisted_uses(row: Program, words: Sequence[Word], found: Arguments) -> Iterator[EscapeUse]:
    """Yield a use for each option that the record does not list, if it lists those of the program at all."""
    if not row.listed:
        return
    for option in found.options:
        word = words[option.index]
        if row.one_dash and _is_known(row, f"-{word.prefix.partition('=')[0]}"):
            continue
        if _is_open(option, word) or not _is_known(row, option.name):
            spelled = word.value or NAMED_NOWHERE
            yield EscapeUse("code", ((option.name, spelled),), f"what `{option.name}` does is not known")


def _is_open(option: Option, word: Word) -> bool:
    """Whether only the beginning of an option's name is known (``--con"$x"``)."""
    return word.value is None and not option.attached and option.value is None


def _is_known(row: Program, name: str) -> bool:
    return len(name) <= _LONGEST_KEPT and _kept(row, name)


_LONGEST_KEPT = 64
"""Letters of a name; no program has an option as long as that."""


@lru_cache(maxsize=4096)
def _kept(row: Program, name: str) -> bool:
    """Whether this is an option of the program: by its letter, or by its name with or without ``--no-``."""
    known, spellings, beginnings = _named(row)
    if name in known:
        return True
    if not name.startswith("--") or len(name) < len("--x"):
        return False
    spelled, opposite = one_spelling(name), one_spelling(name.removeprefix("--no-"))
    return spelled in spellings or opposite in spellings or spelled.startswith(beginnings)


@lru_cache(maxsize=512)
def _named(row: Program) -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
    """All options that a record names, their long names in one spelling, and beginnings of names (``--browser*``)."""
    grammar = row.grammar
    known = row.listed | row.escapes.keys() | row.reads | row.given | row.deep | row.safe | row.links | row.alike.keys()
    known |= grammar.texts | grammar.words | grammar.lone | grammar.pairs
    known |= {f"--{name}" for name in grammar.long | grammar.names}
    known |= {f"-{letter}" for letter in grammar.short | grammar.flags | grammar.maybe}
    long = [each for each in known if each.startswith("--")]
    beginnings = tuple(one_spelling(each[:-1]) for each in long if each.endswith("*"))
    return known, frozenset(map(one_spelling, long)), beginnings
