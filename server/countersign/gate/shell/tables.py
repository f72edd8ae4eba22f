"""Finding a program's row: by its name and, where subcommands have rows of their own, by its first words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .script import Word
from .table_build import BUILD
from .table_closed import CLOSED
from .table_files import FILES
from .table_row import Program, row, same
from .table_text import TEXT
from .table_tools import TOOLS

_BUILTINS = same(
    "hash alias enable complete bind mapfile readarray shopt set let unset export declare typeset readonly",
    row("it changes what names mean or hold, or evaluates its words"),
)
_TMUX = {("tmux",): row("it runs commands in its sessions", short="LSfcT", ordered=True, closed=True)}
_EDITORS = {("vim",): row("it runs commands by its options, `+` and modelines", short="cSsuUiwWtTVr", operands="write")}

TABLES: Mapping[tuple[str, ...], Program] = {
    **CLOSED,
    **TEXT,
    **FILES,
    **BUILD,
    **TOOLS,
    **_BUILTINS,
    **_EDITORS,
    **_TMUX,
}

_LONGEST: Mapping[str, int] = {key[0]: max(len(other) for other in TABLES if other[0] == key[0]) for key in TABLES}

WITH_SUBCOMMANDS = frozenset(name for name, longest in _LONGEST.items() if longest > 1)
"""Programs that have rows for their subcommands."""


def find_program(name: str, words: Sequence[Word]) -> tuple[Program | None, int]:
    """The row for these words, and where its arguments start. A subcommand's row stands in for its program's."""
    longest = _LONGEST.get(name, 0)
    if longest > 1:
        key = [name]
        for word in words[1:longest]:
            if word.value is None or word.value[:1] == "-":
                break
            key.append(word.value)
        while len(key) > 1:
            found = TABLES.get(tuple(key))
            if found is not None:
                return found, len(key)
            key.pop()
    return TABLES.get((name,)), 1
