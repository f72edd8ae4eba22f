"""The tripwire: calls that an agent tells of and has not asked about, from their first sign on.

``in_progress`` is the first sign, but some agents say it right before they ask: so such a call has ``GRACE_SECONDS``,
then it is said and the label is lowered for as long as no request comes. An end, whatever it claims, without a request
is a fall. What a call is, its input says; its claimed kind is evidence for nothing.

An agent that refuses a call by itself may report only the failure. The report alone proves nothing, so it is no fall
only where the recipe knows, for exactly the measured files, that each call that runs is announced first. It is recorded
as uncertain all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, Protocol

from countersign.agents.acp.reports import Reports, title_of
from countersign.agents.acp.translate import ToolReport

GRACE_SECONDS = 1.0
"""The agents that were measured ask within milliseconds of telling that a call is in progress."""


MOST_SAID = 100
"""The most calls without a request that are reported in one turn; the first lowers the label."""


Deed = Literal["unasked", "failed", "unended", "exceeded", "early"]
_DEEDS: dict[Deed, str] = {
    "unasked": "acted without asking",
    "failed": "acted without asking (and says that it failed)",
    "unended": "never asked about a call, nor said how it ended",
    "exceeded": "did more than it had asked for",
    "early": "did not wait for an answer",
}


class Labels(Protocol):
    """What the tripwire tells of an agent's label."""

    @property
    def announces_calls(self) -> bool: ...
    def suspect(self, call_id: str, why: str) -> None: ...
    def clear(self, call_id: str) -> None: ...
    def fall(self, why: str) -> None: ...


class Tripwire:
    """The calls of one turn that were not asked about. A class because each is judged once at each sign.

    ``say`` puts an effect without a permit into the chat and the ledger.
    """

    def __init__(
        self,
        agent: str,
        reports: Reports,
        labels: Labels,
        say: Callable[[str, ToolReport, bool], Awaitable[None]],
        own: Callable[[Coroutine[Any, Any, None], str], None],
    ) -> None:
        self._agent = agent
        self._reports = reports
        self._labels = labels
        self._say = say
        self._own = own
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._suspects: set[str] = set()
        self._fallen: set[str] = set()

    def hear_progress(self, report: ToolReport) -> None:
        """The agent says that a call runs."""
        call_id = report.call_id
        if call_id in self._timers or self._reports.was_asked(call_id):
            return
        loop = asyncio.get_running_loop()
        judge = lambda: self._own(self._suspect(call_id), f"judge {call_id}")  # noqa: E731
        self._timers[call_id] = loop.call_later(GRACE_SECONDS, judge)

    def hear_request(self, call_id: str) -> None:
        """The agent asks about a call."""
        if (timer := self._timers.get(call_id)) is not None:
            timer.cancel()
        if call_id in self._suspects:
            self._suspects.discard(call_id)
            self._labels.clear(call_id)

    async def hear_end(self, report: ToolReport) -> None:
        """The agent says that a call is over."""
        if self._reports.was_asked(report.call_id) or await self._reports.excused(report):
            return
        failed = report.status == "failed"
        if failed and self._labels.announces_calls and self._reports.never_announced(report):
            message = (
                f"{self._agent} reported the failure of a call that it never announced, so it refused it by itself"
            )
            await self._say(message, report, False)
            return
        if not (failed and await self._reports.untouched(report)):
            await self.fall(report, "failed" if failed else "unasked")

    async def hear_turn_end(self, *, cut_short: bool) -> None:
        """The turn is over. ``cut_short``: it was stopped or something was refused, so that calls may have been dropped
        before they began."""
        for timer in self._timers.values():
            timer.cancel()
        for report in self._reports.unended():
            began = report.status == "in_progress" or not cut_short
            if not self._reports.was_asked(report.call_id) and began and not await self._reports.excused(report):
                await self.fall(report, "unended")

    async def fall(self, report: ToolReport, deed: Deed) -> None:
        """Say that the agent acted on its own, and lower its label."""
        if report.call_id in self._fallen:
            return
        self._fallen.add(report.call_id)
        if len(self._fallen) > MOST_SAID:
            return
        message = f"{self._agent} {_DEEDS[deed]}: `{title_of(report)}`; from now on it counts as unguarded"
        self._labels.clear(report.call_id)
        self._labels.fall(message)
        await self._say(message, report, True)

    async def _suspect(self, call_id: str) -> None:
        report = self._reports.find(call_id)
        if report is None or report.ended or self._reports.was_asked(call_id) or await self._reports.excused(report):
            return
        if self._reports.was_asked(call_id) or len(self._suspects) >= MOST_SAID:
            return
        self._suspects.add(call_id)
        message = f"{self._agent} seems to run `{title_of(report)}` without having asked"
        self._labels.suspect(call_id, message)
        await self._say(message, report, False)
