"""The commands that the words and input of a program of no table may hold, compared with one deny or ask rule.

Nothing is known of how such a program reads its words, so a command may begin with any word, behind an option's letter
(``-ecurl x``), behind ``:``, ``#`` or ``=`` (``cmd:curl x``), and anywhere in a text with several words (``'cd a; curl
x'``). A rule names its program as a rule; then only the places where that name stands are compared. In a language of a
program's own, a name behind a blank is an ordinary word; there only what follows a shell's separator counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from countersign.gate.patterns import WILD, CommandPattern
from countersign.gate.shell.rules.option_clusters import CLUSTER, letters_of

_MOST = 12
"""Places from each of which on a command may begin, for a rule that names no program."""
_LONGEST = 100
"""Words of one such command that are compared with the rule."""
_LONGEST_TEXT = 2000
"""Characters of a text that are split into these words."""
_MOST_FOUND = 500
"""Places where a rule's program stands, past which the rule counts without a comparison."""
_NAME = re.compile(r"[^\s;|&()<>`!{}\"'\[\],#=:@$%^~*?\\]+")
_BEHIND_SEPARATOR = re.compile(r"(?:\A|[\n;|&()<>`!{}\"'\[\],#=:@$%^~*?]\s*)([^\s;|&()<>`!{}\"'\[\],#=:@$%^~*?\\]+)")
_UP_TO_SEPARATOR = re.compile(r"[^\n;|&()<>`]*")
_QUOTING = re.compile(r"\\\n|[\\'\"]")
_MARKS = "-+"
"""What may stand directly in front of a program's name, as in the recipes of make."""


def names_in(values: Sequence[str], fed: Sequence[str]) -> tuple[str, ...]:
    """All words at which a command may begin, to find the rules that any of them could match."""
    found = dict.fromkeys(values)
    for text in (*values, *fed):
        found |= dict.fromkeys(_names_of(text))
    for value in values:
        if _has_attached(value):
            found |= dict.fromkeys(_NAME.findall(value[2:]))
    return tuple(found)


@lru_cache(maxsize=8)
def _names_of(text: str) -> tuple[str, ...]:
    """The same for one text, which many commands may get as their input."""
    found: dict[str, None] = {}
    for spelled in _spellings(text):
        names = _NAME.findall(spelled)
        found |= dict.fromkeys((*spelled.split(), *names, *(name.lstrip(_MARKS) for name in names)))
    return tuple(found)


def possible_commands(
    pattern: CommandPattern, values: Sequence[str], fed: Sequence[str], *, own_language: bool
) -> Iterator[tuple[str, ...] | None]:
    """Yield the commands that this pattern could match, as words; None where there are more than are looked at."""
    first = pattern.loose_words[0] if pattern.loose_words else WILD
    program = None if WILD in first else _base(first)
    found = _all(program, values, fed, own_language=own_language)
    # The first words decide whether such a rule matches, however many follow.
    by_first_words = pattern.prefix and not any(WILD in word for word in pattern.loose_words)
    length = len(pattern.loose_words)
    for words in islice(found, _MOST_FOUND):
        if words is not None:
            for spelled in (words, *_without_options(words, pattern)):
                yield spelled
                if not pattern.prefix and len(spelled) > length:
                    yield spelled[:length]
        elif not by_first_words:
            yield None
    if next(found, ()) != ():
        yield None


def _all(
    program: str | None, values: Sequence[str], fed: Sequence[str], *, own_language: bool
) -> Iterator[tuple[str, ...] | None]:
    """The commands; None where words or places were left out."""
    if program is None and len(values) > _MOST + 1:
        yield None
    for index in range(1, len(values) if program is not None else min(len(values), _MOST + 1)):
        if len(values) > index + _LONGEST:
            yield None
        value, behind = values[index], values[index + 1 : index + _LONGEST]
        for text in (value, value.rpartition("=")[2]):
            if text and (program is None or _base(text) == program):
                yield (text, *behind)
        for text in (value, value[2:] if _has_attached(value) else ""):
            for words in _in_text(text, program, own_language=own_language):
                yield words
                if words is not None:
                    yield (*words, *behind)
    for text in fed:
        yield from _in_text(text, program, own_language=False)


def _in_text(text: str, program: str | None, *, own_language: bool) -> Iterator[tuple[str, ...] | None]:
    starts = _BEHIND_SEPARATOR if own_language else _NAME
    for spelled in _spellings(text):
        for count, found in enumerate(starts.finditer(spelled)):
            if program is None and count >= _MOST:
                yield None
                break
            group = found.lastindex or 0
            name = found[group].lstrip(_MARKS)
            if program is None or program in (_base(found[group]), _base(name)):
                start = found.end(group) - len(name)
                whole = spelled[start : start + _LONGEST_TEXT]
                parts = whole.split(maxsplit=_LONGEST)
                if len(parts) > _LONGEST or len(spelled) > start + _LONGEST_TEXT:
                    yield None
                yield tuple(part.strip("'\"`;,|&)}]") for part in parts[:_LONGEST])
                yield tuple(_UP_TO_SEPARATOR.match(whole)[0].split()[:_LONGEST])  # type: ignore[index]  it may be empty
                yield (name,)


def _without_options(words: tuple[str, ...], pattern: CommandPattern) -> Iterator[tuple[str, ...]]:
    """``git -C a push`` as ``git push`` and ``rm -r -f`` as ``rm -rf``: without options but those that the rule names.
    Which options take the word behind them is not known, so both count."""
    if not any(map(_is_option, words[1:])):
        return
    letters = letters_of(words)
    wanted = filter(_is_option, pattern.loose_words[1:])
    named = [word for word in wanted if word in words or (CLUSTER.fullmatch(word) and letters.issuperset(word[1:]))]
    rest = [(before, word) for before, word in pairwise(words) if not _is_option(word)]
    yield (words[0], *named, *(word for _, word in rest))
    yield (words[0], *named, *(word for before, word in rest if not _is_option(before) or word in pattern.loose_words))


def _is_option(word: str) -> bool:
    return word[:1] in {"-", "+"}


def _spellings(text: str) -> tuple[str, ...]:
    """A text as it is, and without the quoting that a shell would remove."""
    plain = _QUOTING.sub("", text)
    return (text,) if plain == text else (text, plain)


def _has_attached(value: str) -> bool:
    return len(value) > 2 and value[0] == "-" and value[1] != "-"


def _base(name: str) -> str:
    return name.rpartition("/")[2]
