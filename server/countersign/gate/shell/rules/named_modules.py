"""Files that a command makes programs load by a variable or as a module: ``APP_CONFIG=secret/x``, ``-m secret.x``.

Only for rules that forbid or ask for reading: what a program makes of such a value is not known, so a rule that speaks
of a file which the value could name asks, and the value allows nothing. A module counts as the file of its dotted name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from countersign.gate.shell.programs.tables import WRAPPERS, names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.bindings import is_own_name

_MOST = 50
"""How many parts of one value are looked up."""
_PARTS = re.compile(r"[\s:;'\"()=,@]+")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_NAMES_A_FILE = re.compile(r"(?i)(?!HOME\Z).*(?:PATH|DIR|FILE|HOME|ROOT|CONFIG|APP|MODULE|PLUGINS)")
"""Variables whose value is a file or folder even if it has neither slash nor dot."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_MODULE_OPTIONS = frozenset({"-m", "-A", "-p", "--app", "--ds", "--settings", "--module", "--plugin", "--pythonpath"})
_APPLICATION_SERVERS = names_with("application_server")


def named_in_variables(analyzed: AnalyzedCommand) -> Iterator[str]:
    """Yield the paths that variables and modules of this command may name, relative to where it runs."""
    command = analyzed.step.command
    found: dict[str, None] = {}
    for assignment in (*command.assignments, *command.declared):
        if not is_own_name(assignment.name) and assignment.plain:
            found.update(dict.fromkeys(_paths_in(assignment.plain, bare=_is_for_files(assignment.name))))
    for name, layer in zip(analyzed.names, analyzed.layers, strict=True):
        modules = name in _APPLICATION_SERVERS or any(map(_names_modules, layer.words))
        for before, word in pairwise(layer.words):
            value = word.value or ""
            option, equals, attached = value.partition("=")
            if before.value in _MODULE_OPTIONS:
                found.update(dict.fromkeys(_modules(value)))
            elif (equals and option in _MODULE_OPTIONS) or modules:
                found.update(dict.fromkeys(_modules(attached if equals else value)))
            assigned = _ASSIGNED.fullmatch(value) if name in WRAPPERS else None
            if assigned is not None:
                found.update(dict.fromkeys(_paths_in(assigned[2], bare=_is_for_files(assigned[1]))))
    yield from found


def _names_modules(word: Word) -> bool:
    """Whether a word is the option with which operands are modules (`pytest --pyargs`), abbreviated or not."""
    return len(word.prefix) > len("--p") and "--pyargs".startswith(word.prefix)


def _is_for_files(name: str) -> bool:
    return _NAMES_A_FILE.fullmatch(name) is not None


def _paths_in(value: str, *, bare: bool) -> Iterator[str]:
    for part in list(dict.fromkeys((value, *_PARTS.split(value))))[:_MOST]:
        if part and (bare or "/" in part or "." in part):
            yield part
    yield from _modules(value)


def _modules(value: str) -> Iterator[str]:
    for part in list(dict.fromkeys(_PARTS.split(value)))[:_MOST]:
        if _MODULE.fullmatch(part):
            path = part.replace(".", "/")
            yield from (f"{path}.py", f"{path}/__init__.py")
