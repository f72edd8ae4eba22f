"""One call on its way through the gate: what stays the same over all its rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from countersign.gate.approvals.stored_requests import Question
from countersign.gate.plan import Plan, Prepare
from countersign.gate.turn import Turn
from countersign.gate.turn_order import Place
from countersign.wire.base import Json


@dataclass(slots=True)
class Submission:
    """A call that was submitted, and the way to work out its plan."""

    receipt_id: str
    prepare: Prepare
    turn: Turn
    place: Place
    allow_offered: bool
    restored: Question | None = None
    edited: Mapping[str, Json] | None = None

    def blocking_plan(self) -> Plan:
        """What would be done now, with the arguments as a person left them."""
        return self.prepare(self.edited)
