"""What a call comes to that has already had the same result several times in its turn: the loop breaker.

A model that repeats itself neither ends nor gets further. So a call that would be allowed asks once it was made three
times with one result; nothing but a person's answer lifts that. What denies still denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision
from countersign.wire.verdicts import Evidence, Mode

MOST_REPEATS = 3
"""Times that a call may have the same result before the next one asks."""


def ask_if_repeated(decision: Decision, call: ToolCall, modes: Sequence[Mode]) -> Decision:
    """Return the decision on a call that repeats: allow becomes ask, or deny in `dontAsk`; no grant covers it."""
    if call.repeated < MOST_REPEATS or decision.verdict == "deny":
        return decision
    reason = f"the same call had the same result {call.repeated} times in this turn, so the agent may be in a loop"
    said = Evidence(source="floor", reason=reason)
    if decision.verdict == "ask":
        told = f"{reason}. It would ask in any case: {decision.reason}"
        return replace(decision, evidence=(*decision.evidence, said), reason=told, grantable=False)
    denied = "dontAsk" in modes
    return replace(
        decision,
        verdict="deny" if denied else "ask",
        by="floor" if denied else "user",
        evidence=(said, *decision.evidence),
        reason=reason,
        grantable=False,
        exact_text=False,
        runs=None,
        only_reads=False,
    )
