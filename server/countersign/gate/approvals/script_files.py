"""Program files that the text of a command could mean, for binding its card to what they hold.

The shell's reader names the scripts of the forms that it knows. Programs take scripts in more ways than a table holds
(``node -r ./x y``, ``php -f x``, ``bash < x``, ``cat x | sh``, ``BASH_ENV=x``), so a person who is asked gets a card
that is bound to every file in the workspace that looks like a program and whose name stands anywhere in the text. This
reads no grammar: too many files do no harm but that a card is drawn anew when one of them changes. Files of data are
left out, for a log that grows would void every answer.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise

from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.paths.roots import is_within
from countersign.settings.regular_file import read_regular

MOST_NAMES = 2_000
"""Words of one text that are looked up; in as many folders as are, that takes some 0.2 s, in a thread."""
MOST_FOLDERS = 8
"""Folders named in a text that its other words are looked up in (``cd``, ``-C``)."""
LONGEST_PROGRAM = 64 << 20
"""Bytes; longer files are data, and to read them again and again would keep the person waiting."""

LONGEST_NAME = 1024
"""Bytes of a word that is looked up."""

_PROGRAMS = frozenset(
    "sh bash zsh ksh fish ps1 bat cmd py pyw pyz js mjs cjs ts mts cts tsx jsx rb pl pm php lua r tcl exp awk sed jq "
    "sql vim el scm clj groovy gradle kts kt scala java jar class go rs c cc cpp cs fsx swift dart ex exs erl nim wasm "
    "so dylib dll exe mk mak make cmake ninja just bats env service gdb".split()
)
"""Endings of files that something runs."""
_SPLIT = re.compile(r"[\s'\"`;|&<>(){}\\]+")
_INNER = re.compile(r"[=:,@]")
_PWD = re.compile(r"\$PWD\b|\$\{PWD\}|\$\(pwd\)|`pwd`")


def blocking_named_programs(call: ToolCall, decision: Decision, workspace: str) -> Iterator[str]:
    """Absolute paths of program files in the workspace, as the text of a command that does more than read spells them.

    A name that is spelled or ends like a program's counts though nothing is there yet.
    """
    if all(each.finding.known_read or each.finding.neutral for each in decision.weighed):
        return
    root = os.path.realpath(workspace)
    for effect in call.effects:
        if isinstance(effect, RunCommand):
            names = _names(_PWD.sub(effect.cwd.replace("\\", r"\\"), effect.command))
            for folder in _folders(effect.cwd, names, root):
                for name in names:
                    path = os.path.normpath(os.path.join(folder, name))
                    if not is_within(path, root):
                        continue
                    if _is_program(path) or (folder == effect.cwd and _would_be_program(name, path)):
                        yield path


def _names(text: str) -> list[str]:
    """Every word and part of a word that could be a path, each once, in order."""
    words = _SPLIT.split(text)
    with suppress(ValueError):  # no words as POSIX has them; the pieces are what there is
        words += shlex.split(text)  # names with blanks in them
    found: dict[str, None] = {}
    for before, word in pairwise(("", *words)):
        parts = [word, *_INNER.split(word)]
        if word.startswith("-") and not word.startswith("--"):
            parts.append(word[2:])
        if before == "-m":
            module = word.replace(".", "/")
            parts += [f"{module}.py", f"{module}/__main__.py"]
        found |= {part: None for part in parts if part and not part.startswith("-") and _can_be_name(part)}
    return list(found)[:MOST_NAMES]


def _can_be_name(part: str) -> bool:
    try:
        return "\0" not in part and len(os.fsencode(part)) < LONGEST_NAME
    except UnicodeEncodeError:
        return False


def _folders(cwd: str, names: Iterable[str], root: str) -> list[str]:
    """Where names may be meant from: where the text starts, and the folders in the workspace that it names."""
    joined = (os.path.normpath(os.path.join(cwd, name)) for name in names)
    named = (path for path in joined if is_within(path, root) and os.path.isdir(path))
    return list(dict.fromkeys((cwd, *named)))[:MOST_FOLDERS]


def _is_program(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size > LONGEST_PROGRAM:
        return False
    ending = _ending(path)
    return not ending or ending in _PROGRAMS or bool(found.st_mode & 0o111) or _begins_like_one(path)


def _would_be_program(name: str, path: str) -> bool:
    """Nothing is there; the name says that something of it would be run."""
    return (name.startswith(("./", "../")) or _ending(name) in _PROGRAMS) and not os.path.lexists(path)


def _ending(path: str) -> str:
    return os.path.splitext(path)[1][1:].lower()


def _begins_like_one(path: str) -> bool:
    try:
        return read_regular(path, 2) == b"#!"
    except OSError:
        return False
