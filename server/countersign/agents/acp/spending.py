"""What a session has cost so far, as its agent tells it, and how full the context of its model is.

An agent tells the cost of the whole session each time; a chat adds up what each event names, so an event names the
difference.
"""

from __future__ import annotations

from countersign.agents.acp.translate import ContextNews
from countersign.wire.threads import UsageEvent


class Spending:
    """The cost of one session. A class because it keeps what was told last; ``cost`` None: there was a session before,
    and nobody knows what it had cost."""

    def __init__(self, cost: float | None) -> None:
        self._cost = cost
        self._last: ContextNews | None = None

    def hear(self, news: ContextNews) -> UsageEvent | None:
        """Return what the chat shows; None where the agent repeats itself."""
        if news == self._last:
            return None
        self._last = news
        spent = None
        if news.cost is not None:
            spent = max(0.0, news.cost - self._cost) if self._cost is not None else 0.0
            self._cost = news.cost
        return UsageEvent(context_used=news.used, context_tokens=news.size, cost=spent or None)
