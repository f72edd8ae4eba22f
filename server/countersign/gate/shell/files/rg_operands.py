"""Which files ``rg`` reads beside its operands: its globs and types bring back hidden files, and so do ignore files.

It leaves hidden files out by itself, which is why it belongs to the fixed read-only set; but a glob, a type or a line
`!name` in an ignore file that matches one outweighs that (ripgrep's guide; tried with 13.0).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.git_settings import excludes_files
from countersign.gate.shell.files.searched_secrets import Search
from countersign.gate.shell.files.word_values import matching_paths, meaning
from countersign.gate.shell.syntax.tree import Glob, Text, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts

_ENDINGS = frozenset(
    "py pyi js jsx ts tsx mjs cjs vue svelte rs go java kt scala rb php c h cc cpp hpp cs swift m lua ex exs erl hs "
    "ml clj dart html css scss less sql proto graphql md rst txt tex toml yaml yml json xml csv tsv gradle cmake "
    "tf".split()
)
"""Endings of names that hold code or prose: a glob for one of them is not after a secret."""

_TYPES = {
    name: endings.split()
    for names, _, endings in (
        line.partition(":")
        for line in """
            py python: py pyi
            js: js jsx vue cjs mjs
            ts typescript: ts tsx cts mts
            rust: rs
            go: go
            css: css scss
            html: htm html ejs
            json: json sarif lock
            yaml: yaml yml
            toml: toml lock
            md markdown: markdown md mdown mdwn mdx mkd mkdn
            sql: sql psql
            java: java jsp jspx properties
            kotlin: kt kts
            swift: swift
            lua: lua
            scala: scala sbt
            vue: vue
            svelte: svelte
            txt: txt
            csv: csv
        """.splitlines()
    )
    for name in names.split()
}
"""Types of files that are known by their endings alone (and ``composer.lock``, ``Cargo.lock``), with these endings."""

_BY_ENDING = re.compile(r"(?:[\w.@+=/*?-]*/)?[\w.@+=-]*[*?][\w.@+=*?-]*\.(\w+|\{\w+(?:,\w+)*\})")
"""A pattern for names with an ending. One with a `#` in front is a comment, which leaves nothing out."""
_BY_NAME = re.compile(r"/?(?:[\w@+-][\w.@+-]*/)*[\w@+-][\w.@+-]*")


def rg_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """What its globs and types name. What only a type of one's own or a wide glob could name is not known."""
    found = known.arguments
    for value in found.values("--type-add"):
        yield FileUse("read", constant((value.value or "").partition(":")[2]), shown=True)
    if found.has("--type-add", "--type-clear"):
        yield FileUse("read", unknown())
    for value in found.values("-t", "--type"):
        endings = _TYPES.get(value.value or "", [])
        for each in endings:
            yield from _hidden_of(known, each)
        if not endings:
            yield FileUse("read", unknown())
    for value in found.values("-g", "--glob", "--iglob"):
        yield from _of_glob(known, value.value)


def _of_glob(known: ProgramReading, glob: str | None) -> Iterator[FileUse]:
    if glob is None or len(glob) > _LONGEST_GLOB:
        yield FileUse("read", unknown())
    elif not glob.startswith("!"):
        yield FileUse("read", constant(glob.lstrip("/")), shown=True)
        endings = _endings_of(glob)
        if endings and _ENDINGS.issuperset(endings):
            for each in endings:
                yield from _hidden_of(known, each)
        elif not _BY_NAME.fullmatch(glob):
            yield FileUse("read", unknown())


def _endings_of(glob: str) -> list[str]:
    """The endings of the names that it matches, none where it does not say these."""
    found = _BY_ENDING.fullmatch(glob)
    return found[1].strip("{}").split(",") if found is not None else []


def _hidden_of(known: ProgramReading, ending: str) -> Iterator[FileUse]:
    """`*.py` matches `.env.py` as well, where there is one."""
    for folder in [word.value for word in _operands(known) if word.value] or ["."]:
        front, text = f"{folder.rstrip('/')}/.env", f"{folder.rstrip('/')}/.env*.{ending}"
        pieces = (Text(front, quoted=True), Glob("*"), Text(f".{ending}", quoted=True))
        word = Word(text, pieces, "pattern", None, front, text, bare=False)
        yield FileUse("read", word, standing=True)


def _operands(known: ProgramReading) -> list[Word]:
    """The words for files and folders to search."""
    patterns = not known.arguments.has("-e", "--regexp", "-f", "--file", "--files")
    return [word for _, word in known.arguments.operands[int(patterns) :]]


_LONGEST_GLOB = 250
"""Characters of a glob that is taken apart: a longer one may name anything."""


def searches(known: ProgramReading, facts: Facts, place: str, paths: PathJudge) -> Iterator[Search]:
    """The folders that it searches, seen from a place. Without an operand that is the place."""
    options = known.arguments.options
    types = [value.value or "" for value in known.arguments.values("-t", "--type")]
    globs = [value.value or "" for value in known.arguments.values("-g", "--glob", "--iglob")]
    globs = [glob.lower() for glob in globs if not glob.startswith("!")]
    limited = bool(types or globs) and known.arguments.settled
    endings = _ENDINGS.union(*(_TYPES.get(each, []) for each in types)) if limited else None
    # A glob that matches a folder brings it back as well.
    ending = {f".{each}" for glob in globs if _BY_ENDING.fullmatch(glob) for each in _endings_of(glob)}
    entered = frozenset({glob.rpartition("/")[2] for glob in globs} | ending)
    ignores = not any(option.name.startswith("--no-ignore") for option in options)
    further = tuple(excludes_files(paths.home))
    words = _operands(known)
    here = ["."] if not words or not known.arguments.settled else []
    for name in (*here, *_named(words, facts, place, paths)):
        folder = paths.resolve(name, cwd=place).resolved
        if folder is not None:
            yield Search(folder, ignores, endings, further, entered, paths.resolve(place, cwd="/").resolved or "/")


def _named(words: Sequence[Word], facts: Facts, place: str, paths: PathJudge) -> list[str]:
    """What these words name, as far as that is known: what is not asks already. Of files that a pattern matches, one of
    each folder stands for all."""
    found: dict[str, None] = {}
    for word in words:
        means = meaning(word, facts, paths.home, place)
        found.update(dict.fromkeys(means.values))
        of_files: dict[str, str] = {}
        for pattern in means.patterns:
            for path in matching_paths(pattern, place, _MOST_MATCHES, paths.spent) or ["."]:
                if paths.resolve(path, cwd=place).kind == "file":
                    of_files[os.path.dirname(path)] = path
                else:
                    found[path] = None
        found.update(dict.fromkeys(of_files.values()))
    return list(found)


_MOST_MATCHES = 500
"""Names that a pattern stands for; with more, all below the place counts."""
