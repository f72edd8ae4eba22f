"""The tables of programs, made of what `scripts/programs.py` compiled from the records (``records/NAME.toml``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from countersign.gate.shell.programs import compiled
from countersign.gate.shell.programs.argv import Grammar
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.wrapper_row import Interpreter, ShellRow, Wrapper

Key = tuple[str, ...]
"""A program's name, without a folder, and the words of its subcommand."""
Pairs = tuple[tuple[str, Any], ...]

FACETS = compiled.FACETS
"""By the name of a facet what the records say, by key."""


def names_with(facet: str) -> frozenset[str]:
    """Return the programs whose record has this facet."""
    return frozenset(key[0] for key in FACETS[facet])


def field_of(facet: str, name: str) -> Mapping[Key, Any]:
    """Return one field of a facet, by key."""
    return {key: fields[name] for key, fields in FACETS[facet].items() if name in fields}


def names_with_field(facet: str, name: str) -> frozenset[str]:
    """Return the programs whose facet has this field."""
    return frozenset(key[0] for key in field_of(facet, name))


def words_of(facet: str, name: str) -> Mapping[str, frozenset[str]]:
    """Return the words in one field of a facet, by program."""
    return {key[0]: frozenset(words.split()) for key, words in field_of(facet, name).items()}


_LETTERS = frozenset({"short", "flags", "maybe"})


def _grammar(pairs: Pairs) -> Grammar:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields[name] = value if value is True or value is False else _set(name, value)
    return Grammar(**fields)


def _set(name: str, value: str) -> frozenset[str] | str:
    if name == "attaches":
        return value
    return frozenset(value if name in _LETTERS else value.split())


def _program(pairs: Pairs) -> Program:
    return Program(**{**_NOTHING, **{name: _PROGRAM.get(name, _words)(value) for name, value in pairs}})


_NOTHING: Mapping[str, Any] = {"why": "", "grammar": Grammar(), "escapes": {}}
"""The fields of a row that does not say anything."""


def _words(value: Any) -> Any:
    return frozenset(value.split()) if type(value) is str else value


def _as_it_stands(value: Any) -> Any:
    return value


def _alike(pairs: Any) -> Mapping[str, frozenset[str]]:
    return {option: frozenset(names.split()) for option, names in pairs}


_PROGRAM: Mapping[str, Callable[[Any], Any]] = {
    "why": _as_it_stands,
    "grammar": _grammar,
    "escapes": lambda pairs: {option: kind for kind, options in pairs for option in options.split()},
    "operands": _as_it_stands,
    "brings": _as_it_stands,
    "alike": _alike,
}


def _wrapper(pairs: Pairs) -> Wrapper:
    return Wrapper(
        **{"grammar": Grammar(), **{name: _WRAPPER.get(name, _as_it_stands)(value) for name, value in pairs}}
    )


def _in_order(value: str) -> tuple[str, ...]:
    return tuple(value.split())


_WRAPPER: Mapping[str, Callable[[Any], Any]] = {
    "grammar": _grammar,
    "texts": _in_order,
    "commands": _in_order,
    "writes": _in_order,
}


_INTERPRETER_SETS = (
    "passes writes subcommands instead interactive loads several modules endings searches dotted settings"
).split()


def _interpreter(pairs: Pairs) -> Interpreter:
    made = dict(pairs)
    sets = (frozenset(made.get(field, "").split()) for field in ("prompts", "script", "tells"))
    code = frozenset(made.get("code", "").split())
    others = {field: frozenset(made.get(field, "").split()) for field in _INTERPRETER_SETS}
    alike = _alike(made.get("alike", ()))
    grammar = _grammar(made["grammar"])
    return Interpreter(grammar, code, made.get("module"), *sets, alike=alike, **others)


def _shell(pairs: Pairs) -> ShellRow:
    return ShellRow(**{name: _WRAPPER[name](value) for name, value in pairs})


_Row = TypeVar("_Row")


def _table(rows: Mapping[str, Pairs], made: Callable[[Pairs], _Row]) -> dict[Key, _Row]:
    found: dict[Key, _Row] = {}
    for keys, pairs in rows.items():
        found |= dict.fromkeys([tuple(key.split()) for key in keys.split(",")], made(pairs))
    return found


TABLES: Mapping[Key, Program] = _table(compiled.PROGRAMS, _program)
"""Programs and subcommands: how their words are read (``row.py``)."""

PROGRAMS_READING_INPUT = frozenset(key[0] for key, row in TABLES.items() if len(key) == 1 and row.reads_input)
"""Programs that may take commands of their own language, or code, from their input."""

GIT: Mapping[str, Program] = {key[0]: row for key, row in _table(compiled.GIT, _program).items()}
"""git's subcommands. One that is not here may be an alias or a program of its own: only a rule that names it
covers it."""

_WRAPS = _table(compiled.WRAPPERS, _wrapper)

WRAPPERS: Mapping[str, Wrapper] = {key[0]: row for key, row in _WRAPS.items() if len(key) == 1}
"""Programs that run another program named in their words, by the program's base name."""

SUBCOMMANDS: Mapping[Key, Wrapper] = {key: row for key, row in _WRAPS.items() if len(key) > 1}
"""Subcommands that do, by the program's base name and its first words."""

INTERPRETERS: Mapping[str, Interpreter] = {
    key[0]: row for key, row in _table(compiled.INTERPRETERS, _interpreter).items()
}
"""Programs that run a script named as their first operand, or code from an option or their input."""

_SHELL_ROWS = {key[0]: row for key, row in _table(compiled.SHELLS, _shell).items()}

SHELLS: Mapping[str, str] = dict.fromkeys(
    _SHELL_ROWS, "it is a shell: it reads commands from an option, a file or its input"
)

SHELL_TEXTS: Mapping[str, tuple[Grammar, tuple[str, ...]]] = {
    name: (row.grammar, row.texts) for name, row in _SHELL_ROWS.items() if row.texts
}
"""Shells with options of their own that take a text, and which these are."""
