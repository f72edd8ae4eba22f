"""Limits of what a model says in one message, whatever its provider.

A stream without end fills memory, disk and the chat; over a limit the turn ends with an error that names it.
"""

from __future__ import annotations

from countersign.agents.models.base import CallPiece, Piece, TextPiece, ThinkingPiece
from countersign.wire.errors import ModelError

LONGEST_TEXT = 4 << 20
"""Characters of the text of one message."""
LONGEST_THOUGHT = 4 << 20
"""Characters of the thinking before one message."""


class Measure:
    """Adds up one message of a model. A class because the sums grow piece by piece."""

    def __init__(self, most_calls: int) -> None:
        self._most_calls = most_calls
        self._calls = 0
        self._text = 0
        self._thought = 0

    def add(self, piece: Piece) -> None:
        """Count one piece.

        Raises:
            ModelError: the message is over a limit; the piece must not be used.
        """
        match piece:
            case TextPiece(text):
                self._text += len(text)
            case ThinkingPiece(text):
                self._thought += len(text)
            case CallPiece():
                self._calls += 1
            case _:
                return
        if self._text > LONGEST_TEXT:
            raise ModelError(f"the model's message is longer than {LONGEST_TEXT >> 20} Mi characters")
        if self._thought > LONGEST_THOUGHT:
            raise ModelError(f"the model thought for more than {LONGEST_THOUGHT >> 20} Mi characters")
        if self._calls > self._most_calls:
            limit = "raise `countersign.limits.callsPerMessage` if that was meant"
            raise ModelError(f"the model's message holds more than {self._most_calls} calls; {limit}")
