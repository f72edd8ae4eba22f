"""What a row of the chat shows of a call's input: all of a short one, and the beginning of a long one.

The chat stores and sends a row with each step of its call; megabytes of input would be written out several times. The
card is drawn from the call itself and always shows everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from countersign.wire.base import Json
from countersign.wire.sizes import size_of

MOST_SHOWN_INPUT = 64 << 10
"""Characters of a call's input that a row of the chat shows."""


def shown_input(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the input as it is where it is short; else with its long texts cut, each cut named."""
    if size_of(dict(given)).characters <= MOST_SHOWN_INPUT:
        return dict(given)
    texts = sum(isinstance(value, str) for value in given.values())
    cut = {key: _cut(value, MOST_SHOWN_INPUT // 2 // texts) if isinstance(value, str) else value
           for key, value in given.items()}  # fmt: skip
    if size_of(cut).characters <= MOST_SHOWN_INPUT:
        return cut
    return {"cut": _cut(json.dumps(dict(given), ensure_ascii=False), MOST_SHOWN_INPUT)}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… [cut, {len(text)} characters]"
