"""Deciding again: rules, grants, modes and settings change while cards are open and calls are under way.

Looks again at every open request and ends those that are decided now. What was allowed and has not begun is looked at
by the gate, which asks here whether its leave still stands.

INVARIANT (narrowing): ``version`` grows with every change; leave that was given under another one is looked at again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from countersign.gate.approvals.asking import Asking
from countersign.gate.approvals.file_binding import blocking_still_true
from countersign.gate.approvals.pending import Pending, Resolution
from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision
from countersign.gate.turn import Turn
from countersign.gate.workers import Workers, in_worker, sharing
from countersign.wire.verdicts import DecidedBy

LIFTING: frozenset[DecidedBy] = frozenset({"rule", "grant", "bypass"})
"""What resolves an open card by allowing it. A mode that loosens leaves cards open (docs/gate.md "Tightening")."""
OUTDATED = Resolution("interrupted", "change", "the call has changed since the card was shown")


def withdrawn(later: Decision, by: DecidedBy | None) -> bool:
    """Return true if what ``by`` allowed must be decided again: a person's yes outlives all but a denial."""
    return later.verdict == "deny" or (later.verdict == "ask" and by != "user")


def still_asked(decision: Decision) -> Decision:
    """What a request that waited on disk comes to: a mode that loosened meanwhile lets nothing run by itself."""
    if decision.verdict != "allow" or decision.by in LIFTING:
        return decision
    return replace(decision, verdict="ask", by="user", reason="it was waiting for an answer when the server ended")


class Reevaluator:
    """What has changed, and the one task that looks at open requests for it."""

    def __init__(self, asking: Asking, judge: Callable[[ToolCall, Turn], Decision]) -> None:
        self.version = 0
        self._asking = asking
        self._judge = judge
        self._task: asyncio.Task[None] | None = None
        self._wanted = False

    def changed(self) -> None:
        """Something changed: every open request is looked at again, soon."""
        self.version += 1
        if self._asking.table:
            self.look()

    def shown(self, version: int) -> None:
        """A request that was judged under this version can be answered now; what changed since is not missed."""
        if version != self.version:
            self.look()

    def look(self) -> None:
        """Look at every open request, also at those that come while it is done."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = self._asking.own(self._look_at_all(), "look again at open requests")

    async def _look_at_all(self) -> None:
        while self._wanted:
            self._wanted = False
            by_agent: dict[Workers | None, list[Pending]] = {}
            for pending in self._asking.table:
                by_agent.setdefault(pending.turn.workers, []).append(pending)
            # One agent's slow disk must not hold up another agent's requests.
            await asyncio.gather(*(self._look_at_each(requests, workers) for workers, requests in by_agent.items()))

    async def _look_at_each(self, requests: list[Pending], workers: Workers | None) -> None:
        with sharing(workers):
            for pending in requests:
                if pending.claimed_by is not None:
                    # Whoever is about to end it may yet fail; then it is looked at.
                    pending.on_release.append(self.look)
                elif pending.shown:
                    await self._look_at(pending)

    async def _look_at(self, pending: Pending) -> None:
        decision = await in_worker(self._judge, pending.call, pending.turn)
        if decision.verdict == "deny":
            end = Resolution("denied", decision.by, decision.reason, evidence=decision.evidence)
        elif decision.verdict == "allow" and decision.by in LIFTING and pending.allow_offered:
            # INVARIANT (same bytes): a card whose bytes are no longer true is voided, not allowed.
            if not pending.call.bound or await in_worker(blocking_still_true, pending.call):
                end = Resolution("allowed", decision.by, decision.reason, evidence=decision.evidence)
            else:
                end = OUTDATED._replace(again=True)
        elif set(decision.withheld) != set(pending.request.withheld or ()):
            end = OUTDATED._replace(again=True)  # the command would get other variables than the card says
        else:
            return
        await self._asking.end_now(pending, end)
