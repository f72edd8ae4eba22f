"""One use of an escape, and all that the tables make of a command (docs/gate.md S9). Values only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.languages.sed import Doings
from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.programs.row import EscapeKind, Program
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.syntax.tree import Word

COPYING = ("copy", "move", "link")
"""Operands of programs whose ``-t`` says where their last operand goes."""

OPTIONS_END = names_with("options_end")
"""Programs whose options end at the first operand on macOS."""

NAMED_NOWHERE = "\x02"
"""In a use's names: nothing that a rule could say literally."""


@dataclass(frozen=True, slots=True)
class EscapeUse:
    """One use of an escape. Of each of ``names`` one spelling must stand among a rule's literal words for the rule to
    cover the use; ``text`` is the command that is run, ``path`` the file that is written, ``place`` the file or folder
    that settings are taken from or that it works in, as far as they are known. ``words`` are those of the command that
    is run, where a rule that names its program covers no more than what that does by itself."""

    kind: EscapeKind
    names: tuple[tuple[str, ...], ...]
    why: str
    text: str | None = None
    path: Word | None = None
    place: Word | None = None
    words: tuple[Word, ...] = ()


class ProgramReading(NamedTuple):
    """What the tables make of a command: its row, its sorted words, the uses of escapes in it, and words that could
    turn out to be such. ``in_order`` are the words where options end at the first operand, if that makes a
    difference; ``open_words`` begin with a text of their own, and how they end decides whether they do more."""

    program: Program | None
    arguments: Arguments
    uses: tuple[EscapeUse, ...]
    holes: tuple[Word, ...]
    doings: Doings | None = None
    git: Git | None = None
    in_order: Arguments | None = None
    open_words: tuple[Word, ...] = ()

    @property
    def copies(self) -> bool:
        """Whether all that an unknown word could turn into says where copies go."""
        return self.program is not None and self.program.operands in COPYING and not self.program.escapes


def named(
    kind: EscapeKind, names: Iterable[str], why: str, text: str | None = None, path: Word | None = None
) -> EscapeUse:
    """A use whose names have one spelling each."""
    return EscapeUse(kind, tuple((name,) for name in names), why, text, path)
