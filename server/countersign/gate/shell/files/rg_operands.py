"""Which files ``rg`` reads beside its operands: its globs and types bring back hidden files, and so do ignore files.

It leaves hidden files out by itself, which is why it belongs to the fixed read-only set; but a glob, a type or a line
`!name` in an ignore file that matches one outweighs that (ripgrep's guide; tried with 13.0).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.sensitive_paths import secret_name
from countersign.gate.patterns import glob_segment
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import Known
from countersign.gate.shell.files.file_use import Touch, unknown
from countersign.gate.shell.syntax.tree import Glob, Text, Word
from countersign.gate.shell.syntax.words import constant

_ENDINGS = frozenset(
    "py pyi js jsx ts tsx mjs cjs vue svelte rs go java kt scala rb php c h cc cpp hpp cs swift m lua ex exs erl hs "
    "ml clj dart html css scss less sql proto graphql md rst txt tex toml yaml yml json xml csv tsv gradle cmake "
    "tf".split()
)
"""Endings of names that hold code or prose: a glob for one of them is not after a secret."""

_TYPES = _ENDINGS | frozenset(
    "python javascript typescript rust ruby csharp kotlin markdown haskell elixir clojure ocaml protobuf webpack make "
    "docker sass".split()
)
"""Types that name no hidden file of its own; ``sh``, ``config`` and ``all`` do."""

_BY_ENDING = re.compile(r"[^{}\[\]\\]*[*?][^{}\[\]\\/]*\.(\w+|\{\w+(?:,\w+)*\})")
_BY_NAME = re.compile(r"/?(?:[^{}\[\]\\/.*?!][^{}\[\]\\/]*/)*[^{}\[\]\\/.*?!][^{}\[\]\\/]*")


def rg_touches(words: Sequence[Word], known: Known) -> Iterator[Touch]:
    """What its globs and types name. What only a type of one's own or a wide glob could name is not known."""
    found = known.arguments
    for value in found.values("--type-add"):
        yield Touch("read", constant((value.value or "").partition(":")[2]), shown=True)
    if found.has("--type-add", "--type-clear"):
        yield Touch("read", unknown())
    for value in found.values("-t", "--type"):
        yield from _hidden_of(known, value.value) if value.value in _TYPES else [Touch("read", unknown())]
    for value in found.values("-g", "--glob", "--iglob"):
        yield from _of_glob(known, value.value)


def _of_glob(known: Known, glob: str | None) -> Iterator[Touch]:
    if glob is None or len(glob) > _LONGEST_GLOB:
        yield Touch("read", unknown())
    elif not glob.startswith("!"):
        yield Touch("read", constant(glob.lstrip("/")), shown=True)
        ending = _BY_ENDING.fullmatch(glob)
        if ending is not None and _ENDINGS.issuperset(ending[1].strip("{}").split(",")):
            for each in ending[1].strip("{}").split(","):
                yield from _hidden_of(known, each)
        elif not _BY_NAME.fullmatch(glob):
            yield Touch("read", unknown())


def _hidden_of(known: Known, ending: str) -> Iterator[Touch]:
    """`*.py` matches `.env.py` as well, where there is one."""
    for folder in _searched(known) or ["."]:
        front, text = f"{folder.rstrip('/')}/.env", f"{folder.rstrip('/')}/.env*.{ending}"
        pieces = (Text(front, quoted=True), Glob("*"), Text(f".{ending}", quoted=True))
        yield Touch("read", Word(text, pieces, "pattern", None, front, text, bare=False))


def _searched(known: Known) -> list[str]:
    """The files and folders that are searched, where they are named."""
    patterns = not known.arguments.has("-e", "--regexp", "-f", "--file", "--files")
    return [word.value for _, word in known.arguments.operands[int(patterns) :] if word.value]


IGNORE_FILES = (".ignore", ".rgignore", ".gitignore", ".git/info/exclude")
MAX_IGNORE = 100_000
"""Bytes of an ignore file that are looked at; a longer one counts as bringing something back."""

_LONGEST_GLOB = 250
"""Characters of a glob that is taken apart: a longer one may name anything."""

_HIDDEN = (".env", ".env.local", ".npmrc", ".pypirc")


def brings_back(known: Known, place: str, paths: PathJudge) -> bool:
    """Whether an ignore file of the folders that it searches, or of one above, brings a hidden secret back.

    Reads those files. One that lies deeper is not seen.
    """
    for folder in {place, *(os.path.join(place, name) for name in _searched(known))}:
        above = os.path.normpath(folder)
        while paths.inside_workspace(above, cwd=place):
            if any(_names_hidden(f"{above}/{name}") for name in IGNORE_FILES):
                return True
            above = os.path.dirname(above)
    return False


def _names_hidden(path: str) -> bool:
    text = disk.beginning(path, MAX_IGNORE + 1)
    if text is None:
        return False
    if len(text) > MAX_IGNORE:
        return True
    for line in text.decode(errors="replace").splitlines():
        if line.startswith("!"):
            name = line.rstrip().rstrip("/").rsplit("/", 1)[-1].removeprefix("!")
            # As in git, a wildcard matches a leading dot; unlike git, rg expands braces.
            if (
                "{" in line
                or secret_name(name)
                or any(glob_segment(name).matches_by_code(hidden) for hidden in _HIDDEN)
            ):
                return True
    return False
