"""The fixed read-only set (RULES.md 1, CONTRACT.md 10): commands that only read what their words name.

It stands in only for "no rule matches". The rows are in the tables; here the forms are checked. What the words name is
judged as paths, and a name that is found only in the workspace is not in the set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import Known
from countersign.gate.shell.languages.git import only_reads
from countersign.gate.shell.programs.tables import field_of, names_with, words_of
from countersign.gate.shell.syntax.tree import Word

_VERSIONS = words_of("read_only", "version_options")
"""Programs whose version may be asked for, and by which options."""

_CHOSEN_BY = {key[0]: tuple(files.split()) for key, files in field_of("read_only", "chosen_by").items()}
"""Files of a workspace by which these choose what they run, even to tell their version: a tool chain's folder, a
script that stands for the program, what the virtual machine loads."""

_AS_THEY_STAND = frozenset(
    (key[0], *form.split()) for key, forms in field_of("read_only", "forms").items() for form in forms
)
"""Commands that only read with just these words: they tell of the machine. The `e` of `ps` that shows environments is
not among them."""

_STANDING = frozenset(words[0] for words in _AS_THEY_STAND)


def only_reads_by_words(name: str, words: Sequence[Word], known: Known) -> bool:
    """Whether this is a form of the read-only set, as far as its words tell."""
    first = words[0].value
    if first is None or "/" in first:
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
    if known.git is not None and (known.git.folders or not only_reads(known.git)):
        return False
    options = known.arguments.options
    if not options:
        return True
    if row.grammar.whole:
        return row.not_known.isdisjoint([option.name for option in options])
    return not any(_taken_out(option.name, row.not_known) for option in options)


def _taken_out(option: str, not_known: frozenset[str]) -> bool:
    """Whether an option, abbreviated or not, takes a command out of the set."""
    if option in not_known:
        return True
    return len(option) > 3 and option.startswith("--") and any(name.startswith(option) for name in not_known)


_BUILTINS = names_with("builtin")


def chosen_by_workspace(words: Sequence[Word], places: Iterable[str], workspace: str) -> bool:
    """Whether a file of the workspace may choose what runs under this name (``_CHOSEN_BY``), seen from a place."""
    files = _CHOSEN_BY.get(words[0].value or "")
    if files is None:
        return False
    for place in places:
        folder = os.path.normpath(place)
        while f"{folder}/".startswith(f"{workspace}/"):
            if any(disk.standing(f"{folder}/{name}") not in disk.MISSING for name in files):
                return True
            folder = os.path.dirname(folder)
    return False


def program_folders(workspace: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders of the path in the workspace, and those elsewhere."""
    return _program_folders(disk.variable("PATH"), workspace)


@lru_cache(maxsize=16)
def _program_folders(path: str, workspace: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    inside = tuple(folder for folder in folders if f"{folder}/".startswith(f"{workspace}/"))
    return inside, tuple(folder for folder in folders if folder not in inside)


def only_in_workspace(name: str, inside: Sequence[str], outside: Sequence[str]) -> bool:
    """Whether the program of this name is found in the workspace and nowhere else on the path (CONTRACT.md 29).

    Looks at the disk, at most once for each folder of the path.
    """
    if name in _BUILTINS or not any(disk.is_there(f"{folder}/{name}") for folder in inside):
        return False
    return not any(disk.can_run(f"{folder}/{name}") for folder in outside)
