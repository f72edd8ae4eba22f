"""The fixed read-only set (docs/gate.md "Commands that only read"): commands that only read what their words name.

It stands in only for "no rule matches". The rows are in the tables; here the forms are checked. What the words name is
judged as paths; which program runs under the name is looked up in ``chosen_programs.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.languages.git import only_reads
from countersign.gate.shell.programs.other_names import plain_name
from countersign.gate.shell.programs.tables import field_of, words_of
from countersign.gate.shell.syntax.tree import Word

_VERSIONS = words_of("read_only", "version_options")
"""Programs whose version may be asked for, and by which options."""

_AS_THEY_STAND = frozenset(
    (key[0], *form.split()) for key, forms in field_of("read_only", "forms").items() for form in forms
)
"""Commands that only read with just these words: they tell of the machine. The `e` of `ps` that shows environments is
not among them."""

_STANDING = frozenset(words[0] for words in _AS_THEY_STAND)


def only_reads_by_words(name: str, words: Sequence[Word], known: ProgramReading) -> bool:
    """Whether this is a form of the read-only set, as far as its words tell."""
    first = words[0].value
    if first is None or "/" in first or plain_name(first) != first:
        return False
    if len(words) == 2 and first in _VERSIONS and words[1].value in {"--version", "-V", "-v"}:
        return words[1].value in _VERSIONS[first]
    if name == "command":
        return len(words) > 2 and words[1].value in {"-v", "-V"}
    if first in _STANDING and tuple(word.value for word in words) in _AS_THEY_STAND:
        return True
    row = known.program
    if row is None or not row.known or known.uses or known.holes or known.arguments.unrecognized_options:
        return False
    if known.git is not None and not only_reads(known.git):
        return False
    options = known.arguments.options
    if not options:
        return True
    if row.grammar.whole:
        return row.not_known.isdisjoint([option.name for option in options])
    return not known.arguments.may_have(*row.not_known)
