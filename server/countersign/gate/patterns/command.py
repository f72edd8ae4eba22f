"""The words of a ``Bash(...)`` rule: read once, matched often.

Knows no shell: it compares words that ``gate/shell`` has already brought into their normal form (docs/gate.md S4). The
narrow reading (``covers``) is for allow rules and grants, the wide one (``touches``) for deny and ask rules.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from countersign.gate.patterns.errors import BadPattern
from countersign.gate.patterns.wildcard import wildcard_match

WILD = "\0"
"""Stands for a ``*`` inside a pattern's word. NUL cannot occur in a command's words."""

_GAP = "\1"
"""Between two words in a joined text, so that a blank inside a word is not taken for a word's end."""


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """The words of ``Bash(...)``.

    ``words`` are the rule's words with quotes removed as bash does and ``WILD`` for each wildcard. ``prefix`` says
    that the rule ended in ``:*`` or `` *``: the words alone, or followed by anything. ``loose_words`` is the reading
    for deny and ask, where a quoted ``*`` is a wildcard too. ``assigned`` is how many leading words assign a variable:
    one whose name is quoted is a program. ``homes`` are the indexes of words that begin with a ``~`` without quotes.
    """

    text: str
    words: tuple[str, ...]
    loose_words: tuple[str, ...]
    prefix: bool
    assigned: int = 0
    homes: frozenset[int] = frozenset()
    literal_prefix: tuple[str, ...] = field(init=False, compare=False)
    """The words before the first one that holds a wildcard."""
    literals: frozenset[str] = field(init=False, compare=False)
    """All words without a wildcard, wherever they stand: what the rule names literally (S9)."""
    options: tuple[tuple[str, str | None], ...] = field(init=False, compare=False)
    """Its literal options, each with the value or word behind it that the rule says as well."""
    first_word: str | None = field(init=False, compare=False)
    """The program that the rule names, or None when a wildcard stands for it, wholly or in part (S2)."""
    literal: bool = field(init=False, compare=False)
    """Whether no word holds a wildcard."""
    exact: bool = field(init=False, compare=False)
    """Whether the rule says one command word for word."""
    several: bool = field(init=False, compare=False)
    """Whether bash reads the text otherwise than as these words: it joins commands, redirects or expands, or begins
    with a keyword. The narrow reading of such a rule is its text, if it is exact, and never a command that has an
    operator or a keyword for a word."""
    loose_texts: tuple[str, ...] = field(init=False, compare=False)
    """``loose_words`` as text, with and without the program's folder; none where a wildcard stands in them."""
    narrow: tuple[tuple[str, ...], ...] = field(init=False, compare=False)
    wide: tuple[tuple[str, ...], ...] = field(init=False, compare=False)
    """What stands between wildcards, in each of the texts that the narrow and the wide reading match."""
    least: int = field(init=False, compare=False)
    """The length of the shortest command, words joined by blanks, that either reading matches."""

    def __post_init__(self) -> None:
        words, prefix = self.words, self.prefix
        literals = [word for word in words if WILD not in word]
        literal = len(literals) == len(words)
        leading = words if literal else tuple(itertools.takewhile(lambda word: WILD not in word, words))
        wanted = self._wanted()
        texts = tuple([" ".join(each) for each in wanted])
        narrow = _pieces(_GAP.join(words[self.assigned :]), _GAP, prefix=prefix)
        wide = tuple([pieces for text in texts for pieces in _pieces(text, " ", prefix=prefix)])
        fill = object.__setattr__
        fill(self, "literal_prefix", leading)
        fill(self, "literals", frozenset(literals))
        fill(self, "options", tuple(_options(words)))
        fill(self, "first_word", leading[0] if leading else None)
        fill(self, "literal", literal)
        fill(self, "exact", literal and not prefix)
        keyword = _KEYWORD.match(self.text) is not None
        fill(self, "several", keyword or (bool(_OPERATOR.search(self.text)) and _has_operators(self.text)))
        fill(self, "loose_texts", () if WILD in texts[0] else texts)
        fill(self, "narrow", narrow)
        fill(self, "wide", wide)
        fill(self, "least", min([len("".join(pieces)) for pieces in (*narrow, *wide)]))

    def covers(self, words: Sequence[str], assigned: int = 0, homes: frozenset[int] = frozenset()) -> bool:
        """The narrow reading, for allow: word by word; a blank inside a word is no boundary. ``assigned`` is how many
        leading words assign a variable: no wildcard stands for one (S6). ``homes`` are the indexes of words in which
        a ``~`` means a home: in quotes it is a folder of this name."""
        if self.assigned != assigned or (self.several and self.exact):
            return False
        if (self.homes or homes) and not self._same_homes(homes):
            return False
        if self.literal:
            given = tuple(words)
            return given[: len(self.words)] == self.words if self.prefix else given == self.words
        # A wildcard in what is assigned is no wildcard for the program behind it.
        values = zip(self.words[:assigned], words, strict=False)
        if not all(wildcard_match(wanted.split(WILD), value) for wanted, value in values):
            return False
        if any(_climbs(wanted, word) for wanted in self.words for word in words):
            return False
        text = _GAP.join(words[assigned:])
        return any(wildcard_match(pieces, text) for pieces in self.narrow)

    def _same_homes(self, homes: frozenset[int]) -> bool:
        """Whether a ``~`` means a home in the same words, up to the first wildcard."""
        known = len(self.literal_prefix)
        if known < len(self.words) and self.words[known].startswith("~"):
            known += 1  # the wildcard stands behind the tilde
        return {index for index in self.homes if index < known} == {index for index in homes if index < known}

    def touches(self, words: Sequence[str]) -> bool:
        """The wide reading, for deny and ask: also over the words joined by blanks, and by the program's base name."""
        if not words:
            return not self.words
        spellings = [words]
        if "/" in words[0]:
            spellings.append((words[0].rsplit("/", 1)[1], *words[1:]))
        if self.loose_texts:
            return any(map(self._begins, map(" ".join, spellings)))
        # What matches word by word matches joined by blanks as well.
        texts = [" ".join(spelling) for spelling in spellings]
        return any(wildcard_match(pieces, text) for pieces in self.wide for text in texts)

    def _begins(self, text: str) -> bool:
        for wanted in self.loose_texts:
            if text.startswith(wanted) and (text == wanted or (self.prefix and text[len(wanted)] == " ")):
                return True
        return False

    def _wanted(self) -> list[tuple[str, ...]]:
        """``loose_words``, with and without the program's folder."""
        wanted = [self.loose_words]
        if self.loose_words and "/" in self.loose_words[0] and WILD not in self.loose_words[0]:
            wanted.append((self.loose_words[0].rsplit("/", 1)[1], *self.loose_words[1:]))
        return wanted


def _options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    for word, following in zip(words, (*words[1:], WILD), strict=True):
        if word[:1] == "-" and word.strip("-") and WILD not in word:
            name, equals, value = word.partition("=")
            behind = None if following[:1] == "-" or WILD in following else following
            yield name, value if equals else behind


def _climbs(wanted: str, word: str) -> bool:
    """Whether a wildcard behind a folder (``./scripts/*``) would stand for a way out of it (``./scripts/../x``)."""
    folder = wanted.partition(WILD)[0]
    if folder == wanted or "/" not in folder:
        return False
    return word.startswith(folder) and ".." in word[len(folder) :].split("/")


@lru_cache(maxsize=256)
def parse_command(text: str) -> CommandPattern:
    """Read the specifier of a ``Bash`` rule.

    Raises:
        BadPattern: it is empty.
    """
    body, prefix = _BLANKS_BEHIND.sub("", text.lstrip()), False
    if body.endswith(":*") and not body.endswith("\\:*"):
        body, prefix = body[:-2], True
    elif body.endswith("*") and _ANY_WORDS_BEHIND.search(body):
        body, prefix = body[:-1], True
    words = _words(body, quoted_star=False)
    if not words and not prefix:
        raise BadPattern("it names no command")
    if not words:
        return CommandPattern(text, (WILD,), (WILD,), True)
    loose = _words(body, quoted_star=True) if "*" in body else words
    return CommandPattern(text, words, loose, prefix, *_bare_beginnings(body, words))


_BLANKS_BEHIND = re.compile(r"(?<![\\\s])\s+$|(?<=\\\s)\s+$")
_ANY_WORDS_BEHIND = re.compile(r"(?:^|(?<!\\)\s)\*$")


def command_specifier(
    words: Sequence[str], assigned: Sequence[tuple[str, str]] = (), homes: Collection[int] = ()
) -> str | None:
    """The specifier that covers exactly these words, with these variables and values assigned in front, or None where
    a rule cannot say them (control characters). ``homes`` are the indexes of words in which a ``~`` means a home."""
    text = "".join((*words, *(value for _, value in assigned)))
    if not words or (not text.isprintable() and any(unicodedata.category(char) in {"Cc", "Cf"} for char in text)):
        return None
    named = [f"{name}={_spell(value) if value else ''}" for name, value in assigned]
    for index, word in enumerate(words):
        if index in homes:
            home, slash, rest = word.partition("/")
            named.append(home + slash + (_spell(rest) if rest else ""))
        elif index == 0 and _ASSIGNS.match(word) and "'" not in word:
            named.append(f"'{word}'")
        else:
            named.append(_spell(word))
    return " ".join(named)


_ASSIGNS = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)


def _bare_beginnings(body: str, words: Sequence[str]) -> tuple[int, frozenset[int]]:
    """How many leading words assign a variable as bash reads the text, and which words begin with a bare ``~``."""
    if not (words and _ASSIGNS.match(words[0])) and not any(word.startswith("~") for word in words):
        return 0, frozenset()
    starts: list[int] = []
    if _split(body, False, quotes="'\"", starts=starts) is None:
        starts.clear()
        _split(body, False, quotes="", starts=starts)
    assigned = next((index for index, start in enumerate(starts) if not _ASSIGNS.match(body, start)), len(starts))
    return assigned, frozenset(index for index, start in enumerate(starts) if body[start] == "~")


_KEYWORD = re.compile(r"\s*(?:\(|(?:!|\{|\[\[|time|coproc|if|while|until|for|case|select|function)(?=\s|$))")
"""What stands in front of a command and is none of its words; in quotes it is a program of this name."""

_OPERATOR = re.compile(r"[;&|<>$`#\n]")


def _has_operators(text: str) -> bool:
    """Whether an operator, an expansion or a comment stands where no quote keeps it from being one. Where a quote has
    no end, only what stands in front of it counts: bash reads nothing of a line with such a quote."""
    if any(found["comment"] for found in _QUOTED.finditer(text)):
        return True
    bare = _QUOTED.sub("_", text)
    insides = (_ESCAPED.sub("_", found["inside"]) for found in _QUOTED.finditer(text) if found["inside"])
    return _UNQUOTED_OPERATOR.search(re.split("['\"]", bare)[0]) is not None or any(map(_EXPANDS.search, insides))


_QUOTED = re.compile(r"""\\.|'[^']*'|"(?P<inside>(?:\\.|[^"\\])*)"|(?:^|(?<=[\s;&|()<>]))(?P<comment>#)""", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_EXPANDS = re.compile(r"`|\$[\w{(?#@*!$-]")
_UNQUOTED_OPERATOR = re.compile(rf"[;&|<>\n]|{_EXPANDS.pattern}")

_PLAIN = re.compile(r"\{\}|(?![#!])(?:[\w@%+=:,./^#!-]|(?<=[\w^])~)+")


def _spell(word: str) -> str:
    """A word in such quotes that bash, too, reads this word: an exact rule also covers the text that it is."""
    if _PLAIN.fullmatch(word) and not word.endswith(":"):
        return word
    if "'" not in word and "*" not in word:
        return f"'{word}'"
    return re.sub(r"""([^\w@%+=,./^-])""", r"\\\1", word)


def _words(body: str, *, quoted_star: bool) -> tuple[str, ...]:
    """Split as bash splits literal text; with an unbalanced quote, quotes are ordinary characters."""
    if not _QUOTING.search(body):
        return tuple(body.replace("*", WILD).split())
    return _split(body, quoted_star, quotes="'\"") or _split(body, quoted_star, quotes="") or ()


_QUOTING = re.compile(r"""[\\'"]""")
_ESCAPED_IN_QUOTES = frozenset('$`"\\')


def _split(body: str, quoted_star: bool, *, quotes: str, starts: list[int] | None = None) -> tuple[str, ...] | None:
    """The words, or None where a quote has no end; ``starts`` takes where each begins."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    index = 0
    while index < len(body):
        char = body[index]
        if word is None and starts is not None and not char.isspace():
            starts.append(index)
        if char == "\\" and quote != "'" and index + 1 < len(body):
            if quote and body[index + 1] not in _ESCAPED_IN_QUOTES:
                word = (word or "") + char
            else:
                index += 1
                word = (word or "") + body[index]
        elif quote:
            if char == quote:
                quote = ""
            else:
                word = (word or "") + (WILD if char == "*" and quoted_star else char)
        elif char in quotes:
            quote, word = char, word or ""
        elif char.isspace():
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + (WILD if char == "*" else char)
        index += 1
    if quote:
        return None
    if word is not None:
        words.append(word)
    return tuple(words)


def _pieces(text: str, gap: str, *, prefix: bool) -> tuple[tuple[str, ...], ...]:
    """What stands between the wildcards of a pattern's text; for a prefix, with and without anything behind it."""
    alone = tuple(text.split(WILD))
    return (alone, (*alone[:-1], alone[-1] + gap, "")) if prefix else (alone,)
