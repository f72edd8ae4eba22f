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
