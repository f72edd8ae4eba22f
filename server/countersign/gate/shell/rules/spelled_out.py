"""Commands as bash may spell them once it has expanded their words.

``x=-oheld; sort "$x" a`` writes `held`. A word with a variable is judged as one that is not known; where the text
itself says what it holds, the command is judged a second time with that in its place. Operands that are plain names
are judged by their values already (``files/word_values.py``).

An option whose value is only known at run time has two further spellings, each judged as well: the value may be empty,
so that the option takes the next word (``awk -F"$x" '{print}' CODE``), and an unquoted one may bring further words
(``sort -t$(cat f) a``).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.programs.argv import may_be_several, numeric
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand, is_known
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Glob, Piece, Simple, Substitution, Text, Variable, Word
from countersign.gate.shell.syntax.words import constant

MOST, MOST_IN_ALL = 200, 500
"""Spellings of one command, and of all commands of a text, that are judged."""

_NO_OPTIONS = frozenset(
    "echo printf [ test : true false cd pushd popd export read exit return break continue shift wait kill".split()
)
"""Builtins whose words name neither files nor code."""


_PRINTS_A_NUMBER = names_with("prints_number")
"""Programs that print one number and nothing else where they are called without words."""


def spelled_out(analyzed: AnalyzedCommand, home: str, folder: str | None) -> Sequence[Step] | None:
    """Return the command in each spelling that its words may have, beside the one it is written in; None if there are
    too many."""
    command = analyzed.step.command
    if command.plain or command.kind != "command" or not command.words or command.words[0].value is None:
        return ()
    name = program(command.words[0].value)
    if name in _NO_OPTIONS or not any(_says_more(word, analyzed) for word in command.words):
        return ()
    choices = [_choices(analyzed, word, home, folder) for word in command.words]
    if not all(choices):
        return None
    if math.prod(map(len, choices)) > MOST:
        return None
    combinations = (itertools.chain.from_iterable(found) for found in itertools.product(*choices))
    return [analyzed.step.with_words(tuple(map(_word, found))) for found in combinations]


def exact_spellings(analyzed: AnalyzedCommand, home: str, folder: str | None) -> Sequence[Step]:
    """Return the command in each spelling that it may have, where the text says all that its words may be
    (``for f in a.py b.py; do sed -i s/x/y/ "$f"; done``): it runs in one of these and in no other. Nothing if it does
    not say that."""
    command = analyzed.step.command
    assigned = [each.value for each in (*command.assignments, *command.declared)]
    constants = [*assigned, *(redirect.target for redirect in command.redirects)]
    if command.plain or command.kind != "command" or any(word is None or word.value is None for word in constants):
        return ()
    if not all(word.value is not None or _is_exact(word, analyzed, home, folder) for word in command.words):
        return ()
    return [
        step._replace(command=step.command._replace(redirects=command.redirects))
        for step in spelled_out(analyzed, home, folder) or ()
    ]


def _is_exact(word: Word, analyzed: AnalyzedCommand, home: str, folder: str | None) -> bool:
    if not is_known(word, analyzed.facts):
        return False
    meant = meaning(word, analyzed.facts, home, folder)
    if not meant.complete or meant.patterns or not meant.values:
        return False
    return word.form == "quoted" or all(map(_ONE_WORD.fullmatch, meant.values))


_ONE_WORD = re.compile(r"[\w./:@%+=,^-][\w./:@%+=,^~-]*", re.ASCII)
"""A value that bash takes for one word, without quotes too."""


def _says_more(word: Word, analyzed: AnalyzedCommand) -> bool:
    """Whether a word is made of braces, holds a variable of which something is known, or is an option with a value
    that is not known."""
    return bool(word.choices) or _is_open_option(word) or any(_is_known(piece, analyzed) for piece in word.pieces)


def _is_known(piece: Piece, analyzed: AnalyzedCommand) -> bool:
    """Whether this is a variable of which something is known."""
    return isinstance(piece, Variable) and (
        piece.name in analyzed.facts.values or piece.held in analyzed.facts.values or piece.name in {"HOME", "PWD"}
    )


def _choices(analyzed: AnalyzedCommand, word: Word, home: str, folder: str | None) -> list[tuple[Word | str, ...]]:
    """What one word may become: itself, or for each value the words that bash makes of it. None of these where there
    are too many."""
    if word.choices and not any(char in choice for choice in word.choices for char in _NOT_CONSTANT):
        return [word.choices]
    if word.value is not None or word.choices:
        return [(word,)]
    if any(isinstance(piece, Variable) and piece.held in analyzed.facts.too_many for piece in word.pieces):
        return []
    meant = meaning(word, analyzed.facts, home, folder)
    values = meant.values
    if not values:
        return [] if not meant.patterns and _has_values(word, analyzed) else [(word,), *_further_readings(word)]
    known: list[tuple[Word | str, ...]] = [
        tuple(value.split()) if word.form == "split" else (value,) for value in dict.fromkeys(values)
    ]
    return known if meant.complete else [(word,), *known, *_further_readings(word)]


def _is_open_option(word: Word) -> bool:
    """Whether a word surely is an option, but how it ends is only known at run time."""
    return word.value is None and word.prefix[:1] == "-" and not word.choices


def _further_readings(word: Word) -> list[tuple[Word | str, ...]]:
    """What an option may become beside itself: its expansions may be empty, and an unquoted one may add words."""
    if not _is_open_option(word) or numeric(word):
        return []
    found: list[tuple[Word | str, ...]] = []
    if all(not isinstance(piece, Glob) or not piece.text.strip("*") for piece in word.pieces):
        found.append(("".join(piece.text for piece in word.pieces if isinstance(piece, Text)),))
    if word.form != "pattern" and may_be_several(word) and not _ends_with_a_number(word):
        first = word._replace(form="quoted", shape=UNKNOWN_TEXT + word.prefix, bare=False)
        more = Word(word.source, (), "split", None, "", UNKNOWN_TEXT + word.source, bare=False)
        found.append((first, more))
    return found


def _ends_with_a_number(word: Word) -> bool:
    """Whether all that expands in a word is a program's output that is one number (``-j$(nproc)``)."""
    return all(isinstance(piece, Text) or _prints_a_number(piece) for piece in word.pieces)


def _prints_a_number(piece: Piece) -> bool:
    if not isinstance(piece, Substitution) or len(piece.script.statements) != 1:
        return False
    command = piece.script.statements[0]
    if not isinstance(command, Simple) or command.redirects or len(command.words) != 1:
        return False
    return command.words[0].value in _PRINTS_A_NUMBER


_NOT_CONSTANT = "*?[~" + UNKNOWN_TEXT


def _has_values(word: Word, analyzed: AnalyzedCommand) -> bool:
    """Whether a word consists of texts and of variables that the text gives constant values."""
    return all(
        isinstance(piece, Text)
        or (isinstance(piece, Variable) and any(analyzed.facts.values.get(piece.held or "", ())))
        for piece in word.pieces
    )


def _word(text: Word | str) -> Word:
    return constant(text)._replace(tilde=text.startswith("~/")) if isinstance(text, str) else text
