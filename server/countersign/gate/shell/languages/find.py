"""The words of find: folders, then tests and actions, of which ``-exec`` runs a command for what it finds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from countersign.gate.shell.programs.argv import Option
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

FINDERS = names_with("finds_files")
"""Programs whose words are read here."""


_IN_FRONT = re.compile(r"-(?:[HLPEXdsxf]+|D|O\d*)")
"""Options of GNU's and BSD's find that stand in front of its folders."""


def folders_in(operands: Sequence[tuple[int, Word]], options: Iterable[Option]) -> Sequence[Word]:
    """Return the folders, which stand in front of its tests, of operands with their places: the one that it is run in
    where none does, since what stands behind a test is no folder (``find -delete -exec echo x {} +``)."""
    found: list[Word] = []
    tests = next((option.index for option in options if _IN_FRONT.fullmatch(option.name) is None), math.inf)
    for position, (index, word) in enumerate(operands):
        if index > tests or word.value in {"(", "!", ")", ","}:
            break
        if position and index != operands[position - 1][0] + 1:
            break
        found.append(word)
    return found or [constant(".")]


def command_end(words: Sequence[Word], start: int) -> int:
    """Return where the command of an action that stands at ``start`` ends."""
    index = start + 1
    while index < len(words) and words[index].value != ";":
        if words[index].value == "+" and words[index - 1].value == "{}":
            break
        index += 1
    return index


RUNS = "-\0"
"""Stands for an action that runs a command, among the words of a listing."""


def words_around_exec(words: Sequence[Word]) -> tuple[str, ...] | None:
    """Return the words with ``RUNS`` in the place of each ``-exec``, its command and its end; None if they are not all
    known, or it runs no command so. What stands behind an ``-exec`` may choose what another one is given
    (``-name a -exec x {} + -o -name b -exec y {} +``)."""
    values: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        if word.value in {"-exec", "-ok"}:
            values.append(RUNS)
            index = command_end(words, index)
        elif word.value is None or word.tilde or word.value in {"-execdir", "-okdir"}:
            return None
        else:
            values.append(word.value)
        index += 1
    return tuple(values) if RUNS in values else None


def without_exec(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """Return the words without each ``-exec`` up to its end; None for other ways to run a command."""
    kept: list[Word] = []
    index = 0
    while index < len(words):
        value = words[index].value
        if value in {"-execdir", "-ok", "-okdir"} or (value is None and index):
            return None
        if value == "-exec":
            index = command_end(words, index)
            if index >= len(words):
                return None
        else:
            kept.append(words[index])
        index += 1
    return tuple(kept)
