"""What macOS's own ``sed`` would read and write where it reads the words of a command otherwise than GNU's.

Its ``-i`` and ``-I`` take the next word for the ending of backups, its ``-l`` takes none, and options end at the first
operand, so another word is the script: for ``sed -i p 'w FILE' a.txt`` that is ``w FILE``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.languages.sed import scan_sed
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_GRAMMAR = Grammar(frozenset("efiI"), ordered=True)


def sed_of_macos(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Files that the script names there. They count only where a rule or a protected place is concerned, since what
    is a script there is mostly the name of a file (``sed -i s/a/b/ web/x.ts``)."""
    found = arguments(words, _GRAMMAR)
    scripts = [*found.values("-e")] or [word for _, word in found.operands[:1]]
    values = [word.value for word in scripts]
    theirs = [*known.arguments.values("-e", "--expression")] or [word for _, word in known.arguments.operands[:1]]
    if values == [word.value for word in theirs]:
        return
    doings = scan_sed("\n".join(value for value in values if value is not None))
    yield from (FileUse("write", constant(path), doubtful=True) for path in doings.writes if path)
    yield from (FileUse("read", constant(path), doubtful=True) for path in doings.reads if path)
