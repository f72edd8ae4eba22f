"""Finding a program's row: by its name and, where subcommands have rows of their own, by its first words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from countersign.gate.shell.programs.argv import arguments
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import TABLES
from countersign.gate.shell.syntax.tree import Word

_LONGEST: Mapping[str, int] = {key[0]: len(key) for key in sorted(TABLES, key=len)}


def find_program(name: str, words: Sequence[Word]) -> tuple[Program | None, int]:
    """The row for these words, and where its arguments start. A subcommand's row stands in for its program's."""
    longest = _LONGEST.get(name, 0)
    if longest < 2:
        return TABLES.get((name,)), 1
    key, options = [name], False
    for word in words[1:longest]:
        if word.value is None or word.value[:1] in {"-", "+"}:
            options = True
            break
        key.append(word.value)
    while len(key) > 1 and tuple(key) not in TABLES:
        key.pop()
    program, start = TABLES.get(tuple(key)), len(key)
    behind = _behind_options(key, words, program) if options and len(words) > 2 else None
    return behind if behind is not None else (program, start)


def _behind_options(key: Sequence[str], words: Sequence[Word], program: Program | None) -> tuple[Program, int] | None:
    """The row of a subcommand that stands behind options, which do not change what it does. Where these do something
    by themselves they count beside its own, unless it depends on the number of its operands."""
    start, first = len(key), words
    if program is not None:
        readings = [arguments(first, program.grammar, start).operands]
    else:
        # Which options take a value is not known: a word behind an option may be one, or none.
        plain = [at for at in range(1, len(first)) if (first[at].value or "-")[:1] != "-"]
        readings = [
            [(at, first[at]) for at in plain],
            [(at, first[at]) for at in plain if (first[at - 1].value or "-")[:1] != "-"],
        ]
    for reading in readings:
        named = [(at, word.value) for at, word in reading if word.value and word.value[:1] != "+"]
        for length in range(min(len(named), _LONGEST[key[0]] - start), 0, -1):
            found = TABLES.get((*key, *[value for _, value in named[:length]]))
            if found is None:
                continue
            at = named[length - 1][0]
            if program is None or _harmless(words[start:at], program):
                return found, at + 1
            return (_both(program, found), start) if found.closed or found.operands in _ANY_NUMBER else None
    return None


def _harmless(words: Sequence[Word], program: Program) -> bool:
    """Whether these words hold no option that the program's own row knows for something."""
    watched = (*program.escapes, *program.reads)
    return all(word.value is not None for word in words) and not any(
        each == option.name or (len(option.name) > 2 and each.startswith(option.name))
        for option in arguments(words, program.grammar, 0).options
        for each in watched
    )


_ANY_NUMBER = ("none", "read", "write", "remote")


def _both(one: Program, other: Program) -> Program:
    grammar = replace(
        one.grammar,
        short=one.grammar.short | other.grammar.short,
        long=one.grammar.long | other.grammar.long,
        texts=one.grammar.texts & other.grammar.texts,
    )
    return replace(
        one,
        escapes={**one.escapes, **other.escapes},
        reads=one.reads | other.reads,
        grammar=grammar,
        operands=other.operands,
        safe=one.safe & other.safe,
        closed=one.closed or other.closed,
        reads_input=one.reads_input or other.reads_input,
        why=other.why if other.closed else one.why,
    )
