"""Variables whose value changes what a shell makes of a text, where that text runs in a shell of its own.

A text inside a text (``bash -c '…'``) is judged with the values that these variables have in the environment of the
gate. Where the outer text or a wrapper sets one of them to anything unusual, the inner text cannot be judged by its
words: ``~`` leads elsewhere, ``cd`` follows ``CDPATH``, ``.`` searches ``PATH``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from countersign.gate.shell.programs.argv import NUMERIC_PARAMETERS
from countersign.gate.shell.syntax.tree import Assignment, Simple
from countersign.gate.shell.variables.assignments import is_safe_prefix
from countersign.gate.shell.variables.bindings import Facts

_OBEYED = re.compile(
    r"HOME|PATH|CDPATH|OLDPWD|PWD|TMPDIR|IFS|ENV|SHELL|SHELLOPTS|POSIX_PEDANTIC|POSIXLY_CORRECT|BASH\w*|GLOB\w+|EXECIGNORE|FIGNORE|"
    r"PS[0-4]|PROMPT_COMMAND|FUNCNEST|FPATH|ZDOTDIR|NULLCMD|READNULLCMD|LANG|LANGUAGE|LC_\w+|LOCPATH|NLSPATH|TEXTDOMAIN|TEXTDOMAINDIR|"
    r"GCONV_PATH|MUSL_LOCPATH|PATH_LOCALE|GLIBC_TUNABLES|LD_\w+|DYLD_\w+|"
    + "|".join(name for name in sorted(NUMERIC_PARAMETERS) if name.isidentifier())
)
"""Variables that a shell or the loader under it obeys, or that our own reading of words supposes the value of."""

_MENTIONED = re.compile(rf"(?<![A-Za-z0-9_.])(?:{_OBEYED.pattern})(?![A-Za-z0-9_])")

_SET = re.compile(rf"(?<![A-Za-z0-9_.$])(?:{_OBEYED.pattern})(?=\+?=|\Z)")

_SYSTEM_FOLDER = r"/(?:usr|opt|bin|sbin|snap)(?:/(?!\.\.?(?:[/:\"]|\Z))[\w.+-]+)*"
_USUAL_PATH = re.compile(
    rf'("?)(?:\$PATH|\$\{{PATH\}}|{_SYSTEM_FOLDER})(?::(?:\$PATH|\$\{{PATH\}}|{_SYSTEM_FOLDER}))*\1'
)
"""A search path of the system's own folders, beside what was there before."""


def is_obeyed(name: str) -> bool:
    """Whether a shell makes something else of the same text when this variable has another value."""
    return _OBEYED.fullmatch(name) is not None


def mentioned(text: str) -> frozenset[str]:
    """Return all variables of this kind that a text names."""
    return frozenset(_MENTIONED.findall(text))


def set_in(text: str) -> frozenset[str]:
    """Return the variables of this kind that a text names with a value, or ends in, so that the next word may be it."""
    return frozenset(_SET.findall(text))


def is_usual(assignment: Assignment) -> bool:
    """Whether an assignment gives a variable of this kind a value that changes nothing that the gate supposes."""
    return is_safe_prefix(assignment) or (not assignment.appends and is_usual_path(assignment.source))


def is_usual_path(source: str) -> bool:
    """Whether a text is ``PATH=…`` with nothing but folders of the system and the path that was there before."""
    name, _, value = source.partition("=")
    return name == "PATH" and _USUAL_PATH.fullmatch(value) is not None


def changed_names(commands: Iterable[Simple], facts: Facts) -> frozenset[str]:
    """Return the variables of this kind that a text sets anywhere to something unusual, for whatever it runs."""
    bound = {name for name in facts.values if is_obeyed(name)}
    if not bound:
        return frozenset()
    assigned = [each for command in commands for each in (*command.assignments, *command.declared)]
    usual = {each.name for each in assigned if is_usual(each)} - {each.name for each in assigned if not is_usual(each)}
    return frozenset(bound - usual)
