"""Turn an allow into a question that only a person's answer lifts: no grant covers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from countersign.gate.decision import Decision
from countersign.wire.verdicts import Evidence, Mode


def ask_instead(decision: Decision, reason: str, modes: Sequence[Mode], *, on_card: bool = True) -> Decision:
    """Return a decision that asks for this reason; in `dontAsk`, where nobody is asked, one that denies.

    A decision that asks anyway keeps its own reason, behind this one if ``on_card``.
    """
    added = Evidence(source="floor", reason=reason)
    if decision.verdict == "ask":
        said = f"{reason}. It would ask in any case: {decision.reason}" if on_card else decision.reason
        return replace(decision, evidence=(*decision.evidence, added), reason=said, grantable=False)
    denied = "dontAsk" in modes
    return replace(
        decision,
        verdict="deny" if denied else "ask",
        by="floor" if denied else "user",
        evidence=(added, *decision.evidence),
        reason=reason,
        grantable=False,
        exact_text=False,
        runs=None,
        only_reads=False,
    )
