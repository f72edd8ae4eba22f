"""A ``session/request_permission`` as a call at the gate: what the gate judges, and what running it means here.

The agent acts by itself once it is told yes. So ``run`` is: tell it yes, wait for what it says of the end, and look at
the file that was to be changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from countersign.agents.acp.effects import show, work_out
from countersign.agents.acp.exceeded import Asked
from countersign.agents.acp.hints import LONGEST_COMMAND
from countersign.agents.acp.options import Answer
from countersign.agents.acp.pre_approval import Approved
from countersign.agents.acp.proposed_plan import OWN_PERMISSIONS, PlanAsksForPermissions, asks_for_permissions
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.reports import arguments_of, output_of
from countersign.agents.acp.translate import ToolReport
from countersign.gate import (
    BadArguments,
    Outcome,
    Permit,
    Plan,
    Prepare,
    RunCommand,
    Settled,
    Stale,
    ToolCall,
    Turn,
    in_worker,
)
from countersign.tools.files.change import MOST_BYTES
from countersign.tools.files.diff_preview import outcome_of_change
from countersign.tools.files.safe_open import look_at
from countersign.tools.places import Place
from countersign.tools.visible import as_title
from countersign.wire.approvals import AgentOption, DiffPreview
from countersign.wire.base import Json

TOO_MUCH = "the call holds more texts that could be commands than can be judged; split it into smaller ones"
TOO_LONG = f"a command longer than {LONGEST_COMMAND >> 10} KiB cannot be run; put it into a file"


@dataclass(slots=True, eq=False)
class Entry:
    """One call of an agent on its way through the gate. ``acting``: it was permitted and runs. ``withdrawn``: its card
    was taken away, and the call is about to end as the card did. ``drawn`` is the call as the gate has it."""

    tool_call_id: str
    task: asyncio.Task[Settled] | None = None
    acting: bool = False
    withdrawn: bool = False
    drawn: ToolCall | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Request(Entry):
    """A request for leave: ``answer`` goes to the agent, ``final`` is what it says became of the call, or None.
    ``tell`` takes the reason of a refusal to the agent; None where its answer has no place for one."""

    report: ToolReport
    options: tuple[AgentOption, ...]
    subagent: str | None
    answer: asyncio.Future[Answer]
    final: asyncio.Future[ToolReport | None]
    approved: Approved | None = None
    at: int = field(default_factory=time.time_ns)
    tell: Callable[[str], None] | None = None

    @property
    def asked(self) -> Asked:
        """What was asked for."""
        return Asked(self.report, () if self.drawn is None else self.drawn.effects, self.at)

    def reply(self, answer: Answer) -> None:
        """Answer the agent, unless it was answered."""
        if not self.answer.done():
            self.answer.set_result(answer)

    def end(self, report: ToolReport | None) -> None:
        """Say what became of the call, unless it is known. Its credit ends at this very moment."""
        if self.approved is not None:
            self.approved.credit = None
        if not self.final.done():
            self.final.set_result(report)


Act = Callable[[Permit, Request], Awaitable[Outcome]]


def prepare_request(request: Request, turn: Turn, agent: str, stand: Callable[[], AgentContext], act: Act) -> Prepare:
    """How the gate learns what this request would do. The agent's input cannot be edited: ACP has no way to say so.

    ``stand`` says where the agent stands now. INVARIANT (same bytes): what the call would touch is worked out again
    when it is let through; if a link or a shell leads elsewhere by then, it is judged anew.
    """
    report = request.report

    async def run(permit: Permit) -> Outcome:
        if (await in_worker(work_out, report, stand())).effects != permit.call.effects:
            raise Stale("what the call would touch has changed")
        return await act(permit, request)

    def prepare(edited: Mapping[str, Json] | None) -> Plan:
        if edited is not None:
            raise BadArguments("the input of this agent's request cannot be edited")
        ground = stand()
        touch = work_out(report, ground)
        if any(isinstance(effect, RunCommand) and len(effect.command) > LONGEST_COMMAND for effect in touch.effects):
            raise BadArguments(TOO_LONG)
        if touch.too_much:
            raise BadArguments(TOO_MUCH)
        if touch.plan is not None and asks_for_permissions(report):
            raise PlanAsksForPermissions(OWN_PERMISSIONS)
        preview, bound = show(touch, report, ground)
        call = ToolCall(
            tool_call_id=request.tool_call_id,
            thread_id=turn.thread_id,
            turn_id=turn.turn_id,
            agent=agent,
            tool="acp:plan" if touch.plan is not None else f"acp:{report.tool_kind}",
            arguments=arguments_of(report),
            kind=report.tool_kind,
            category=touch.category,
            effects=touch.effects,
            preview=preview,
            cwd=ground.folder,
            title=as_title(report.title),
            subagent=request.subagent,
            agent_tool_call_id=report.call_id,
            agent_options=request.options,
            locations=report.locations,
            bound=bound,
        )
        request.drawn = call
        return Plan(call, run, look_after)

    async def look_after() -> str | None:
        return await look_after_refusal(request.drawn)

    return prepare


ALREADY_WRITTEN = "the agent has already written it"


async def look_after_refusal(call: ToolCall | None) -> str | None:
    """Say that a change which was refused is on disk all the same: the file was another when the card was drawn, and
    holds exactly the refused text now."""
    if call is None or not isinstance(call.preview, DiffPreview):
        return None
    return ALREADY_WRITTEN if await in_worker(_blocking_is_written, call, call.preview) else None


def _blocking_is_written(call: ToolCall, shown: DiffPreview) -> bool:
    before = next((state.sha256 for state in call.bound if state.path == shown.path), None)
    try:
        seen = look_at(shown.path, MOST_BYTES)
    except (OSError, Stale):
        return False
    return seen.data is not None and seen.sha256 != before and seen.data == shown.new_text.encode(errors="replace")


async def outcome_of(call: ToolCall, report: ToolReport | None, done: Outcome | None) -> Outcome:
    """How an approved call ended: the agent's words, and what the disk says. ``done`` is what we did for it."""
    success = report is not None and report.status == "completed"
    said = output_of(report) if report is not None else "the agent did not say how this ended"
    if done is None and isinstance(call.preview, DiffPreview):
        done = await in_worker(_blocking_look_after, call, call.preview)
    if done is None:
        return Outcome(success, said)
    return replace(done, success=success, output=said)


def _blocking_look_after(call: ToolCall, shown: DiffPreview) -> Outcome | None:
    """What the agent made of the file, for the diff in the chat and for undo; None where it is as it was."""
    place = Place(shown.path, shown.path, shown.path)
    before = next((state.sha256 for state in call.bound if state.path == shown.path), None)
    try:
        seen = look_at(place.resolved, MOST_BYTES)
        new = seen.data.decode() if seen.data is not None else None
    except (OSError, Stale, UnicodeDecodeError):
        return None
    if new is None or seen.sha256 == before:
        return None
    return outcome_of_change(
        place,
        "create" if before is None else "edit",
        shown.old_text,
        new,
        before=shown.old_text.encode() if shown.old_text is not None else None,
        after=seen.data,
        before_sha256=before,
    )
