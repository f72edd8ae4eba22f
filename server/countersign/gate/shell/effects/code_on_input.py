"""Where a command takes code, or commands of its own language, from its input (docs/gate.md S9).

What another part of the text writes there is named by no rule for the program, so it asks, whatever the rule says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse, ProgramReading
from countersign.gate.shell.languages.git import may_start_editor
from countersign.gate.shell.programs.argv import is_one_of
from countersign.gate.shell.programs.tables import FACETS, INTERPRETERS, PROGRAMS_READING_INPUT, SHELLS
from countersign.gate.shell.programs.word_patterns import OUTSIDE, keys_of
from countersign.gate.shell.syntax.tree import Word

_INPUT_OPTIONS = {key[0]: tuple(options.split()) for key, options in FACETS["input_options"].items()}
_INPUT_VALUES = {key[0]: tuple(options.split()) for key, options in FACETS["input_values"].items()}

_INPUT = r"(?:-|/dev/stdin|(?:/dev/fd|/proc/self/fd)/0)"
_IS_INPUT = re.compile(_INPUT)
_ENDS_IN_INPUT = re.compile(rf"(?:--?[\w-]+[=:]|-\w)?{_INPUT}")
"""The input as a word, or as the value of an option that it is written together with."""

_PROMPT_WORDS = frozenset(
    """
    cli console dbconsole dbshell eval interactive interpreter prompt psysh repl shell sql tinker
    """.split()
)
"""What frameworks and tools call the subcommand that starts a prompt."""

_RUNS = frozenset({"run", "eval-file", "execute"})
"""What tools call the subcommand that runs the file which its operand names."""

_PARTS = re.compile(r"[:/._+-]+")
_MOST_WORDS = 2
"""How many of the words behind a program, or behind a script, may name a prompt."""


def code_on_input(name: str, words: Sequence[Word], known: ProgramReading) -> EscapeUse | None:
    """Return the use that a command makes of code on its input, None where nothing says that it takes any."""
    row = known.program
    if row is not None and (row.reads_input or (row.closed and len(words) == 1)):
        return _use("it reads commands in its own language from its input")
    if known.git is not None:
        edits = may_start_editor(known.git)
        return _use("it may start an editor, which reads commands from the input") if edits else None
    if _named_as_input(name, words, known):
        return _use("what it runs may come in on its input")
    if _starts_prompt(name, words, known):
        return _use("it may start a prompt, which reads commands from the input")
    return None


def _named_as_input(name: str, words: Sequence[Word], known: ProgramReading) -> bool:
    """Whether an option or operand that says what is run names the input."""
    if any(
        _ENDS_IN_INPUT.fullmatch(spelled)
        for use in known.uses
        if use.kind in {"runs", "code"}
        for names in use.names
        for spelled in names
    ):
        return True
    always, where_named = _INPUT_OPTIONS.get(name, ()), _INPUT_VALUES.get(name, ())
    if any(
        is_one_of(option.name, always)
        or (
            is_one_of(option.name, where_named)
            and (option.value is None or _IS_INPUT.fullmatch(option.value.value or ""))
        )
        for option in (known.arguments.options if always or where_named else ())
    ):
        return True
    operands = [word.value or "" for _, word in known.arguments.operands]
    runs = any(OUTSIDE[key][0] for key in keys_of(name, words, OUTSIDE)) or not _RUNS.isdisjoint(operands[:_MOST_WORDS])
    return runs and any(map(_IS_INPUT.fullmatch, operands))


def _starts_prompt(name: str, words: Sequence[Word], known: ProgramReading) -> bool:
    """Whether the subcommand, or the first word for a script, is called like a prompt. Not where operands are files."""
    row = known.program
    if row is not None and (row.known or row.operands != "none"):
        return False
    if name in INTERPRETERS:
        behind = [word for _, word in known.arguments.operands[1:]]
    else:
        behind = [word for word in words[1:] if not word.prefix.startswith("-")]
    return any(not _NAMES_PROMPT.isdisjoint(_PARTS.split(word.shape.lower())) for word in behind[:_MOST_WORDS])


_NAMES_PROMPT = _PROMPT_WORDS | PROGRAMS_READING_INPUT | frozenset(INTERPRETERS) | frozenset(SHELLS)


def _use(why: str) -> EscapeUse:
    return EscapeUse("code", ((NAMED_NOWHERE,),), why)
