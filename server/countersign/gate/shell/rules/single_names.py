"""Loops over a pathname pattern whose variable stands without quotes: ``for f in *.py; do wc -l $f; done``.

Bash splits such a name at its blanks and takes it for a pattern again. Where the names that the pattern matches now are
plain ones, the loop means the same with quotes, so it is judged, and printed, with quotes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.shell.files.visited_folders import folders
from countersign.gate.shell.files.word_values import matching_paths
from countersign.gate.shell.flow.control_flow import Loop, course
from countersign.gate.shell.flow.parse_cache import Followed
from countersign.gate.shell.syntax.tree import Reading, Text, Variable, Word
from countersign.gate.shell.syntax.words import with_pieces
from countersign.gate.shell.variables.bindings import Facts

MOST_NAMES = 1_000
"""Names that a pattern of a loop may match."""

_PLAIN = re.compile(r"[\w./,:@%+=][\w./,:@%+=-]*", re.ASCII)
"""What bash neither splits nor takes for a pattern, and a program for no option."""

T = TypeVar("T")


def with_quoted_names(text: str, found: Followed, start: str, paths: PathJudge) -> Followed | None:
    """Return the text as it would be read with quotes around each variable that holds such a name, None if there is
    none. Reads the disk for the names."""
    facts = found.course.facts
    if facts.functions or facts.aliases or "IFS" in facts.values:
        return None
    loops: dict[str, list[Loop]] = {}
    for loop in found.course.loops:
        loops.setdefault(loop.name, []).append(loop)
    names = {name for name, given in loops.items() if _holds_plain_names(name, given, facts, start, paths)}
    script = _quoted(found.script, names) if names else found.script
    if script == found.script:
        return None
    return Followed(
        course(Reading(text, script, found.fragments, found.defaults)), found.fragments, script, found.defaults
    )


def _holds_plain_names(name: str, loops: Sequence[Loop], facts: Facts, start: str, paths: PathJudge) -> bool:
    """Whether a variable is given names by these loops alone, all of which are plain."""
    if name in facts.loose or name in facts.too_many or name in facts.listings:
        return False
    if facts.patterns.get(name) != {loop.pattern for loop in loops}:
        return False
    if not all(_PLAIN.fullmatch(value) for value in facts.values[name] if value is not None):
        return False
    for loop in loops:
        for folder in folders(loop.places, start, paths) or (None,):
            matched = matching_paths(loop.pattern, folder, MOST_NAMES, paths.spent) if folder is not None else None
            if not matched or not all(map(_PLAIN.fullmatch, matched)):
                return False
    return True


def _quoted(node: T, names: Collection[str]) -> T:
    """A part of a tree with quotes around these variables, wherever they stand in a word."""
    if isinstance(node, Word):
        return cast("T", _quoted_word(node, names))
    if isinstance(node, tuple):
        parts = [_quoted(each, names) for each in cast("tuple[object, ...]", node)]
        make: Any = getattr(type(cast("object", node)), "_make", tuple)
        return make(parts)
    if is_dataclass(node) and not isinstance(node, type):
        held = {each.name: getattr(node, each.name) for each in fields(node)}
        return replace(node, **{name: _quoted(value, names) for name, value in held.items()})
    return node


def _quoted_word(word: Word, names: Collection[str]) -> Word:
    """A word that expands nothing else is one word then. A word of other expansions is looked through."""
    if word.value is not None:
        return word
    pieces = tuple([_quoted(piece, names) for piece in word.pieces])
    simple = word.form == "split" and not word.tilde and not word.choices
    if simple and all(_stays_one(piece, names) for piece in pieces):
        pieces = tuple([replace(piece, quoted=True) if isinstance(piece, Variable) else piece for piece in pieces])
    return word if pieces == word.pieces else with_pieces(word, pieces)


def _stays_one(piece: object, names: Collection[str]) -> bool:
    match piece:
        case Text():
            return True
        case Variable(name=name, plain=True, quoted=quoted):
            return name in names or (quoted and name.isidentifier())
        case _:
            return False
