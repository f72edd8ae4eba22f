"""The fixed read-only set (docs/gate.md "Commands that only read"): commands that only read what their words name.

It stands in only for "no rule matches". The rows are in the tables; here the forms are checked. What the words name is
judged as paths; which program runs under the name is looked up in ``chosen_programs.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.languages.git import only_reads
from countersign.gate.shell.programs.argv import Option, may_be_several
from countersign.gate.shell.programs.other_names import plain_name, surely_means
from countersign.gate.shell.programs.tables import FACETS, field_of, names_with, words_of
from countersign.gate.shell.syntax.tree import Word

_VERSIONS = words_of("read_only", "version_options")
"""Programs whose version may be asked for, and by which options."""

_AS_THEY_STAND = frozenset(
    (key[0], *form.split()) for key, forms in field_of("read_only", "forms").items() for form in forms
)
"""Commands that only read with just these words: they tell of the machine. The `e` of `ps` that shows environments is
not among them."""

_STANDING = frozenset(words[0] for words in _AS_THEY_STAND)

_ALONE = names_with("starts_no_other") | names_with("builtin")
"""Programs that are surely compiled and start nothing that their words do not name, and those of the shell itself."""

_WITH_SETTINGS = frozenset(key[0] for key, takes in field_of("read_only", "settings").items() if takes)
"""Of those that start no other, the ones that take settings from the home."""

_SHAPES = {
    key[0]: tuple(re.compile(shape.replace(" ", "\n")) for shape in shapes)
    for key, shapes in field_of("read_only", "shapes").items()
}
"""By program patterns of which one must match all words behind the name, with a line for each: a blank in a pattern is
the end of a word."""


_MOST_OPERANDS: Mapping[str, int] = {key[0]: most for key, most in FACETS["most_operands"].items()}
"""How many operands a program may have without a rule: other programs of its name write to the next one."""


_TELLS_OF_ITSELF = frozenset({"--version", "--help"})


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
    if first in _SHAPES and not known.uses and not known.holes and _has_shape(first, words):
        return True
    row = known.program
    if (
        row is None
        or not row.known
        or not surely_means(first, name)
        or known.uses
        or known.holes
        or known.arguments.unrecognized_options
    ):
        return False
    if known.git is not None and not only_reads(known.git):
        return False
    if len(words) == 2 and words[1].value in _TELLS_OF_ITSELF and name in _ALONE:
        return True
    if name in _MOST_OPERANDS:
        operands = [word for _, word in known.arguments.operands]
        if len(operands) > _MOST_OPERANDS[name] or any(map(may_be_several, operands)):
            return False
    options = known.arguments.options
    if not options:
        return True
    if row.without_rule and not all(
        _needs_no_rule(option, words, row.without_rule, row_words=bool(row.grammar.words)) for option in options
    ):
        return False
    if row.grammar.whole:
        return row.not_known.isdisjoint([option.name for option in options])
    return not known.arguments.may_have(*row.not_known)


def _needs_no_rule(option: Option, words: Sequence[Word], listed: frozenset[str], *, row_words: bool) -> bool:
    """Whether an option is one of these as it is spelled, neither abbreviated nor beside digits in a word.
    ``row_words``: the program has words of several letters behind one dash, of which it compares the beginning."""
    word = words[option.index]
    text = word.prefix if word.value is None else word.value
    if text[1:2].isdigit():
        followed = text.removesuffix("f") if "-f" in listed else text  # `tail -5f`
        return text in listed or ("-NUM" in listed and followed[1:].isdecimal())
    if len(text) > len("-x") and row_words and text not in listed:
        return re.fullmatch(rf"{re.escape(option.name)}-?[0-9]+", text) is not None and option.name in listed
    return option.name in listed and (option.name[:2] != "--" or text.partition("=")[0] == option.name)


def starts_no_other(name: str) -> bool:
    """Whether a program surely looks up none on the path but those that its words name. Its other names may be scripts
    (``egrep``)."""
    return name in _ALONE


def takes_settings(name: str, known: ProgramReading) -> bool:
    """Whether a program may take settings from the home by which it does more than read. git's are read where it works
    (``git_settings.py``)."""
    return name in _WITH_SETTINGS or not starts_no_other(name)


def _has_shape(name: str, words: Sequence[Word]) -> bool:
    """Whether all words are constant and look as one of the program's patterns says."""
    values = [word.value for word in words[1:]]
    texts = [value for value in values if value is not None and "\n" not in value]
    joined = "\n".join(texts)
    return len(texts) == len(values) and any(shape.fullmatch(joined) for shape in _SHAPES[name])
