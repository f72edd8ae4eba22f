"""Words that a program hands on to another one: those behind ``--`` (``cargo fmt -- FILE`` runs ``rustfmt FILE``).

What they make the other program run, read and write counts for the command that hands them on. No rule for the other
program is needed: which one it is does not depend on the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_RECEIVERS = {key: tuple(map(constant, run.split())) for key, run in FACETS["behind_dashes"].items()}
"""By a program and its subcommand the beginning of what is run with these words."""
_HAND_ON = frozenset(key[0] for key in _RECEIVERS)


def handed_words(name: str, words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the command of each program that may get the words behind ``--``: a subcommand counts wherever its words
    stand in front of these."""
    if name not in _HAND_ON:
        return
    end = next((index for index, word in enumerate(words) if word.value == "--"), len(words))
    front = [name, *(word.value for word in words[1:end])]
    for subcommand, run in _RECEIVERS.items() if end < len(words) else ():
        ahead = iter(front)
        if all(each in ahead for each in subcommand):
            yield (*run, *words[end + 1 :])
