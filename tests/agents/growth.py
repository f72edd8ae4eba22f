"""Whether a long series of hostile messages leaves objects behind: they are counted early on and at the end."""

from __future__ import annotations

import gc

MOST = 5_000
"""Objects that caches and counters of the interpreter may take in the meantime; one for each message would be more."""


class Growth:
    """Counts the objects of this process. A class because it compares two counts."""

    def __init__(self) -> None:
        self._early = self._late = 0

    def look(self, done: int, of: int) -> None:
        """Count after a fifth of the series, when the caches are filled, and after all of it."""
        if done == of // 5:
            self._early = _objects()
        elif done == of - 1:
            self._late = _objects()

    def faults(self) -> list[str]:
        grown = self._late - self._early
        return [f"{grown} objects more than after a fifth of the series"] if grown > MOST else []


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())
