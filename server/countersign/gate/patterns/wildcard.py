"""Text with ``*`` for any text in it, matched greedily: linear in the text for each star, never by backtracking."""

from __future__ import annotations

from collections.abc import Sequence


def wildcard_match(pieces: Sequence[str], text: str) -> bool:
    """Whether the text is these pieces in order, with anything between two of them."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in pieces[1:-1]:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def wildcards_meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two such texts have a common one, each given in pieces with anything between two of them.

    Where both have such gaps it is enough that they begin and end alike: then the longer beginning, all that stands
    between the gaps of the one and of the other, and the longer end are a text of both.
    """
    if len(one) == 1:
        return wildcard_match(other, one[0])
    if len(other) == 1:
        return wildcard_match(one, other[0])
    begins = one[0].startswith(other[0]) or other[0].startswith(one[0])
    return begins and (one[-1].endswith(other[-1]) or other[-1].endswith(one[-1]))
