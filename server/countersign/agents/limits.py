"""Limits of what a model says in one message, whatever its provider.

A stream without end fills memory, disk and the chat; over a limit the turn ends with an error that names it.
"""

from __future__ import annotations

from dataclasses import replace

from countersign.agents.models.base import CallPiece, Piece, ReplayPiece, TextPiece, ThinkingPiece, WantedCall
from countersign.wire.errors import ModelError
from countersign.wire.sizes import size_of, text_memory

LONGEST_TEXT = 4 << 20
"""Characters of the text of one message."""
LONGEST_THOUGHT = 4 << 20
"""Characters of the thinking before one message."""
MOST_SHOWN, MOST_VALUES = 4 << 20, 5000
"""Characters and values of one call; nobody can read more on a card, so of a larger one nothing is kept."""
LONGEST_TURN = 16 << 20
"""Bytes that all messages of one turn take in memory."""


class Measure:
    """Adds up one message of a model. A class because the sums grow piece by piece. ``turn`` are the bytes of all
    messages of the turn, this one included."""

    def __init__(self, most_calls: int, turn: int = 0) -> None:
        self.turn = turn
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
                self.turn += text_memory(text)
            case ThinkingPiece(text):
                self._thought += len(text)
                self.turn += text_memory(text)
            case CallPiece(call):
                self._calls += 1
                self.turn += size_of(dict(call.arguments)).memory
            case ReplayPiece(replay):
                self.turn += size_of(list(replay.blocks)).memory
            case _:
                return
        if self._text > LONGEST_TEXT:
            raise ModelError(f"the model's message is longer than {LONGEST_TEXT >> 20} Mi characters")
        if self._thought > LONGEST_THOUGHT:
            raise ModelError(f"the model thought for more than {LONGEST_THOUGHT >> 20} Mi characters")
        if self.turn > LONGEST_TURN:
            raise ModelError(f"the model's messages of this turn take more than {LONGEST_TURN >> 20} MiB")
        if self._calls > self._most_calls:
            limit = "raise `countersign.limits.callsPerMessage` if that was meant"
            raise ModelError(f"the model's message holds more than {self._most_calls} calls; {limit}")


def without_excess(call: WantedCall) -> WantedCall:
    """Return the call; without its arguments, and broken, if they are larger than a card can show."""
    size = size_of(dict(call.arguments))
    if size.characters <= MOST_SHOWN and size.values <= MOST_VALUES:
        return call
    limit = f"{MOST_SHOWN >> 20} Mi characters or {MOST_VALUES} values"
    return replace(call, arguments={}, broken=f"the arguments are larger than {limit}; do it in parts")
