"""Commands that print names of files, as pipes and substitutions hand them on: which words they have.

``find src -name '*.py' | sort | xargs wc -l`` names files below ``src``. Only commands of constant words without
assignments count, since nothing else says what they list. What the names may be is ``files/listed_files.py``'s to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from countersign.gate.shell.programs.tables import FACETS
from countersign.gate.shell.syntax.tree import Node, Pipeline, Script, Simple, Substitution, Text, Word

Listing = tuple[tuple[str, ...], ...]
"""The constant words of a command that lists names, and of those that filter its output."""

LISTING = {key[0]: kind for key, kind in FACETS["makes_listing"].items()}
FILTERS = {key[0]: kind for key, kind in FACETS["filters_lines"].items()}
"""Programs by name, and what ``files/listed_files.py`` reads their words as."""

MOST_STAGES = 6


def listing_of(stages: Sequence[Node]) -> Listing | None:
    """Return the listing that these stages of a pipeline make, None if they do not surely make one."""
    if not 0 < len(stages) <= MOST_STAGES:
        return None
    found: list[tuple[str, ...]] = []
    for index, stage in enumerate(stages):
        words = _constant_words(stage)
        if words is None or words[0] not in (FILTERS if index else LISTING):
            return None
        found.append(words)
    return tuple(found)


def script_listing(script: Script) -> Listing | None:
    """Return the listing that a substitution of this script makes."""
    if len(script.statements) != 1 or script.background:
        return None
    node = script.statements[0]
    return listing_of(node.stages if isinstance(node, Pipeline) else (node,))


def substituted_listing(word: Word) -> Listing | None:
    """Return the listing that a word consists of: ``$(git ls-files)`` and nothing beside it."""
    pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
    if len(pieces) != 1 or not isinstance(pieces[0], Substitution):
        return None
    return script_listing(pieces[0].script)


def is_one_line(listing: Listing) -> bool:
    """Whether it surely prints no more than one line."""
    return len(listing) > 1 and _ONE_LINE.fullmatch(" ".join(listing[-1])) is not None


_ONE_LINE = re.compile(r"(?:head|tail) -(?:n ?)?1")


def ends_with_nul(listing: Listing) -> bool:
    """Whether a NUL stands behind each name, not a newline."""
    return any(word in {"-print0", "-z", "-0", "--null"} for words in listing for word in words[1:])


def _constant_words(node: Node) -> tuple[str, ...] | None:
    if not isinstance(node, Simple) or node.kind != "command" or node.assignments or node.declared or not node.words:
        return None
    for redirect in node.redirects:
        if redirect.source.replace(" ", "") != "2>/dev/null":
            return None
    values = [word.value for word in node.words if word.value is not None and not word.tilde]
    return tuple(values) if len(values) == len(node.words) else None
