"""Words that may name files and of which only the beginning is known (``.en"$x"``, ``field=@/"$x"``).

They ask where that beginning leads outside, or where a secret or a protected place has a name that begins so. Other
names are taken for harmless, since nearly any word of a program may be the name of a file.
"""

from __future__ import annotations

import re
from typing import Protocol

from countersign.gate.patterns import escape_glob
from countersign.gate.shell.syntax.tree import Word

_PARTS = re.compile("[=@,:]")
"""Behind one of these a name may begin inside a word."""

_GIVES_A_FILE = re.compile(r"(?:^|=)@$")


class CouldBe(Protocol):
    """Says why a pattern of names could name a secret, or for writing a protected place; None if it could not."""

    def __call__(self, pattern: str, *, reading: bool) -> str | None: ...


def reason_to_ask(word: Word, could_be: CouldBe) -> str | None:
    """Return why a word with an unknown end asks, or None."""
    beginning = _PARTS.split(word.prefix)[-1]
    if beginning.startswith(("/", "~", "../")) or beginning == ".." or "/../" in beginning:
        return f"the path `{word.source}` is only known at run time and could be anywhere"
    if not beginning and _GIVES_A_FILE.search(word.prefix):
        return f"the file `{word.source}` is only known at run time and could be a secret"
    if beginning.rsplit("/", 1)[-1][:1] != ".":
        return None
    pattern = f"{escape_glob(beginning)}*"
    return could_be(pattern, reading=True) or could_be(pattern, reading=False)
