"""The calls that run now, and those that ended a moment ago: which change of a file does one of them account for?

Only calls with a permit enter here (``gate.py``). Nothing is decided by it: it tells a change that somebody allowed
from one that nobody did.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from countersign.gate.call import ReadPath, ToolCall, WritePath

LINGER_SECONDS = 3.0
"""How long after its end a call still accounts for a change: so late a watcher may tell of it."""
MOST_ENDED = 1000


class _Ended(NamedTuple):
    at: float
    call: ToolCall


class RunningCalls:
    """A class because each call enters and leaves once."""

    def __init__(self) -> None:
        self._running: dict[int, ToolCall] = {}
        self._ended: deque[_Ended] = deque(maxlen=MOST_ENDED)

    @contextmanager
    def running(self, call: ToolCall) -> Iterator[None]:
        """Around the run of a permitted call."""
        key = id(call)
        self._running[key] = call
        try:
            yield
        finally:
            del self._running[key]
            self._ended.append(_Ended(time.monotonic(), call))

    def account_for(self, path: str) -> bool:
        """Return true if a permitted call may have changed this file: it named it, or it runs something."""
        since = time.monotonic() - LINGER_SECONDS
        recent = [ended.call for ended in self._ended if ended.at >= since]
        return any(_may_change(call, path) for call in (*self._running.values(), *recent))


def _may_change(call: ToolCall, path: str) -> bool:
    """A command and a tool that is not understood may change anything. A file may be replaced by way of another one
    beside it whose name holds its own."""
    folder, name = os.path.split(path)
    for effect in call.effects:
        if isinstance(effect, WritePath):
            for spelled in {effect.path, os.path.realpath(effect.path)} if "\0" not in effect.path else ():
                if path == spelled or spelled.startswith(f"{path}/"):
                    return True
                near = os.path.dirname(spelled) == folder and os.path.basename(spelled).strip(".") in name
                if near or path.startswith(f"{spelled}/"):
                    return True
        elif not isinstance(effect, ReadPath):
            return True
    return False
