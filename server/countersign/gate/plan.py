"""A Plan: a call together with the one way to do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from countersign.gate.call import ToolCall
from countersign.gate.permit import Permit
from countersign.gate.receipt import Outcome
from countersign.wire.base import Json


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done and how. ``run`` does ``permit.call`` and nothing else; it may raise ``permit.Stale``.

    ``look_after`` says what the disk shows once the call was refused: an agent that acts by itself may have done it all
    the same. It changes nothing and raises nothing.
    """

    call: ToolCall
    run: Callable[[Permit], Awaitable[Outcome]]
    look_after: Callable[[], Awaitable[str | None]] | None = None


Prepare = Callable[[Mapping[str, Json] | None], Plan]
"""Looks at the disk as it is now and says what would be done; called in a worker thread.

Called again whenever the call may have changed beneath its card, and with other arguments when a person edited them
(None: the agent's own). May raise ``call.BadArguments``.
"""
