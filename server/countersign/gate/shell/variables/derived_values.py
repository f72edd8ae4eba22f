"""What a variable may hold that is put together of others (``f=$d/x``, ``for f in "$d"/*``), as far as the text tells.

It never says all that such a variable may hold: None stays among its values, and what is found beside that is judged as
well. So nothing is allowed for what is found here, and what is left out asks or is allowed as it was.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from countersign.gate.patterns import escape_glob, is_glob, unescape_glob
from countersign.gate.shell.syntax.tree import Glob, Piece, Text, Variable, Word
from countersign.gate.shell.variables.bindings import Facts

_ROUNDS = 4
"""How many variables may stand behind one another."""
_MOST = 32
"""Texts that are put together of one word, that one variable is given, and that it may hold to be part of others."""
_MOST_WORDS = 200
"""Words of a text that are looked at so."""
_LONGEST = 1_000
"""Characters of a text that is put together; no path that a text names is longer."""

_FOLDERS = {"HOME": "~", "PWD": "."}


class Derived(NamedTuple):
    """A word that a variable is given, with an expansion in it. ``expanded``: as a word of a command is, not as what is
    assigned."""

    name: str
    word: Word
    expanded: bool


def derive(facts: Facts, given: Sequence[Derived]) -> None:
    """Add what these words come to."""
    for _ in range(_ROUNDS):
        before = _count(facts)
        for each in given[:_MOST_WORDS]:
            for text, is_pattern in list(_texts(each, facts)):
                if len(facts.values.get(each.name, ())) + len(facts.patterns.get(each.name, ())) > _MOST:
                    break
                if is_pattern:
                    facts.patterns.setdefault(each.name, set()).add(text)
                else:
                    facts.values.setdefault(each.name, {None}).add(text)
        if _count(facts) == before:
            return


def _count(facts: Facts) -> int:
    return sum(map(len, facts.values.values())) + sum(map(len, facts.patterns.values()))


def _texts(given: Derived, facts: Facts) -> Iterator[tuple[str, bool]]:
    """The texts that one word may be, each with whether it is a pattern of names."""
    pieces = given.word.pieces
    parts = [_parts(piece, facts, first=not at) for at, piece in enumerate(pieces)]
    if not all(parts) or math.prod(map(len, parts)) > _MOST:
        return
    for combination in itertools.product(*parts):
        if sum(len(each.pattern) for each in combination) > _LONGEST:
            continue
        spelled = "".join(each.pattern for each in combination)
        if (given.expanded and is_glob(spelled)) or any(each.matched for each in combination):
            yield spelled, True
        else:
            yield unescape_glob(spelled) if given.expanded else "".join(each.text for each in combination), False


class _Part(NamedTuple):
    """A piece of a word as a text and as a part of a pattern. ``matched``: it is a name that a pattern matches."""

    text: str
    pattern: str
    matched: bool = False


def _parts(piece: Piece, facts: Facts, *, first: bool) -> list[_Part]:
    match piece:
        case Text(text=text, quoted=quoted):
            return [_Part(text, escape_glob(text) if quoted else text)]
        case Glob(text=text):
            return [_Part(text, text)]
        case Variable(name=name, plain=True, quoted=quoted):
            if name not in facts.values:
                return [_Part(_FOLDERS[name], _FOLDERS[name])] if first and name in _FOLDERS else []
            if len(facts.values[name]) > _MOST:
                return []
            values = sorted(value for value in facts.values[name] if value is not None)
            patterns = sorted(facts.patterns.get(name, ()))
            return [_Part(value, escape_glob(value) if quoted else value) for value in values] + [
                _Part(pattern, pattern, matched=True) for pattern in patterns
            ]
        case _:
            return []
