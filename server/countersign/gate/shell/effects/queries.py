"""Commands of database clients that only ask: every word is one of a form that their records name, or a statement that
asks (docs/gate.md S9). A rule for the client covers these; any other word it must name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.languages.sql import only_asks
from countersign.gate.shell.programs.tables import field_of
from countersign.gate.shell.syntax.tree import Word

_QUERY = "\0"
"""Stands for a statement that asks; no word of a command holds it."""

_SHAPES = {
    key[0]: tuple(re.compile(shape.replace("{query}", _QUERY).replace(" ", "\n")) for shape in shapes)
    for key, shapes in field_of("queries", "shapes").items()
}
"""By program patterns of which one must match all words behind the name; a blank is the end of a word."""


def is_query(name: str, words: Sequence[Word]) -> bool:
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
