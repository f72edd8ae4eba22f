"""Files that compilers and build tools write where a word of theirs says so in a form of its own.

A folder that is named counts by a file in it, since the names of what is written there are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from countersign.gate.shell.effects.escape_use import Known
from countersign.gate.shell.files.file_use import Touch, unknown
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_PLUGIN_OUTPUT = re.compile(r"--?\w+_out=(.*)", re.DOTALL)


def _protoc(words: Sequence[Word], known: Known) -> Iterator[Touch]:
    """``--go_out=FOLDER``, ``--go_out=OPTIONS:FOLDER``."""
    for word in words[1:]:
        found = _PLUGIN_OUTPUT.match(word.prefix)
        if found is not None:
            yield from _inside(found[1].rpartition(":")[2] if word.value is not None else None)


def _sass(words: Sequence[Word], known: Known) -> Iterator[Touch]:
    """``sass FROM TO``, ``sass FROM:TO …``."""
    operands = [word for word in words[1:] if word.value is None or not word.value.startswith("-")]
    for word in operands:
        if ":" in word.prefix:
            yield from _inside(word.prefix.partition(":")[2] if word.value is not None else None)
    yield from (Touch("write", word) for word in operands[1:] if ":" not in word.prefix)


_CMAKE = Grammar(frozenset("SBDUGTAC"), frozenset({"install-prefix", "preset", "toolchain"}))


def _cmake(words: Sequence[Word], known: Known) -> Iterator[Touch]:
    for word in arguments(words, _CMAKE).values("-B", "--install-prefix"):
        yield from _inside(word.value)


def _uv(words: Sequence[Word], known: Known) -> Iterator[Touch]:
    """``uv venv FOLDER``."""
    for index, word in enumerate(words):
        if index and word.value == "venv":
            named = [each for each in words[index + 1 :] if each.value is None or not each.value.startswith("-")]
            for each in named:
                yield from _inside(each.value)
            return


def _inside(folder: str | None) -> Iterator[Touch]:
    if folder is None:
        yield Touch("write", unknown())
    elif folder:
        yield Touch("write", constant(f"{folder.rstrip('/')}/out"))


NAMED_OUTPUTS: Mapping[str, Callable[[Sequence[Word], Known], Iterator[Touch]]] = {
    "protoc": _protoc,
    "sass": _sass,
    "lessc": _sass,
    "cmake": _cmake,
    "uv": _uv,
}
