"""What a wrapper runs, as the functions that read its words give it (docs/gate.md S7). A value only."""

from __future__ import annotations

from dataclasses import dataclass

from countersign.gate.shell.syntax.tree import Word


@dataclass(frozen=True, slots=True)
class Inner:
    """A command that is run, beginning at ``start`` (None where its words do not stand there as they are), or, as
    ``text``, words that a shell reads. ``unclear``: an option in front is not known to its reader, so another word may
    begin the command; no words are run then."""

    words: tuple[Word, ...]
    start: int | None = None
    text: bool = False
    unclear: bool = False
