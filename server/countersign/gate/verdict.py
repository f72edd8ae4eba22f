"""Ordered verdicts and the Decision they add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from countersign.wire.approvals import CommandPart
from countersign.wire.verdicts import DecidedBy, EffectView, Evidence, Verdict

STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The strictest of them; of none, ask, because what nobody spoke for is not understood."""
    ordered: list[Verdict] = sorted(verdicts, key=STRICTNESS.__getitem__)
    return ordered[-1] if ordered else "ask"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says of one call.

    ``by`` is who would be recorded as having decided. ``evidence`` is never empty; its first entry is the one that
    decided. ``grantable`` is False where a floor, an ask rule or a hook made it ask: no grant may cover it.
    ``exact_rule`` says this very call and no other (None where that cannot be said), ``proposals`` are rules for
    "always", narrowest first; both match the call. ``scripts`` are absolute paths of workspace files that a command
    names as program or script: the approval is bound to their content.
    """

    verdict: Verdict
    by: DecidedBy
    evidence: tuple[Evidence, ...]
    effects: tuple[EffectView, ...]
    reason: str
    risks: tuple[str, ...] = ()
    parts: tuple[CommandPart, ...] = ()
    grantable: bool = True
    exact_rule: str | None = None
    proposals: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
