"""Commands that find runs for one of the folders that it is given: ``find SHELL=./evil -exec make {} \\;``.

What find gives to a command begins with such a folder. Most are plain names; one that may be more to the command than
the name of a file counts in the place of ``{}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.languages.find import FINDERS, command_end, folders_in
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_REMARKABLE = re.compile(r"[^\w./-]|(?:^|/)\.\w")
_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_MOST = 32
"""Folders and commands that are put together."""


def with_start_folders(analyzed: AnalyzedCommand) -> Sequence[Step] | None:
    """Return the commands with each remarkable folder in them; None if there are too many."""
    if not analyzed.names or analyzed.names[0] not in FINDERS:
        return ()
    words, step = analyzed.layers[0].words, analyzed.step
    found = analyzed.known[0].arguments
    starts = [word.value or "" for word in folders_in(found.operands, found.options)]
    folders = [start for start in starts if _REMARKABLE.search(start)]
    commands = [
        words[index + 1 : command_end(words, index)] for index, word in enumerate(words) if word.value in _ACTIONS
    ]
    named_in_a_file = any((word.value or "").startswith("-files0") for word in words)
    if len(folders) * len(commands) > _MOST or (commands and named_in_a_file):
        return None
    pairs = ((command, folder) for command in commands for folder in folders)
    together = dict.fromkeys(tuple(_with(word, folder) for word in command) for command, folder in pairs)
    return [step.with_words(each) for each in together if each]


def _with(word: Word, folder: str) -> Word:
    return constant(word.value.replace("{}", folder)) if word.value is not None and "{}" in word.value else word
