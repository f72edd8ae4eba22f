"""The loop breaker: ask before a call that had the same result several times in its turn.

A model that repeats itself neither ends nor gets further. So a call that would be allowed asks once it was made three
times with one result; nothing but a person's answer lifts that. What denies still denies.
"""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision
from countersign.gate.decisions.ask_instead import ask_instead
from countersign.wire.verdicts import Mode

MOST_REPEATS = 3
"""Times that a call may have the same result before the next one asks."""


def ask_if_repeated(decision: Decision, call: ToolCall, modes: Sequence[Mode]) -> Decision:
    """Return the decision on a call that repeats: allow becomes ask, or deny in `dontAsk`; no grant covers it."""
    if call.repeated < MOST_REPEATS or decision.verdict == "deny":
        return decision
    reason = f"the same call had the same result {call.repeated} times in this turn, so the agent may be in a loop"
    return ask_instead(decision, reason, modes)
