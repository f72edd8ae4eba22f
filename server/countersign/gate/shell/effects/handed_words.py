"""Words that a program hands on to another one: those behind ``--`` (``cargo fmt -- FILE`` runs ``rustfmt FILE``), and
values of its options (``gcc -Wl,-c,FILE`` runs ``ld -c FILE``, ``cmake --build b --target x`` runs ``make x``).

What they make the other program run, read and write counts for the command that hands them on. No rule for the other
program is needed: which one it is does not depend on the words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_BEHIND_DASHES = {key: tuple(map(constant, run.split())) for key, run in FACETS["behind_dashes"].items()}
"""By a program and its subcommand the beginning of what is run with these words."""
_HAND_ON = frozenset(key[0] for key in _BEHIND_DASHES)

_BEHIND_OPTIONS = {
    key[0]: [
        (tuple(options.split()), constant(run))
        for options, _, run in (each.rpartition("=") for each in said.split("; "))
    ]
    for key, said in FACETS["behind_options"].items()
}
"""By program the options and the program that gets their values. One that ends in a comma has a list in its word."""


_MOST_PARTS = 1_000
"""Parts of one word that are handed on; with more, the text asks (``judge.py``)."""


def handed_words(name: str, words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the command of each program that may get words of this one: of a subcommand wherever its words stand in
    front of ``--``."""
    for options, run in _BEHIND_OPTIONS.get(name, ()):
        values = tuple(_values(words, options))
        if values:
            yield (run, *values)
    if name not in _HAND_ON:
        return
    end = next((index for index, word in enumerate(words) if word.value == "--"), len(words))
    front = [name, *(word.value for word in words[1:end])]
    for subcommand, run in _BEHIND_DASHES.items() if end < len(words) else ():
        ahead = iter(front)
        if all(each in ahead for each in subcommand):
            yield (*run, *words[end + 1 :])


def _values(words: Sequence[Word], options: Sequence[str]) -> Iterator[Word]:
    """The values of these options, with further words behind one that are no options: some take several."""
    for index, word in enumerate(words):
        for option in options if word.prefix[:1] == "-" else ():
            if option[-1] == "," and word.prefix.startswith(option):
                yield from map(constant, word.prefix[len(option) :].split(",", _MOST_PARTS))
            elif word.value == option:
                yield from words[index + 1 : index + 2]
                yield from itertools.takewhile(lambda each: each.prefix[:1] != "-", words[index + 2 :])
            elif option[:2] == "--" and word.prefix.startswith(f"{option}="):
                yield constant(word.prefix[len(option) + 1 :])
            elif len(option) == len("-t") and option[1] != "-" and word.prefix.startswith(option):
                yield constant(word.prefix[len(option) :])
