"""Code in the words of a script that has a record of its own: ``python manage.py shell -c CODE`` (docs/gate.md S9).

Behind the name of a script the words are its own. Frameworks call their scripts alike, so a record by the name of the
script's file says which of its subcommands run code that their words hold. Of a script without a record, a subcommand
that is called like a prompt counts where an option with code stands behind it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse, named
from countersign.gate.shell.effects.partial_subcommands import begun_by, subcommands_of
from countersign.gate.shell.programs.other_names import OTHER_NAMES, plain_name
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.syntax.tree import Word

_ABBREVIATING = names_with("abbreviates_subcommands")

_PROMPTS = frozenset("console interactive interpreter psysh pry repl shell shell_plus tinker".split())
_CODE = ("-c", "-e", "-r", "--code", "--command", "--eval", "--execute")
_MOST_WORDS = 2
"""How many of the words behind a script, or behind a program, may name a prompt."""

_WHY = "it is a prompt, or runs the code in its arguments"


def code_for_script(words: Sequence[Word], *, by_record: bool = False) -> Iterator[EscapeUse]:
    """Yield the uses of code in these words, the first of which is the script that an interpreter runs; ``by_record``:
    only if it has a record."""
    name = _name_of(words[0])
    if not subcommands_of(name):
        if not by_record:
            yield from code_for_prompt(words)
        return
    row, _ = find_program(name, words)
    if row is None or not row.closed:
        row = next(_begun(name, words), None)
    if row is not None:
        yield named("code", [_spelled(word) for word in words[1:]], row.why)
    elif any(word.value is None for word in _subcommands(words)):
        yield named("code", (NAMED_NOWHERE,), _WHY)


def has_record(script: Word) -> bool:
    """Whether it is known what the words behind this script say."""
    return bool(subcommands_of(_name_of(script)))


def _name_of(script: Word) -> str:
    file = plain_name((script.value or "").rpartition("/")[2])
    return OTHER_NAMES.get(file, file)


def _subcommands(words: Sequence[Word]) -> Iterator[Word]:
    """The words behind a script that may be its subcommand: the first that is surely no option, and the next one where
    that may be the value of the option in front of it."""
    for before, word in itertools.pairwise(words):
        if word.prefix[:1] == "-":
            continue
        yield word
        if before.prefix[:1] != "-" or "=" in before.prefix:
            return


def _begun(name: str, words: Sequence[Word]) -> Iterator[Program]:
    """The rows of subcommands that run code and begin with a word that stands in the place of one."""
    for word in words[1:]:
        if word.prefix[:1] == "-":
            continue
        for each in begun_by(word.value, name) if name in _ABBREVIATING and word.value else ():
            row, _ = find_program(name, (words[0], word._replace(value=each)))
            if row is not None and row.closed:
                yield row
        return


def code_for_prompt(words: Sequence[Word]) -> Iterator[EscapeUse]:
    """Yield the use of an option with code behind a subcommand that is called like a prompt."""
    front = [index for index, word in enumerate(words) if index and word.prefix[:1] != "-"][:_MOST_WORDS]
    at = next((index for index in front if _may_be_prompt(words[index])), None)
    if at is not None and any(_may_take_code(word) for word in words[at + 1 :]):
        yield named("code", [_spelled(word) for word in words[1:]], _WHY)


def _may_be_prompt(word: Word) -> bool:
    if word.value is not None:
        return word.value in _PROMPTS
    return word.prefix != "" and any(each.startswith(word.prefix) for each in _PROMPTS)


def _may_take_code(word: Word) -> bool:
    option = word.prefix.partition("=")[0]
    begun = len(option) > len("--") or (word.value is None and option != "")  # `-"$x"` may become any
    return option in _CODE or (begun and any(each.startswith(option) for each in _CODE))


def _spelled(word: Word) -> str:
    return word.value if word.value is not None else NAMED_NOWHERE
