"""Files that the package managers of JavaScript write without naming them: settings, manifests and packed archives.

Settings name programs that later runs of these managers start, so the project's file of settings is protected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.named_outputs import inside
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.programs.tables import field_of, names_with_field, words_of
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_GRAMMAR = Grammar(
    frozenset("LwCfo"),
    frozenset(
        "location userconfig globalconfig prefix workspace pack-destination filename out dir cwd filter registry "
        "loglevel reporter".split()
    ),
)
_ONLY_SHOW = frozenset({"get", "list", "ls", "edit", "explain", "why", "help"})
_MANIFEST = words_of("manifest", "written_by")
"""Commands that write ``package.json``."""
_FILLED = words_of("outputs", "filled_by")
"""Commands that fill a folder with a package's files."""
_PROJECT = {key[0]: tuple(files.split()) for key, files in field_of("manifest", "settings").items()}
_SETTING = words_of("manifest", "settings_by")
"""Commands that change settings, where they are not those of npm."""
_IN_PROJECT = names_with_field("manifest", "in_project")
"""Managers whose settings are always those of the project."""


def package_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Yield what ``npm``, ``pnpm`` and ``yarn`` write by their subcommand."""
    manager = (words[0].value or "").rpartition("/")[2]
    found = arguments(words, _GRAMMAR)
    named = [word.value for _, word in found.operands]
    # An option in front that no list has may take the word behind it.
    options = len(words) > 1 and words[1].prefix.startswith("-")
    firsts = [value for value in named[: 2 if options else 1] if value is not None]
    if "pack" in firsts:
        for word in found.valued("--pack-destination", "--filename", "-f", "--out", "-o"):
            yield FileUse("write", word, unknown_names=True)
    if any(_sets(manager, first) for first in firsts) and _ONLY_SHOW.isdisjoint(named[1:3]):
        yield from _written_settings(manager, [*found.valued("--location", "-L")], [*found.valued("--userconfig")])
    if not _FILLED.get(manager, frozenset()).isdisjoint(firsts):
        for _, word in found.operands[1:]:
            yield from inside(word.value, tilde=word.tilde)
    for _, word in found.operands[1:]:
        if (package := _PACKAGE.fullmatch(word.value or "")) is not None:
            yield FileUse("read", constant(package["path"] or package["rest"]), doubtful=package["path"] is None)
    if not _MANIFEST.get(manager, frozenset()).isdisjoint(firsts):
        yield FileUse("write", constant("package.json"))


_PACKAGE = re.compile(
    r"(?:(?:@[^:/@]+/)?[^:/@]*@)?(?:git\+)?(?:file|link|portal):(?://)?(?P<path>.+)|"
    r"(?:@[^:/@]+/)?[^:/@]+@(?P<rest>[^:@^~<>=*\s\d][^:@\s]*)",
    re.DOTALL,
)
"""A package by the folder or archive that it is taken from, with its name in front or without."""


def _sets(manager: str, first: str) -> bool:
    """Whether a command changes settings: npm takes the beginning of a command for the whole."""
    if manager in _SETTING:
        return first in _SETTING[manager]
    return first == "c" or (len(first) > 1 and "config".startswith(first)) or first == "set"


def _written_settings(manager: str, locations: Sequence[Word], files: Sequence[Word]) -> Iterator[FileUse]:
    yield from (FileUse("write", word) for word in files)
    yield from (FileUse("write", unknown()) for word in locations if word.value is None)
    if manager in _IN_PROJECT or any(word.value == "project" for word in locations):
        yield from (FileUse("write", constant(name)) for name in _PROJECT.get(manager, ()))
    elif not files:
        yield FileUse("write", Word("~/.npmrc", (), "constant", "~/.npmrc", "~/.npmrc", "~/.npmrc", tilde=True))
