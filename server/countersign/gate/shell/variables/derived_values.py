"""What a variable may hold that is made of others (``f=$d/x``, ``for f in "$d"/*``), as far as the text tells.

INVARIANT (strictest): it is never taken for all that such a variable may hold. None stays among its values, and the
values found here are judged as well; a variable with too many of them asks (``Facts.too_many``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from countersign.gate.patterns import escape_glob, is_glob, unescape_glob
from countersign.gate.shell.syntax.tree import Glob, Piece, Text, Variable, Word
from countersign.gate.shell.syntax.words import MAX_CHOICES
from countersign.gate.shell.variables.bindings import Facts

_MOST_LOOKS = 5_000
"""Words that are looked at, each as often as a variable in it may have got another value."""
_LONGEST = 1_000
"""Characters of such a value. No path that a text names is longer."""

_FOLDERS = {"HOME": "~", "PWD": "."}


class Derived(NamedTuple):
    """A word with an expansion in it that a variable is given. ``expanded``: bash expands patterns in it and splits it,
    as it does in the list of a loop and not in an assignment."""

    name: str
    word: Word
    expanded: bool


def derive(facts: Facts, given: Sequence[Derived]) -> None:
    """Add the values and patterns that these words can produce."""
    constants = {name: frozenset(values) for name, values in facts.values.items()} if given else {}
    looks, changed = 0, True
    while changed:
        changed = False
        for each in given:
            looks += 1
            if looks > _MOST_LOOKS:
                facts.too_many.update(word.name for word in given)
                return
            changed = _add(each, facts, constants) or changed


def _add(given: Derived, facts: Facts, constants: Mapping[str, frozenset[str | None]]) -> bool:
    """Add what one word can produce; say whether that is news."""
    name = given.name
    if name in facts.too_many:
        return False
    values, patterns = facts.values.setdefault(name, {None}), facts.patterns.get(name, set[str]())
    before = len(values) + len(patterns)
    texts = _texts(given, facts, constants)
    for text, is_pattern in texts or ():
        if is_pattern:
            facts.bind_pattern(name, text)
            patterns = facts.patterns[name]
        else:
            values.add(text)
    after = len(values) + len(patterns)
    if texts is None or after > MAX_CHOICES:
        facts.too_many.add(name)
        return True
    return after > before


def _texts(
    given: Derived, facts: Facts, constants: Mapping[str, frozenset[str | None]]
) -> list[tuple[str, bool]] | None:
    """The texts that one word can produce, each with whether it is a pattern of names; None if there are too many."""
    parts: list[list[_Part]] = []
    for piece in given.word.pieces:
        found = _parts(piece, given.name, facts, constants, first=not parts)
        if found is None:
            return None
        if not found and not any("/" in part.text for known in parts for part in known):
            return []
        parts.append(found or [_ANY_NAME])
    if math.prod(map(len, parts)) > MAX_CHOICES:
        return None
    texts: list[tuple[str, bool]] = []
    for combination in itertools.product(*parts):
        spelled = "".join(each.pattern for each in combination)
        if len(spelled) > _LONGEST:
            return None
        if (given.expanded and is_glob(spelled)) or any(each.matched for each in combination):
            texts.append((spelled, True))
        else:
            text = unescape_glob(spelled) if given.expanded else "".join(each.text for each in combination)
            texts.append((text, False))
    return texts


class _Part(NamedTuple):
    """A piece of a word as a text and as a part of a pattern. ``matched``: it is a name that the pattern matches."""

    text: str
    pattern: str
    matched: bool = False


_ANY_NAME = _Part("", "*", matched=True)
"""A piece of which nothing is known, in a folder that is known."""


def _parts(
    piece: Piece, name: str, facts: Facts, constants: Mapping[str, frozenset[str | None]], *, first: bool
) -> list[_Part] | None:
    """What a piece of a word for the variable ``name`` may be: nothing if that is not known, None if it is too much.
    The variable itself counts with its constants only, since a loop may add to it without end (``x=$x/y``)."""
    match piece:
        case Text(text=text, quoted=quoted):
            return [_Part(text, escape_glob(text) if quoted else text)]
        case Glob(text=text):
            return [_Part(text, text)]
        case Variable(name=held, plain=plain, default=default, quoted=quoted) if plain or default is not None:
            instead = [] if default is None else [_Part(default, escape_glob(default))]
            if held in facts.too_many:
                return None
            if held not in facts.values:
                return [_Part(_FOLDERS[held], _FOLDERS[held])] if plain and first and held in _FOLDERS else instead
            known = constants.get(held, frozenset()) if held == name else facts.values[held]
            patterns = () if held == name else sorted(facts.patterns.get(held, ()))
            values = sorted(value for value in known if value is not None)
            return (
                [_Part(value, escape_glob(value) if quoted else value) for value in values]
                + [_Part(pattern, pattern, matched=True) for pattern in patterns]
                + instead
            )
        case Variable(words=words) if words:
            # What stands behind the operator (`${x:+sub}`) is one of its values.
            defaults = [word.value for word in words if word.value is not None]
            return [_Part(value, escape_glob(value)) for value in defaults]
        case _:
            return []
