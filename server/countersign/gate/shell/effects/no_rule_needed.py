"""Commands that need no rule (docs/gate.md S12): tests, control flow, ``read``, ``cd`` inside the workspace.

Each is neutral only in the forms that neither run, write nor set what other programs look at. A form that is not
neutral is judged like any other command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from countersign.gate.shell.programs.argv import is_operand, numeric
from countersign.gate.shell.syntax.tree import Assignment, Simple, Word
from countersign.gate.shell.variables.assignments import bad_double_test, bad_test, is_safe_prefix
from countersign.gate.shell.variables.bindings import Facts, is_own_name


def neutral_reason(command: Simple, facts: Facts) -> tuple[bool, str | None]:
    """Whether a command is of the neutral kind, and if so why this form of it is not neutral, or None if it is.

    ``cd`` is decided by its place, in ``judge.py``.
    """
    if command.kind == "test":
        return True, bad_double_test(command.words, facts)
    if command.kind == "arithmetic":
        return True, None
    if not command.words or command.words[0].value is None:
        return not command.words, None
    if command.words[0].value == "export":
        # As good as the same names in front of each command after it.
        safe = all(map(is_safe_prefix, command.declared)) and len(command.declared) == len(command.words) - 1
        return bool(command.declared) and safe, None
    form = _FORMS.get(command.words[0].value)
    if form is None:
        return False, None
    return True, form(command.words[1:], command.declared, facts)


_Form = Callable[[Sequence[Word], Sequence[Assignment], Facts], str | None]


def _always(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    return None


def _bracket(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    if not words or words[-1].value != "]":
        return "its `]` is missing"
    return bad_test(words[:-1], facts)


def _test(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    return bad_test(words, facts)


def _number(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    if len(words) <= 1 and all(word.form != "split" or numeric(word) or _simple(word) for word in words):
        return None
    return "it has more words than a number"


def _simple(word: Word) -> bool:
    """``exit $status``: whatever it holds, it is only compared with a number."""
    return word.source.startswith("$") and not word.scripts


_READ_FLAG = re.compile(r"-(?:[rs]*|[rs]*[pntNdu].*|[rs]*a)")


def _read(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    index = 0
    names: list[Word] = []
    while index < len(words):
        word = words[index]
        index += 1
        if word.value is not None and word.value.startswith("-") and not names:
            if not _READ_FLAG.fullmatch(word.value):
                return f"`read {word.value}` does more than read"
            letters = word.value[1:].lstrip("rs")
            if letters == "a":
                names += words[index : index + 1]
                index += 1
            elif len(letters) == 1 and letters in "pntNdu":
                if index < len(words) and words[index].form == "split" and not numeric(words[index]):
                    return f"`{words[index].source}` is not quoted"
                index += 1
            continue
        names.append(word)
    for word in names:
        if word.value is None or not is_own_name(word.value):
            return f"it sets `{word.source}`"
    return None


_WAIT_WORD = re.compile(r"-[nf]+|%?\w+|\d+")


def _wait(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    for word in words:
        if word.value is not None and not _WAIT_WORD.fullmatch(word.value):
            return f"`wait {word.value}` sets a variable"
        if word.value is None and not (_simple(word) or is_operand(word)):
            return f"`{word.source}` may be an option"
    return None


def _local(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    for assignment in declared:
        if not is_own_name(assignment.name) or assignment.formula is not None:
            return f"it sets `{assignment.name}`"
    sources = {assignment.source for assignment in declared}
    for word in words:
        if word.source in sources or word.value in {"-r", "-a", "-A", "--"}:
            continue
        if word.value is None or not is_own_name(word.value):
            return f"`local {word.source}` does more than declare a variable of the function's own"
    return None


_SET = re.compile(r"[-+][eux]*(?:o)?|[-+][eux]+")


def _set(words: Sequence[Word], declared: Sequence[Assignment], facts: Facts) -> str | None:
    index = 0
    if not words:
        return "it prints all variables"
    while index < len(words):
        value = words[index].value
        index += 1
        if value is None or not _SET.fullmatch(value) or value in {"-", "+"}:
            return "it changes how the shell parses later commands"
        if value.endswith("o"):
            if index >= len(words) or words[index].value != "pipefail":
                return "it changes how the shell parses later commands"
            index += 1
    return None


_FORMS: Mapping[str, _Form] = {
    "true": _always,
    "false": _always,
    ":": _always,
    "[": _bracket,
    "test": _test,
    "break": _number,
    "continue": _number,
    "return": _number,
    "exit": _number,
    "shift": _number,
    "wait": _wait,
    "read": _read,
    "local": _local,
    "set": _set,
}
