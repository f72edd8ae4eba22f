"""Known evasions in other spellings of the same command: none may be allowed for being written that way.

What `respelled.py` makes of variables, this makes of everything else that leaves the meaning alone: a command in front
or around it, a redirection, another way to write the program's name or a path, an option's value in the next word,
``--`` or an option in front of the subcommand.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from random import Random

from countersign.gate.shell.effects.partial_subcommands import is_subcommand
from tests.corpora import context

from . import respelled
from .asked import decide

AROUND = (
    "command {}", "env {}", "timeout 5 {}", "nice {}", "nohup {}", "stdbuf -o0 {}", "command -p {}", "exec {}", "! {}",
    "time {}", "({})", "{{ {}; }}", "if true; then {}; fi", "true && {}", "x=1; {}", "{} &", "{} > /dev/null",
    "{} 2>&1", "{} | cat", "echo y | {}", "for i in 1 2; do {}; done", "while read -r l; do {}; done < a", "xargs {}",
)  # fmt: skip
"""Where a command may stand."""

BUILTINS = frozenset(
    {"cd", "command", "enable", "shopt", "export", "alias", "hash", "set", "declare", "complete", "bind"}
)
"""Builtins of bash, which other commands do not run."""

ONLY_ATTACHED = frozenset({"valgrind", "mpv", "esbuild", "git"})
"""Programs of which some options take their value in the same word alone."""

NEVER_APART = frozenset({"--one-top-level"})
"""Options that take their value in the same word alone."""

NO_PATHS = frozenset({"exec/exec", "wheld/x"})
"""Names of commands with a slash (``php craft exec/exec``), and scripts (of sed: ``w held/x``)."""

HANDS_OPTIONS_ON = frozenset({"gh", "glab", "nerdctl", "kubectl", "oc", "helm"})
"""Programs of which a subcommand reads the options in front of it as well, each with the word behind it."""

_PATH = re.compile(r"(?!-)(?:(?:[\w.-]+/)+[\w.-]+|\.[a-z][\w.]+)")
_VALUED = re.compile(r"(--[a-z][\w-]+)=(.+)", re.DOTALL)


def looser(seed: int, numbers: range) -> Iterator[str]:
    """What is allowed in another spelling only."""
    rows = respelled.rows()
    for number in numbers:
        random = Random(f"otherwise {seed}/{number}")
        row, words = random.choice(rows)
        spellings = list(_spellings(words))
        asked = {**row["rules"], **context(row)}
        if not spellings or decide(" ".join(map(respelled.quoted, words)), **asked) == "allow":
            continue
        text = random.choice(spellings)
        if decide(text, **asked) == "allow":
            yield f"{text!r} is allowed, {row['command']!r} is not: {asked}"


def _spellings(words: Sequence[str]) -> Iterator[str]:
    name, quoted = words[0], [respelled.quoted(word) for word in words]
    whole, rest = " ".join(quoted), " ".join(quoted[1:])
    if name not in BUILTINS:
        yield from (each.format(whole) for each in AROUND)
        if "/" not in name:
            yield f"/usr/bin/{name} {rest}"
    if "/" not in name:
        yield from (f"{first} {rest}" for first in (f"\\{name}", f"{name[0]}''{name[1:]}", f"x9={name}; $x9"))
    if "'" not in whole:
        yield f"bash -c {shlex.quote(whole)}"
    if is_subcommand(name, words[1]) and words[1][:1] != "-" and name != "git":
        yield " ".join((quoted[0], "--", *quoted[1:]))
        if name in HANDS_OPTIONS_ON and len(words) > 3 and words[2][:1] == "-" != words[3][:1]:
            yield " ".join((quoted[0], *quoted[2:4], quoted[1], *quoted[4:]))
    for index, word in enumerate(words[1:], 1):
        valued = _VALUED.fullmatch(word)
        if valued is not None and name not in ONLY_ATTACHED and valued[1] not in NEVER_APART:
            yield " ".join((*quoted[:index], valued[1], respelled.quoted(valued[2]), *quoted[index + 1 :]))
        if _PATH.fullmatch(word) and word not in NO_PATHS:
            around = f"./{word}", f"src/../{word}", f'"$PWD"/{word}', f"~+/{word}", word.replace("/", "//", 1)
            yield from (" ".join((*quoted[:index], each, *quoted[index + 1 :])) for each in around)
