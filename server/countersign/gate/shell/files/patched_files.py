"""Files that the text of a patch names, in the words or the input of a command (``apply_patch <<EOF``).

Programs that apply patches write where the text says. A text that the command line holds is searched for the lines that
name files, whatever the program is; of one that comes from elsewhere nothing is known (``rows``, ``_SPECIAL``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.files.file_use import FileUse, Operation, unknown
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

_APPLIES = frozenset({"apply_patch", "applypatch", "apply-patch"})
"""Programs of agents that take ``*** Begin Patch`` as an argument or on their input."""
_NAMED = re.compile(
    r"^[ \t]*(?:\*\*\* (?:Add|Update|Delete) File:|\*\*\* Move to:|\+\+\+|---|\*\*\*|Index:|rename (?:from|to)"
    r"|copy (?:from|to))[ \t]+(\S[^\n\t]*)",
    re.MULTILINE,
)
_COPIED = re.compile(r"^[ \t]*(?:rename|copy) from[ \t]+(\S[^\n\t]*)", re.MULTILINE)
"""Names of files whose contents get another name."""
_GIT = re.compile(r"^diff --git (\S.*)", re.MULTILINE)
_IS_PATCH = re.compile(
    r"^[ \t]*(?:\*\*\* Begin Patch|\*\*\* (?:Add|Update|Delete) File:|diff --git |Index: |(?:\+\+\+|---|\*\*\*) \S)",
    re.MULTILINE,
)
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What some programs take for the end of a line, beside a newline."""
_ENDINGS = ("", ".orig", ".rej")
"""What is behind the names of files that are changed, of their copies, and of those with what could not be changed."""
_MOST = 768
"""Files of one patch that are looked at; with more, any may be written."""
_MOST_SUFFIXES = 16
"""Folders that ``-p`` may take away in front of a name."""


def is_patch_text(text: str) -> bool:
    """Whether a text has lines that name files to patch."""
    return _IS_PATCH.search(text) is not None


def patched_touches(name: str, words: Sequence[Word], fed: Sequence[str], *, sure: bool) -> Iterator[FileUse]:
    """Yield what a patch in the words or the input of a command writes, copies and renames. ``sure``: ``fed`` is all
    that comes in."""
    texts = [word.value for word in words[1:] if word.value is not None and "\n" in word.value]
    texts = [text for text in (*texts, *fed) if is_patch_text(_LINE_ENDS.sub("\n", text))]
    applies = name in _APPLIES or any(word.value in _APPLIES for word in words[1:2])
    if applies and not (texts and sure and all(word.value is not None for word in words)):
        yield FileUse("write", constant("."), unknown_names=True)
    for text in texts:
        lines = _LINE_ENDS.sub("\n", text)
        read = (path for found in _COPIED.finditer(lines) for path in _suffixes(found[1].rstrip()))
        written = (path + ending for path in list(_named(lines)) for ending in _ENDINGS)
        touched: tuple[tuple[Operation, Iterator[str]], ...] = (("read", read), ("write", written))
        for operation, paths in touched:
            named = list(dict.fromkeys(paths))
            if len(named) > _MOST:
                yield FileUse(operation, unknown())
            for path in named[:_MOST]:
                yield FileUse(operation, constant(path) if path[0] != '"' else unknown())


def _named(text: str) -> Iterator[str]:
    for found in _NAMED.finditer(text):
        yield from _suffixes(found[1].rstrip())
    for found in _GIT.finditer(text):
        for path in found[1].split():
            yield from _suffixes(path)


def _suffixes(path: str) -> Iterator[str]:
    """A path as it is, and without the folders in front of it that a program may take away."""
    if path in {"/dev/null", "dev/null"} or re.fullmatch(r"\d+(?:,\d+)? (?:\*\*\*\*|----)", path):
        return
    yield path
    for _ in range(_MOST_SUFFIXES):
        path = path.partition("/")[2].lstrip("/")
        if not path:
            return
        yield path
