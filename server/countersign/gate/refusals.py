"""How a call that does not run is refused: the kind and the words of each end, and what counts as a write."""

from __future__ import annotations

import logging
from dataclasses import replace

from countersign.gate.approvals.pending import Resolution
from countersign.gate.call import BadArguments, RunCommand, ToolCall, WritePath
from countersign.gate.decision import Decision
from countersign.gate.receipt import Refused
from countersign.gate.turn import Turn
from countersign.wire.errors import CountersignError
from countersign.wire.verdicts import Evidence, RefusalKind

log = logging.getLogger(__name__)


def may_write(call: ToolCall, decision: Decision) -> bool:
    """Whether a call counts against the limit of writes: a change of files, or a command that is not known only to
    read. A command counts once, however many files it writes."""
    if call.category == "write" or any(isinstance(effect, WritePath) for effect in call.effects):
        return True
    if not any(isinstance(effect, RunCommand) for effect in call.effects):
        return False
    findings = [each.finding for each in decision.weighed]
    return not findings or not all(finding.known_read or finding.neutral for finding in findings)


def limit_reached(most: int, receipt_id: str) -> Refused:
    """Refuse a write past the limit of the turn."""
    return Refused("limit", "limit", f"this turn has made its {most} writes", receipt_id)


def only_deny(decision: Decision) -> Decision:
    """Make an allowed call ask: whoever waits for the verdict can only be told no."""
    reason = "this agent offers no way to allow a call once, so it can only be denied"
    evidence = (Evidence(source="floor", reason=reason), *decision.evidence)
    return replace(decision, verdict="ask", by="floor", evidence=evidence, reason=reason, grantable=False)


def refusal_kind(decision: Decision, turn: Turn) -> RefusalKind:
    """Return the kind of refusal that a denying decision is."""
    if decision.by != "mode":
        return "denied"
    return "planMode" if "plan" in turn.modes else "mode"


def refused(resolution: Resolution, turn: Turn, receipt_id: str) -> Refused:
    """Return the refusal for the end of a request that was not allowed."""
    kind, words = _ENDS[resolution.state]
    if resolution.state == "denied" and resolution.by == "mode":
        kind = "planMode" if "plan" in turn.modes else "mode"
    return Refused(kind, resolution.by, resolution.reason or words, receipt_id)


_ENDS: dict[str, tuple[RefusalKind, str]] = {
    "denied": ("denied", "the person denied it"),
    "cancelled": ("cancelled", "the person closed the card"),
    "expired": ("expired", "nobody answered in time"),
    "interrupted": ("interrupted", "it was interrupted before it was decided"),
}


def failure_text(error: Exception, call: ToolCall) -> str:
    """The words in which the model reads of a tool's failure; the traceback stays in the log."""
    if isinstance(error, BadArguments | CountersignError | OSError):
        return str(error)
    log.error("the tool %s failed", call.tool, exc_info=error)
    return f"the tool failed with {type(error).__name__}"
