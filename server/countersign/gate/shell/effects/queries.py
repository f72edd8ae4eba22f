"""Commands of database clients that only ask: every word is one of a form that their records name, or a statement that
asks (docs/gate.md S9). A rule for the client covers these; any other word it must name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse, named
from countersign.gate.shell.languages.sql import only_asks
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import field_of
from countersign.gate.shell.syntax.tree import Word

_QUERY = "\0"
"""Stands for a statement that asks; no word of a command holds it."""

_SHAPES = {
    key[0]: tuple(re.compile(shape.replace("{query}", _QUERY).replace(" ", "\n")) for shape in shapes)
    for key, shapes in field_of("queries", "shapes").items()
}
"""By program patterns of which one must match all words behind the name; a blank is the end of a word."""


def more_than_queries(name: str, row: Program, words: Sequence[Word]) -> Iterator[EscapeUse]:
    """What a rule must name of a program with a language of its own: every word, unless it only asks."""
    rest = [word.value if word.value is not None else NAMED_NOWHERE for word in words[1:]]
    if rest and rest not in (["--version"], ["--help"]) and not _is_query(name, words):
        yield named("code", rest, row.why)


def _is_query(name: str, words: Sequence[Word]) -> bool:
    """Whether this command of a program with a language of its own does nothing but ask its database."""
    shapes = _SHAPES.get(name)
    if shapes is None:
        return False
    texts = []
    for word in words[1:]:
        if word.value is None:
            return False
        text = _QUERY if only_asks(word.value) else word.value
        if "\n" in text:
            return False
        texts.append(text)
    return any(shape.fullmatch("\n".join(texts)) for shape in shapes)
