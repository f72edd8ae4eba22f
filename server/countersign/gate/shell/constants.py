"""Simple commands of nothing but constant words, found in one step, because most commands are so.

What is found here is exactly what ``parse.py`` and ``lexer.py`` would make of it, character by character; a test
compares them. Texts are byte strings, as there.
"""

from __future__ import annotations

import re

from .script import Word
from .words import plain_word, quoted_word

_BARE = r"[A-Za-z0-9_./:@%+,^\-\x80-\xff]"
_ARGUMENT = rf"""(?:{_BARE}[A-Za-z0-9_./:@%+,^=\-#\x80-\xff]*+|'[^'\n]*'|"[^"\\$`\n]*")(?=[ \t;|\n)&]|\Z)"""
_COMMAND = re.compile(rf"({_BARE}++)(?:[ \t]+{_ARGUMENT})*+[ \t]*+(?=[;|\n)]|&(?!>)|\Z)")
"""A bare word that can be no assignment, and such as are bare or stand in one pair of quotes with nothing to expand."""
_REDIRECTION = rf"[ \t]*+(?:(?<=[ \t])[012])?(?:(?:>>|>|<)[ \t]*+{_BARE}++|>&[12])(?=[ \t;|\n)&]|\Z)"
_REDIRECTED = re.compile(
    rf"((?!\d+[<>])({_BARE}++)(?:[ \t]+{_ARGUMENT})*+)((?:{_REDIRECTION})++)[ \t]*+(?=[;|\n)]|&(?!>)|\Z)", re.ASCII
)
"""The same with redirections behind it, from and to bare words."""
_WORD = re.compile(r"""'[^']*'|"[^"]*"|[^ \t'"]+""")


def constant_command(text: str, position: int) -> tuple[str, str] | None:
    """The first word and the text of the command at this place, or None if it is no such command.

    The first word may be a reserved one.
    """
    found = _COMMAND.match(text, position)
    return None if found is None else (found[1], found[0].rstrip(" \t"))


def redirected_command(text: str, position: int) -> tuple[str, str, int] | None:
    """The first word of the command at this place, the text of its words, and the place behind its redirections; None
    if it is no such command. The first word may be a reserved one."""
    found = _REDIRECTED.match(text, position)
    return None if found is None else (found[2], found[1], found.end(3))


def constant_words(source: str) -> tuple[Word, ...]:
    """The words of such a command.

    Raises:
        NotUnderstood: one is no UTF-8.
    """
    return tuple([quoted_word(word) if word[0] in "'\"" else plain_word(word) for word in _WORD.findall(source)])
