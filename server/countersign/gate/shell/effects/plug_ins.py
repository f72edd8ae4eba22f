"""Programs that run a plug-in, ``NAME-x``, for a subcommand ``x`` that is not their own."""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.tables import field_of
from countersign.gate.shell.syntax.tree import Word

_OWN = {key[0]: frozenset(names.split()) for key, names in field_of("plug_ins", "commands").items()}
"""The subcommands of such programs that are their own."""


def plug_in(name: str, words: Sequence[Word], found: Arguments) -> Sequence[Word]:
    """The words from the name of a possible plug-in on (``node-shell x`` in ``kubectl node-shell x``); empty if the
    subcommand is the program's own."""
    own = _OWN.get(name)
    first = next(iter(found.operands), None)
    if own is None or first is None or first[1].value in own or find_program(name, words)[1] > 1:
        return ()
    return words[first[0] :]
