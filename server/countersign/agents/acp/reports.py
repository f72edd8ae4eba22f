"""What an agent reported in one turn, call by call: what the chat shows of it, and whether it acted unasked.

A call that the gate saw gets its events from the gate. One that the agent never asked about gets them here, with
``decidedBy: nobody``, because nobody decided it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from countersign.agents.acp.effects import evidence_of, work_out
from countersign.agents.acp.exceeded import CLOCK_TICK
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import BadMessage, Raw, ToolReport
from countersign.agents.limits import MOST_SHOWN, MOST_VALUES
from countersign.gate import Effect, ReadPath, RunCommand, UseTool, WritePath, in_worker
from countersign.tools.clip import MOST_OUTPUT, head
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.shown_input import shown_input
from countersign.wire.threads import ThreadEvent, ToolCallEvent, ToolOutputEvent, ToolResultEvent
from countersign.wire.verdicts import Category, DecidedBy

MOST_TIMES_SHOWN = 50
"""How often one call is shown again before its end, whatever the agent says of it."""
MOST_KEPT = 16 << 20
"""Bytes of inputs and changes of one turn that are kept."""
MOST_STREAMED = 1 << 20
"""Characters of output that calls of one turn put into the chat before their end."""
MOST_CALLS = 10_000
"""Calls of one turn that are kept."""


def new_call_id() -> str:
    """An id of ours for a call; unique per server run."""
    return f"acp_{secrets.token_urlsafe(12)}"


def arguments_of(report: ToolReport) -> dict[str, Json]:
    """The agent's raw input as an object."""
    if isinstance(report.raw_input, dict):
        return dict(report.raw_input)
    return {} if report.raw_input is None else {"rawInput": report.raw_input}


def output_of(report: ToolReport) -> str:
    """What the agent said last of what came out of a call; what it streamed where it said nothing."""
    text = report.streamed or report.text if report.output is None else report.output or report.streamed
    kept = head(text)
    return text if kept == text else f"{kept}\n[cut after {MOST_OUTPUT >> 10} KiB]"


def title_of(report: ToolReport) -> str:
    """Some name for the call, from the agent's words."""
    return as_title(report.title or " ".join(report.names) or report.kind or "a tool call")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a row of the chat shows of a call beside its title."""

    category: Category
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ThroughUs:
    """What the agent did through us: files that it wrote, and commands of the terminals that a call names."""

    written: frozenset[str]
    commands: frozenset[str]

    def did(self, effect: Effect) -> bool:
        """Whether this is what was done."""
        match effect:
            case WritePath():
                return effect.path in self.written
            case RunCommand():
                return effect.command in self.commands
            case _:
                return False


class Reports:
    """The reports of one turn. A class because each call is shown once and ends once.

    They hold ``MOST_KEPT`` bytes of inputs and changes at most: those of calls that have ended go first, and a call
    that finds no room is ``too_large``.
    """

    def __init__(
        self,
        agent: str,
        emit: Callable[[ThreadEvent], None],
        ground: Callable[[], AgentContext],
        quiet: frozenset[str] = frozenset(),
    ) -> None:
        self._agent = agent
        self._quiet = quiet
        self._began = time.time_ns() - CLOCK_TICK
        self._emit = emit
        self._ground = ground
        self._by_id: dict[str, ToolReport] = {}
        self._shown: dict[str, str] = {}
        self._shown_input: set[str] = set()
        self._results: set[str] = set()
        self._heard_results: set[str] = set()
        self._refused: set[str] = set()
        self._closed = False
        self._kept: dict[str, int] = {}
        self._kept_in_all = 0
        self._ended: deque[str] = deque()
        self._times_shown: dict[str, int] = {}
        self._failed_at_once: set[str] = set()
        self._asked: set[str] = set()
        self._asked_as: dict[str, str] = {}
        self._emitted = 0
        self._parents: dict[str, int] = {}
        self.written_through_us: set[str] = set()
        self.terminals_of_ours: dict[str, frozenset[str]] = {}
        self._again: dict[str, str] = {}

    def merge(self, call_id: str, raw: Raw) -> ToolReport:
        """What is known of the call now that the agent has said this as well.

        Raises:
            BadMessage: it has named too many calls in this turn.
        """
        if call_id not in self._by_id and len(self._by_id) >= MOST_CALLS:
            raise BadMessage(f"a turn has at most {MOST_CALLS} tool calls")
        before = self._by_id.get(call_id, ToolReport(call_id))
        report = before.merged(raw)
        if report.raw_input != before.raw_input:
            self._shown_input.discard(call_id)
        if any(key in raw for key in ("rawInput", "content", "locations")):
            report = self._bounded(report)
        if report.ended and not before.ended:
            self._ended.append(call_id)
        if call_id not in self._by_id and report.status == "failed":
            self._failed_at_once.add(call_id)
        self._by_id[call_id] = report
        return report

    def _bounded(self, report: ToolReport) -> ToolReport:
        """Return the report as it is kept: whole where there is room for it, else without its input and changes."""
        if report.too_large:
            self._keep(report.call_id, 0)
            return report.without_input()
        size = report.size
        room = MOST_KEPT - self._kept_in_all + self._kept.get(report.call_id, 0)
        while size.memory > room and self._ended and self._ended[0] != report.call_id:
            ended = self._by_id[self._ended.popleft()]
            self._by_id[ended.call_id] = ended.without_input()
            room += self._keep(ended.call_id, 0)
        if size.memory > room or size.characters > MOST_SHOWN or size.values > MOST_VALUES:
            self._keep(report.call_id, 0)
            return report.without_input()
        self._keep(report.call_id, size.memory)
        return report

    def _keep(self, call_id: str, memory: int) -> int:
        """Note what is kept of a call; return how much less that is than before."""
        less = self._kept.get(call_id, 0) - memory
        self._kept[call_id] = memory
        self._kept_in_all -= less
        return less

    def ask(self, call_id: str) -> str:
        """The id of ours under which the gate shall see this call; asked about twice it is two calls."""
        first = call_id not in self._asked
        self._asked.add(call_id)
        self._asked_as[call_id] = self._shown.get(call_id, new_call_id()) if first else new_call_id()
        return self._asked_as[call_id]

    def current(self, call_id: str) -> str:
        """The id under which reports of this call count: another one where the agent reported a call anew that had
        ended (``reopen``)."""
        return self._again.get(call_id, call_id)

    def is_new(self, call_id: str) -> bool:
        """Whether nothing is known of this call."""
        return self.current(call_id) not in self._by_id

    def find_unasked(self, given: Json) -> str | None:
        """The first call with this input that runs and was not asked about; where it has none, the first whose input
        was too large to be kept."""
        waiting = [each for each in self._by_id.values() if not each.ended and each.call_id not in self._asked]
        same = (each for each in waiting if not each.too_large and each.raw_input == given)
        found = next(same, None) or next((each for each in waiting if each.too_large), None)
        return None if found is None else found.call_id

    def rename(self, told_id: str, call_id: str) -> None:
        """Count what the agent reports under one id as that of a call which is known under another one."""
        self._again[told_id] = call_id

    def says_more(self, call_id: str, raw: Raw) -> ToolReport | None:
        """What the agent says of a call that has ended, by itself, if it says more of what the call does."""
        before = self._by_id.get(call_id)
        if before is None or not before.ended or evidence_of(before.merged(raw)) == evidence_of(before):
            return None
        kept = before.kind, before.names
        return replace(ToolReport(call_id, kind=kept[0], names=kept[1]).merged(raw), text="")

    def reopen(self, call_id: str) -> str:
        """Treat what the agent reports about this call from now on as another call."""
        self._again[call_id] = f"{call_id} {new_call_id()}"
        return self._again[call_id]

    def was_asked(self, call_id: str) -> bool:
        """Whether the agent asked about this call."""
        return call_id in self._asked

    async def hear(self, call_id: str, raw: Raw) -> tuple[ToolReport, bool]:
        """Take what the agent says of a call and show it. Returns the report, and whether the call has just ended.

        Of a call that is heard of after the turn, only its end is shown: nothing may seem to run for ever.
        """
        before = self._by_id.get(call_id)
        report = self.merge(call_id, raw)
        if before is not None and before.ended:
            return report, False
        self._stream(before, report)
        over = call_id in self._results or (self._closed and not report.ended)
        if call_id not in self._asked and not over:
            changed = before is None or _face(before) != _face(report)
            room = self._times_shown.get(call_id, 0) < MOST_TIMES_SHOWN
            if (changed and room) or (report.ended and call_id not in self._shown_input):
                self._times_shown[call_id] = self._times_shown.get(call_id, 0) + 1
                drawn = await in_worker(_blocking_drawn, report, self._ground())
                if self._closed and not report.ended:
                    return report, False  # the turn ended meanwhile
                self._show_call(report, drawn)
            if report.ended:
                self._show_result(report, report.status == "completed", output_of(report))
        return report, report.ended

    def _stream(self, before: ToolReport | None, report: ToolReport) -> None:
        """Show what a running call has put out since it was last heard of."""
        tool_call_id = self._asked_as.get(report.call_id) or self._shown.get(report.call_id)
        if before is None or report.ended or self._closed or tool_call_id is None:
            return
        if tool_call_id in self._heard_results or tool_call_id in self._refused:
            return  # nothing comes out of a call that was denied, whatever the agent says of it
        known, now = (each.streamed or each.output or "" for each in (before, report))
        piece = now[len(known) :] if now.startswith(known) else now
        if piece and self._emitted < MOST_STREAMED:
            self._emitted += len(piece)
            self._emit(ToolOutputEvent(tool_call_id=tool_call_id, text=piece))

    def end(self) -> None:
        """The turn is over: calls that were reported and never ended get a result, so that nothing seems to run."""
        self._closed = True
        for call_id, tool_call_id in self._shown.items():
            if tool_call_id not in self._heard_results:
                why = "the turn ended before the agent said how this ended"
                self._show_result(self._by_id[call_id], False, why)

    def hear_result(self, tool_call_id: str) -> None:
        """The chat has the result of a call, of the gate's or of ours."""
        self._heard_results.add(tool_call_id)

    def refuse(self, tool_call_id: str) -> None:
        """This call is denied before the gate could show it; ``show_refused`` shows that."""
        self._refused.add(tool_call_id)

    def find(self, call_id: str) -> ToolReport | None:
        """What was said of a call so far."""
        return self._by_id.get(call_id)

    @property
    def last_call_id(self) -> str:
        """The agent's id of the call that it reported last, or an empty text."""
        return next(reversed(self._by_id), "")

    def shown_id(self, call_id: str) -> str:
        """The id of ours under which the chat shows a call, or nothing."""
        return self._shown.get(call_id, "")

    def unended(self) -> list[ToolReport]:
        """The calls of which no end was told."""
        return [report for report in self._by_id.values() if not report.ended]

    async def excused(self, report: ToolReport) -> bool:
        """Return true if nobody need be asked about this call: all of its effects are reads inside the workspace, or it
        did all that it did through us, or it is one of the recipe's tools that have no effect of their own."""
        if report.too_large:
            return False
        commands = frozenset[str]()
        if report.terminals and set(report.terminals) <= self.terminals_of_ours.keys():
            commands = frozenset().union(*(self.terminals_of_ours[each] for each in report.terminals))
        quiet = bool(report.names) and set(report.names) <= self._quiet
        through_us = ThroughUs(frozenset(self.written_through_us), commands)
        return await in_worker(_blocking_excused, report, self._ground(), through_us, quiet)

    async def untouched(self, report: ToolReport) -> bool:
        """Return true if all that the call would do is to read and write files, and none of them has changed since the
        turn began: an agent may find by itself that it cannot make a change, before it asks."""
        return not report.too_large and await in_worker(_blocking_untouched, report, self._ground(), self._began)

    def never_announced(self, report: ToolReport) -> bool:
        """Return true if the agent mentioned this call first when it had failed, and never said what the call does."""
        told = (report.title, report.names, report.inputs, report.diffs, report.locations, report.terminals)
        return report.call_id in self._failed_at_once and not report.too_large and not any(told)

    def subagent(self, report: ToolReport) -> str | None:
        """The path of the sub-agent that makes the call, where the agent says so."""
        if report.parent is None:
            return None
        return f"{self._agent}/{self._parents.setdefault(report.parent, len(self._parents) + 1)}"

    async def show_refused(self, report: ToolReport, tool_call_id: str, why: str) -> None:
        """Show a call that was denied before the gate could show it."""
        drawn = await in_worker(_blocking_drawn, report, self._ground())
        self._shown[report.call_id] = tool_call_id
        self._results.discard(report.call_id)
        self._show_call(report, drawn)
        self._show_result(report, False, why, by="floor")

    def _show_call(self, report: ToolReport, drawn: Drawn) -> None:
        self._shown_input.add(report.call_id)
        self._emit(
            ToolCallEvent(
                tool_call_id=self._shown.setdefault(report.call_id, new_call_id()),
                agent_name=self._agent,
                subagent=self.subagent(report),
                tool=f"acp:{report.tool_kind}",
                title=title_of(report),
                kind=report.tool_kind,
                category=drawn.category,
                raw_input=drawn.arguments,
                status="running" if report.status == "in_progress" else "pending",
            )
        )

    def _show_result(self, report: ToolReport, success: bool, output: str, by: DecidedBy = "nobody") -> None:
        if report.call_id in self._results:
            return
        self._results.add(report.call_id)
        self._emit(
            ToolResultEvent(
                tool_call_id=self._shown[report.call_id],
                tool=f"acp:{report.tool_kind}",
                success=success,
                output=output,
                decided_by=by,
                duration_ms=0,
            )
        )


def _blocking_drawn(report: ToolReport, ground: AgentContext) -> Drawn:
    return Drawn(work_out(report, ground).category, shown_input(arguments_of(report)))


def _blocking_excused(report: ToolReport, ground: AgentContext, through_us: ThroughUs, quiet: bool) -> bool:
    if not any((report.inputs, report.diffs, report.locations)):
        return quiet or bool(through_us.commands)
    touch = work_out(report, ground)
    if quiet and not touch.understood and not report.diffs:
        return True
    inside = os.path.realpath(ground.workspace or ground.folder)
    others = [effect for effect in touch.effects if not through_us.did(effect)]
    # For a call that acted through us, only what it would touch counts, not the form of the report.
    unknown = len(others) < len(touch.effects) and not touch.understood
    return (touch.understood or unknown) and all(
        (isinstance(effect, ReadPath) and Path(os.path.realpath(effect.path)).is_relative_to(inside))
        or (unknown and isinstance(effect, UseTool) and effect.server is None)
        for effect in others
    )


def _blocking_untouched(report: ToolReport, ground: AgentContext, began: int) -> bool:
    touch = work_out(report, ground)
    if not touch.understood or not all(isinstance(effect, ReadPath | WritePath) for effect in touch.effects):
        return False
    for effect in touch.effects:
        if isinstance(effect, WritePath):
            try:
                if os.lstat(effect.path).st_ctime_ns >= began:
                    return False
            except (OSError, ValueError):
                continue
    return True


def _face(report: ToolReport) -> tuple[object, ...]:
    """What makes the chat show a call again before its end. Input that only grows does not: some agents stream it."""
    keys = tuple(report.raw_input) if isinstance(report.raw_input, dict) else report.raw_input is None
    return (report.title, report.kind, report.status == "in_progress", keys)
