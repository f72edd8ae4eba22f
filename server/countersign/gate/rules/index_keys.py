"""The literal pieces that rules hang under and effects are looked up by.

INVARIANT (no rule is missed): each key of ``rule_keys`` is *necessary*: whatever the rule's pattern matches, narrow or
wide, yields that key in the matching ``…_keys`` function. A pattern without such a piece hangs under ``ALWAYS``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from countersign.gate.patterns import WILD, CommandPattern, HostPattern, NamePattern, PathPattern, fold
from countersign.gate.rules.rule import Rule

Key = tuple[str, str]
ALWAYS: Key = ("", "")

_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Lengths of the beginnings and ends that are indexed: a rule hangs under the longest that it has."""

Edge = tuple[str, int]
"""Beginnings (`^`) or ends (`$`) of one length."""


def edges_of(keys: Iterable[Key]) -> frozenset[Edge]:
    """The beginnings and ends among these keys. A look-up needs to try no others, which are nearly all."""
    return frozenset((mark, len(text)) for mark, text in keys if mark in {"^", "$"})


def rule_keys(rule: Rule) -> frozenset[Key]:
    """Keys of which any one is enough to find the rule."""
    match rule.specifier:
        case CommandPattern() as pattern:
            return frozenset(_command_rule_keys(pattern)) or frozenset(_inner_keys(pattern))
        case PathPattern() as pattern:
            return frozenset.intersection(*(frozenset(_path_rule_keys(variant)) for variant in pattern.variants))
        case HostPattern(host=host) if "*" not in host:
            return frozenset({("=", host)})
        case HostPattern(host=host):
            return frozenset(("~", label) for label in host.split(".") if "*" not in label)
        case NamePattern(name=name) if "*" not in name:
            return frozenset({("=", name)})
    return frozenset()


def wild_rule_keys(rule: Rule) -> frozenset[Key]:
    """Further such keys of a rule for commands with a wildcard: what stands inside its words. Looking these up takes
    longer, so they are for rules that share all of ``rule_keys`` with many others."""
    pattern = rule.specifier
    if not isinstance(pattern, CommandPattern) or pattern.loose_texts:
        return frozenset()
    return frozenset(_inner_keys(pattern))


def word_pieces(words: Sequence[str]) -> set[str]:
    """What a simple command is looked up by: its words, their blank-separated pieces, what follows a last slash."""
    pieces = set(words)
    whole = "\0".join(words)
    if " " in whole:
        pieces = {piece for word in words for piece in word.split(" ")}
    if "/" in whole:
        pieces.update([piece.rsplit("/", 1)[1] for piece in pieces if "/" in piece])
    pieces.discard("")
    return pieces


def edge_keys(pieces: Iterable[str], edges: Collection[Edge]) -> Iterator[Key]:
    """The beginnings and ends of these pieces, of these lengths."""
    for piece in pieces:
        for mark, length in edges:
            if length <= len(piece):
                yield (mark, piece[:length] if mark == "^" else piece[-length:])


class InnerTexts:
    """Short texts that are looked for anywhere in a command's pieces; none of them is longer than ``_INNER``."""

    __slots__ = ("_longest", "_shorter", "all")

    def __init__(self, texts: Iterable[str]) -> None:
        self.all = frozenset(texts)
        self._longest = frozenset(each for each in self.all if len(each) == _INNER)
        self._shorter = self.all - self._longest

    def among(self, pieces: Iterable[str]) -> frozenset[str]:
        """Which of them stand in these pieces."""
        text = "\0".join(pieces)
        if len(text) > len(self.all):
            return frozenset([each for each in self.all if each in text])
        found = self._longest.intersection([text[at : at + _INNER] for at in range(len(text))])
        return found.union([each for each in self._shorter if each in text]) if self._shorter else found


def segment_keys(segments: Sequence[str], edges: frozenset[Edge]) -> Iterator[Key]:
    """Keys of a path with these segments, in any case, with these beginnings and ends."""
    return chain.from_iterable([_keys_of(segment, edges) for segment in segments])


def host_keys(host: str) -> Iterator[Key]:
    yield ("=", host)
    for label in host.split("."):
        yield ("~", label)


def tool_keys(name: str, server: str | None, *, wide: bool) -> tuple[str, ...]:
    """Names under which rules for this tool hang. Wide: wherever its name can be cut into server and tool."""
    parts = name.split("__")
    if parts[0] != "mcp" or len(parts) < 3:
        return (name, "*")
    if wide:
        return (*("__".join(parts[:count]) for count in range(2, len(parts) + 1)), "*")
    return (f"mcp__{server if server is not None else parts[1]}", name)


def _command_rule_keys(pattern: CommandPattern) -> Iterator[Key]:
    for index, word in enumerate(pattern.loose_words):
        if WILD not in word:
            literal = word.rsplit("/", 1)[1] if index == 0 and "/" in word else word
            for piece in literal.split(" "):
                if piece:
                    yield ("=", piece)
        else:
            first, *_, last = word.split(WILD)
            yield from _edge("^", first.rsplit(" ", 1)[-1] if " " not in first else "")
            yield from _edge("$", last if " " not in last else "")


def _inner_keys(pattern: CommandPattern) -> Iterator[Key]:
    """What must stand somewhere inside a word of whatever the pattern matches: up to three characters of a literal
    piece that each of its readings holds."""
    readings = [[part for piece in each for part in _WORDS.split(piece)] for each in (*pattern.narrow, *pattern.wide)]
    for part in readings[0]:
        for at in range(max(1, len(part) - _INNER + 1)) if part else ():
            key = part[at : at + _INNER]
            if all(any(key in other for other in parts) for parts in readings[1:]):
                yield ("~", key)


_INNER = 3
_WORDS = re.compile(r"[ \1]")


def _path_rule_keys(segments: Sequence[str]) -> Iterator[Key]:
    for segment in segments:
        if not any(char in segment for char in "*?[\\"):
            yield ("=", fold(segment))
        elif "[" not in segment and "\\" not in segment and segment.isascii():
            pieces = segment.replace("?", "*").split("*")
            yield from _edge("^", fold(pieces[0]))
            yield from _edge("$", fold(pieces[-1]))


def _edge(mark: str, text: str) -> Iterator[Key]:
    length = max((length for length in _LENGTHS if length <= len(text)), default=0)
    if length:
        yield (mark, text[:length] if mark == "^" else text[-length:])


@lru_cache(maxsize=4096)
def _keys_of(segment: str, edges: frozenset[Edge]) -> tuple[Key, ...]:
    folded = fold(segment)
    return (("=", folded), *edge_keys((folded,), edges))
