"""Files and folders that programs send away or publish: named by bare words, by options, or the folder they run in.

The records of deployers, publishers and servers say so (facet ``sends``). Their rows say nothing of their operands,
since most of these are no files (`get pods`); under rules for reading, what is found here asks where such a rule may
match. A word that is looked at although it is no path costs nothing unless a rule speaks of that very name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from countersign.gate.shell.files.file_use import unknown
from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_MOST = 200
_FILE_ADDRESS = re.compile(r"(?i)\Afileb?://")


@dataclass(frozen=True, slots=True)
class _Sends:
    """What a program sends: values of ``options``, its ``operands``, the folder ``here``. It holds for the subcommands
    with one of these names, wherever the name stands (``publish*``: that a part between colons begins so), and for all
    if there are none, but never where the first word is one of ``others``, and only where an option of ``where`` stands
    if there are any."""

    subcommands: frozenset[str]
    options: frozenset[str]
    operands: bool
    here: bool
    others: frozenset[str]
    where: frozenset[str]


def _sends(fields: Mapping[str, Any]) -> _Sends:
    """Make a row of an entry ``sends`` of a record."""
    named = [frozenset(fields.get(each, "").split()) for each in ("subcommands", "options", "others", "where")]
    return _Sends(named[0], named[1], "operands" in fields, "here" in fields, named[2], named[3])


_BY_PROGRAM = {key[0]: [_sends(fields) for fields in rows] for key, rows in FACETS["sends"].items()}


def sent_files(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield what a command may send: files and folders, ``.`` for all that lies where it runs."""
    rows = _BY_PROGRAM.get(name)
    if rows is None:
        return
    words = words[1 : _MOST + 1]
    bare = [word for word in words if word.prefix[:1] != "-"]
    for row in rows:
        if words and words[0].value in row.others:
            continue
        if row.where and not any(_stands(word, row.where) for word in words):
            continue
        if row.subcommands and not any(_means(word.value, each) for word in bare for each in row.subcommands):
            continue
        if row.operands:
            yield from (part for word in bare if not _is_setting(word) for part in _parts(word))
        for index, word in enumerate(words):
            given = _given(word, words[index + 1 : index + 2], row.options)
            yield from _parts(given) if given is not None else ()
        if row.here:
            yield constant(".")


def _is_setting(word: Word) -> bool:
    """Whether it is ``name=$value``, which may hold anything but is no path."""
    return word.value is None and "=" in word.prefix and "/" not in word.prefix


def _means(word: str | None, subcommand: str) -> bool:
    """Whether a word may be this subcommand, or a beginning of it that some programs take for the whole."""
    if word is None or word == subcommand:
        return True
    if subcommand.endswith("*"):
        return any(word[at:].startswith(subcommand[:-1]) for at in (0, word.rfind(":") + 1))
    return len(word) > 2 and subcommand.startswith(word)


def _stands(word: Word, options: frozenset[str]) -> bool:
    """Whether a word is one of these options, its value attached or not, or may be one."""
    text = word.prefix
    return (word.value is None and not text) or any(text == each or text.startswith(each) for each in options)


def _given(option: Word, following: Sequence[Word], options: frozenset[str]) -> Word | None:
    """The value of one of these options: ``--file x``, ``--file=x``, ``-f x`` or ``-fx``."""
    text = option.prefix
    if text[:1] != "-":
        return None
    name, equals, value = text.partition("=")
    if name in options and not equals:
        return following[0] if following else None
    if name not in options and not (text[:2] in options and text[1:2] != "-"):
        return None
    return unknown() if option.value is None else constant(value if name in options else text[2:])


def _parts(word: Word) -> Iterator[Word]:
    """The paths in ``path``, ``key=path``, ``a,b``, ``fileb://path`` and ``@path``."""
    value = word.value
    if value is None or word.tilde:
        yield word
        return
    for part in dict.fromkeys((value, *value.split(","))):
        for text in dict.fromkeys((part, part.rpartition("=")[2])):
            path = _FILE_ADDRESS.sub("", text) if "://" in text else text.removeprefix("@")
            if path:
                yield constant(path)
