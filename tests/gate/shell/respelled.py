"""Known evasions whose words bash makes of variables: none may be allowed for being spelled that way.

Each row of the corpora that asks or is denied and is one command of constant words is spelled with one of its words in
a variable, whole or by halves, in the same text or in one that `bash -c` runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from tests.corpora import commands, context

from .asked import decide
from .examples import evasions

FORMS = ("whole", "chained", "front", "back", "both", "looped", "inside", "inside twice")
"""How a word is spelled."""

_CONSTANT = re.compile(r"[\w./:,@%+=^ '-]+")
_BARE = re.compile(r"[\w./:,@%+=^-]+")
_LONGEST = 200


@cache
def _rows() -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """The rows that are one command of constant words, with these."""
    found: list[tuple[Mapping[str, Any], tuple[str, ...]]] = []
    for row in (*evasions(), *(row for row in commands() if not row.get("layout"))):
        command = row.get("command")
        if not isinstance(command, str) or row["expect"] == "allow" or len(command) > _LONGEST:
            continue
        # Bash takes what stands in front for an assignment, and rules for a whole text mean that text.
        if not _CONSTANT.fullmatch(command) or "=" in command.split()[0] or "plain_bash" in row:
            continue
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        if len(words) > 1:
            found.append((row, tuple(words)))
    return found


def looser(seed: int, numbers: range) -> Iterator[str]:
    """What is allowed in another spelling only."""
    for number in numbers:
        random = Random(f"respelled {seed}/{number}")
        row, words = random.choice(_rows())
        asked = {**row["rules"], **context(row)}
        if decide(" ".join(map(_quoted, words)), **asked) == "allow":
            continue
        text = respelled(words, random.randrange(1, len(words)), random.choice(FORMS), random)
        if text is not None and decide(text, **asked) == "allow":
            yield f"{text!r} is allowed, {row['command']!r} is not: {asked}"


def respelled(words: Sequence[str], index: int, form: str, random: Random) -> str | None:
    """The command with the word at this place spelled so, or None if it is too short for that."""
    word = words[index]
    front = back = ""
    if form in {"front", "back", "both"}:
        if len(word) < 2:
            return None
        middle = random.randrange(1, len(word))
        front, back = word[:middle], word[middle:]

    def with_word(spelling: str) -> str:
        return " ".join((*map(_quoted, words[:index]), spelling, *map(_quoted, words[index + 1 :])))

    assigned, named = f"x9={shlex.quote(word)}", with_word('"$x9"')
    match form:
        case "whole":
            return f"{assigned}; {named}"
        case "front":
            return f"x9={shlex.quote(front)}; " + with_word('"$x9"' + _quoted(back))
        case "back":
            return f"x9={shlex.quote(back)}; " + with_word(_quoted(front) + '"$x9"')
        case "both":
            return f"x9={shlex.quote(front)} y9={shlex.quote(back)}; " + with_word('"$x9$y9"')
        case "looped":
            return f"for x9 in a {shlex.quote(word)}; do {named}; done"
        case "inside":
            return "bash -c " + shlex.quote(f"{assigned}; {named}")
        case "inside twice":
            texts = (f"x9=a.txt; {named}", f"{assigned}; {named}")
            return "; ".join("bash -c " + shlex.quote(text) for text in texts)
        case _:
            return f"{assigned} && {named}"


def _quoted(word: str) -> str:
    return word if _BARE.fullmatch(word) else shlex.quote(word)
