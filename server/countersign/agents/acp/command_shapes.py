"""Shapes of input that run commands: one, alone or with its parts listed beside it, or several."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from countersign.agents.acp.key_names import COMMAND, COMMAND_EXTRAS, COMMANDS, CWD
from countersign.agents.acp.reading import MOST_WORDS, AgentContext, Given, Reading, fit
from countersign.gate import Effect, RunCommand
from countersign.tools.places import PATH_LENGTH
from countersign.wire.base import Json

MOVES_SHELL = re.compile(
    r"""(?:^|[;&|(){\n]|\b(?:then|do|else|builtin|command)\b)[^\S\n]*(?:
        (?:cd|pushd|popd|chdir|source|eval|alias|unalias|export|declare|typeset|readonly|unset|set|shopt|function|exec|hash
            |trap|enable|read|printf\s+-v)(?![\w-])
        | \.\s                                 # source by its other name
        | [\w\[\]]+\+?=[^\s;&|(){"'\\$`]*(?:[^\S\n]*(?:$|[;&|\n])|["'\\$`(){])  # not plainly a command's own
        | \w+[^\S\n]*\([^\S\n]*\)                        # a function
        | [\w./-]*["'\\$`]                      # a name that is not written plainly
    )""",
    re.VERBOSE,
)
"""What changes the shell that it runs in, for agents which keep one shell for all their commands.

Nothing in it runs over a character that begins a command, so that a search takes time linear in the text.
"""
MOST_COMMANDS = 100
"""Commands of one call that are read; nobody reads more of them on a card."""
BASH = ("bash", "/bin/bash", "/usr/bin/bash")
BASH_LINE = re.compile(r"(?:/usr/bin/|/bin/)?bash -l?c ")


def read_command(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """One command, alone or with its parts listed beside it, or the folders outside that stand in it."""
    given = _without_folders(given)
    parts = [value for key, value in given.items() if key in COMMANDS]
    rest = {key: value for key, value in given.items() if key not in COMMANDS}
    fitted = fit({key: _joined(value) if key in COMMAND else value for key, value in rest.items()},
                  [COMMAND], COMMAND_EXTRAS | CWD)  # fmt: skip
    cwd = _cwd_of(rest, ground)
    if fitted is None or cwd is None or len(parts) > 1:
        return None
    text, known_bash = _unwrapped(next(value for key, value in rest.items() if key in COMMAND), fitted[0])
    texts = parts[0] if parts else []
    if not isinstance(texts, list) or not all(isinstance(part, str) and part in text for part in texts):
        return None
    effects = [_run(each, cwd, ground, known_bash) for each in (text, *map(str, texts))]
    return Reading(tuple(dict.fromkeys(effects)))


def _without_folders(given: Given) -> Given:
    """Leave out the folders that an agent found in a command's text: what the command reaches is read from the text."""
    folders, patterns = given.get("directories"), given.get("patterns")
    if not isinstance(folders, list) or not isinstance(patterns, list):
        return given
    if patterns != [os.path.join(folder, "*") for folder in folders if isinstance(folder, str)]:
        return given
    return {key: value for key, value in given.items() if key not in ("directories", "patterns")}


def read_commands(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A list of commands. One of several words without a blank might be a single command, so it is not understood."""
    listed = [value for key, value in given.items() if key in COMMANDS]
    rest = {key: value for key, value in given.items() if key not in COMMANDS}
    cwd = _cwd_of(rest, ground)
    if cwd is None or len(listed) != 1 or fit(rest, [], COMMAND_EXTRAS | CWD) is None:
        return None
    texts = listed[0] if isinstance(listed[0], list) else []
    commands = [text for text in texts if isinstance(text, str) and text.strip()]
    if not commands or len(commands) != len(texts) or len(commands) > MOST_COMMANDS:
        return None
    if len(commands) > 1 and not any(re.search(r"\s", text.strip()) for text in commands):
        return None
    effects: list[Effect] = []
    moved = False
    for text in commands:
        effects.append(_run(text, cwd, replace(ground, shell_moved=ground.shell_moved or moved), known_bash=False))
        moved = moved or MOVES_SHELL.search(text) is not None
    return Reading(tuple(dict.fromkeys(effects)))


def _cwd_of(given: Given, ground: AgentContext) -> str | None:
    """The folder in which a command is to run; None where it is not plainly said."""
    folders = [value for key, value in given.items() if key in CWD]
    if len(folders) > 1 or not all(isinstance(folder, str) for folder in folders):
        return None
    cwd = os.path.join(ground.folder, str(folders[0])) if folders else ground.folder
    return cwd if len(cwd) <= PATH_LENGTH else None


def _run(text: str, cwd: str, ground: AgentContext, known_bash: bool) -> RunCommand:
    understood = (ground.runs_bash or known_bash) and not ground.shell_moved and "~" not in cwd
    return RunCommand(text, cwd, understood=understood, own_text=True)


def _joined(value: Json) -> Json:
    """A command that came as a list of words, as the text that bash would take for it. A word with a blank in it might
    be a command by itself, so such a list is not understood, except after ``bash -c``."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_WORDS:
        return value
    words = [word for word in value if isinstance(word, str)]
    plain = _is_bash_line(words) or not any(re.search(r"\s", word) for word in words)
    return shlex.join(words) if len(words) == len(value) and plain else value


def _is_bash_line(words: Sequence[Json]) -> bool:
    return len(words) == 3 and words[0] in BASH and words[1] in ("-c", "-lc") and isinstance(words[2], str)


def _unwrapped(value: Json, joined: str) -> tuple[str, bool]:
    """The text that is run, and whether it is known that bash runs it: of ``bash -lc TEXT`` as words, or as those words
    written in one line, it is the third word."""
    words = value
    if isinstance(value, str):
        try:
            words = shlex.split(value) if BASH_LINE.match(value) else []
        except ValueError:
            words = []
        if shlex.join(str(word) for word in words) != value:
            words = []
    if isinstance(words, list) and _is_bash_line(words):
        return str(words[2]), True
    return joined, False
