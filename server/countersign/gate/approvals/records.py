"""How a call is written down and shown: ledger entries, approval requests, and the events of the chat."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from countersign.gate.approvals.options import offer
from countersign.gate.approvals.stored_requests import Question
from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.decision import Decision
from countersign.gate.ledger.entry import Entry, now
from countersign.gate.receipt import Outcome, Ran, Refused, Settled
from countersign.gate.risk import is_danger
from countersign.settings.policy import Policy
from countersign.wire.approvals import ApprovalRequest, ToolCallView
from countersign.wire.base import Json
from countersign.wire.shown_input import shown_input
from countersign.wire.threads import CallStatus, ToolCallEvent, ToolResultEvent, WeakTracking
from countersign.wire.verdicts import DecidedBy, Mode


def entry_for(
    call: ToolCall,
    decision: Decision,
    receipt_id: str,
    digest: str,
    *,
    workspace: str,
    owner: str,
    model: str | None = None,
) -> Entry:
    """The row that says what was decided of a call; ``digest`` is the call's."""
    return Entry(
        receipt_id=receipt_id,
        phase="decided",
        workspace=workspace,
        owner=owner,
        thread_id=call.thread_id,
        agent_name=call.agent,
        subagent=call.subagent,
        tool_call_id=call.tool_call_id,
        tool=call.tool,
        input=dict(call.arguments),
        digest=digest,
        verdict=decision.verdict,
        by=_asked_by(decision) if decision.verdict == "ask" else decision.by,
        evidence=decision.evidence,
        at=now(),
        model=model,
    )


def _asked_by(decision: Decision) -> DecidedBy:
    """Who made it ask: nobody has answered yet."""
    match decision.evidence[0].source:
        case "rule" | "floor" | "hook" as source:
            return source
        case "plainBash":
            return "floor"
        case _:
            return "mode"


def request_for(
    call: ToolCall,
    decision: Decision,
    policy: Policy,
    digest: str,
    *,
    seconds: float | None,
    allow_offered: bool,
    created_at: str,
    first_asked_at: str | None = None,
    kept: Question | None = None,
    modes: Sequence[Mode] = (),
) -> ApprovalRequest:
    """Draw what a person is shown; ``seconds`` until it expires, None for never. Of a request that was ``kept`` on
    disk only its id and its times stay, as the chain has them; one that a person had put off has no time limit yet.

    INVARIANT (same bytes): preview, effects and ``digest`` are all of this one call.
    """
    expires_at = expiry_in(seconds or None) if kept is None else kept.expires_at
    postponed = kept is not None and kept.stored.postponed
    return ApprovalRequest(
        approval_id=kept.stored.approval_id if kept is not None else secrets.token_urlsafe(24),
        thread_id=call.thread_id,
        agent_name=call.agent,
        subagent=call.subagent,
        tool_call=ToolCallView(
            tool_call_id=call.tool_call_id,
            agent_tool_call_id=call.agent_tool_call_id,
            title=call.title or None,
            kind=call.kind,
            category=call.category,
            tool=call.tool,
            raw_input=dict(call.arguments),
            locations=list(call.locations) or None,
        ),
        preview=call.preview,
        effects=list(decision.effects),
        reason=decision.reason,
        risks=[text for text in decision.risks if is_danger(text)],
        notes=[text for text in decision.risks if not is_danger(text)] or None,
        withheld=list(decision.withheld) or None,
        options=offer(call, decision, allow_offered=allow_offered, trusted=policy.trusted, modes=modes),
        agent_options=list(call.agent_options) if call.agent_options else None,
        digest=digest,
        created_at=created_at,
        first_asked_at=first_asked_at if first_asked_at != created_at else None,
        expires_at=None if postponed else expires_at,
        postponed=postponed or None,
    )


def ran_record(call: ToolCall, runs: str | None) -> dict[str, Json]:
    """What a row says of a command that did not run as it was written: the text that ran, and its SHA-256."""
    if runs is None or all(effect.command == runs for effect in call.effects if isinstance(effect, RunCommand)):
        return {}
    return {"ran": runs, "ranDigest": hashlib.sha256(runs.encode()).hexdigest()}


def expiry_in(seconds: float | None) -> str | None:
    """The moment in so many seconds as the wire has it, None for never."""
    if seconds is None:
        return None
    expires = datetime.now(UTC) + timedelta(seconds=seconds)
    return expires.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def waiting_time(request: ApprovalRequest, seconds: float | None) -> float | None:
    """Return how long a request that waited on disk still waits, ``seconds`` at most; None for ever. One that was put
    off has the whole time once it is taken up."""
    if request.postponed:
        return seconds
    # Only the wall clock has gone on without a server; set back, it must not make the wait longer.
    left = seconds_left(request.expires_at)
    return left if left is None or seconds is None else min(left, seconds)


def seconds_left(expires_at: str | None) -> float | None:
    """Seconds until then, 0 if it is past, None for never."""
    if expires_at is None:
        return None
    return max((datetime.fromisoformat(expires_at) - datetime.now(UTC)).total_seconds(), 0.0)


def call_event(call: ToolCall, status: CallStatus) -> ToolCallEvent:
    """The call as the chat shows it."""
    return ToolCallEvent(
        tool_call_id=call.tool_call_id,
        agent_name=call.agent,
        subagent=call.subagent,
        tool=call.tool,
        title=call.title,
        kind=call.kind,
        category=call.category,
        raw_input=shown_input(call.arguments),
        status=status,
    )


def result_event(call: ToolCall, settled: Settled) -> ToolResultEvent:
    """How the call ended, as the chat shows it."""
    outcome = settled.outcome if isinstance(settled, Ran) else None
    return ToolResultEvent(
        tool_call_id=call.tool_call_id,
        tool=call.tool,
        success=outcome.success if outcome else False,
        output=settled.output,
        refusal=settled.view if isinstance(settled, Refused) else None,
        path=outcome.path if outcome else None,
        diff=outcome.diff if outcome else None,
        decided_by=settled.by,
        receipt_id=settled.receipt_id,
        withheld=_withheld_from(outcome),
        sandbox=_sandbox_from(outcome),
        process_tracking=_tracking_from(outcome),
        duration_ms=settled.duration_ms if isinstance(settled, Ran) else 0,
    )


def _sandbox_from(outcome: Outcome | None) -> Literal["readOnly", "writable"] | None:
    record = outcome.record.get("sandbox") if outcome is not None else None
    match record.get("mode") if isinstance(record, dict) else None:
        case "readOnly" | "writable" as mode:
            return mode
        case _:
            return None


def _tracking_from(outcome: Outcome | None) -> WeakTracking | None:
    match outcome.record.get("processTracking") if outcome is not None else None:
        case "subReaper" | "processGroup" as mechanism:
            return mechanism
        case _:
            return None


def _withheld_from(outcome: Outcome | None) -> list[str] | None:
    names = outcome.record.get("withheld") if outcome is not None else None
    return [str(name) for name in names] if isinstance(names, list) and names else None
