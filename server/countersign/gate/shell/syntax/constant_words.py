"""Simple commands of nothing but constant words, found in one step, because most commands are so.

What is found here is exactly what ``parser.py`` and ``lexer.py`` would make of it, character by character; a test
compares them. Texts are byte strings, as there.

The expressions have no possessive quantifiers: Python's were wrong until 3.11.5. What may follow a repetition is never
a character that it repeats, so giving one back matches nothing, and the time is linear all the same.
"""

from __future__ import annotations

import re
from typing import Any

from countersign.gate.shell.syntax.tree import Redirect, Word
from countersign.gate.shell.syntax.words import decode, plain_word, quoted_word

_BARE = r"[A-Za-z0-9_./:@%+,^\-\x80-\xff]"
_ARGUMENT = rf"""(?:{_BARE}[A-Za-z0-9_./:@%+,^=\-#\x80-\xff]*|'[^'\n]*'|"[^"\\$`\n]*")(?=[ \t;|\n)&]|\Z)"""
_REDIRECTION = rf"[ \t]*(?:(?<=[ \t])[012])?(?:(?:>>|>|<)[ \t]*{_BARE}+|>&[12])(?=[ \t;|\n)&]|\Z)"
_COMMAND = re.compile(
    rf"((?!\d+[<>])({_BARE}+)(?:[ \t]+{_ARGUMENT})*)((?:{_REDIRECTION})*)[ \t]*(?=[;|\n)]|&(?!>)|\Z)", re.ASCII
)
"""A bare word that can be no assignment, and such as are bare or stand in one pair of quotes with nothing to expand;
behind them redirections from and to bare words."""
_ONE_REDIRECTION = re.compile(rf"(([012]?)(>>|>|<|>&)[ \t]*({_BARE}+))")
_WORD = re.compile(r"""'[^']*'|"[^"]*"|[^ \t'"]+""")


def constant_command(text: str, position: int) -> tuple[str | Any, ...] | None:
    """The text of the words of the command at this place, the first of them, and the text of its redirections; None if
    it is no such command. The first word may be a reserved one."""
    found = _COMMAND.match(text, position)
    return None if found is None else found.groups()


def redirections(source: str) -> tuple[Redirect, ...]:
    """The redirections of such a command.

    Raises:
        NotUnderstood: one is no UTF-8.
    """
    return tuple(
        [
            Redirect(operator, plain_word(target), decode(shown), None, None, descriptor)
            for shown, descriptor, operator, target in _ONE_REDIRECTION.findall(source)
        ]
    )


def constant_words(source: str) -> tuple[Word, ...]:
    """The words of such a command.

    Raises:
        NotUnderstood: one is no UTF-8.
    """
    return tuple([quoted_word(word) if word[0] in "'\"" else plain_word(word) for word in _WORD.findall(source)])
