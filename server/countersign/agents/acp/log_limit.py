"""Loggers for what agents do wrong: an agent that does it a million times fills neither the log nor the disk."""

from __future__ import annotations

import logging
import time

MOST_RECORDS = 20
"""Records from one line of our code in ``SECONDS``."""
SECONDS = 60.0


class _Limit(logging.Filter):
    """Drops records of a line that logs too much. A class because it counts."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place, now = (record.pathname, record.lineno), time.monotonic()
        since, count = self._counts.get(place, (now, 0))
        if now - since > SECONDS:
            since, count = now, 0
        self._counts[place] = (since, count + 1)
        if count == MOST_RECORDS - 1:
            record.msg = f"{record.msg} (and more; not logged for a while)"
        return count < MOST_RECORDS


def limited_logger(name: str) -> logging.Logger:
    """Return the logger of a module, which drops records that come too often from one line."""
    logger = logging.getLogger(name)
    if not any(isinstance(each, _Limit) for each in logger.filters):
        logger.addFilter(_Limit())
    return logger
