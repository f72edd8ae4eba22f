"""How a call ended: what ran, or why nothing did.

``Outcome`` is a tool's own account, ``Ran`` and ``Refused`` are what the gate hands back to whoever submitted the call.
A refusal is a result, not an error: the model reads it and goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from countersign.wire.base import Json
from countersign.wire.threads import CallRefusal, FileDiff
from countersign.wire.verdicts import DecidedBy, RefusalKind

HINTS: dict[RefusalKind, str] = {
    "denied": "do not try the same again; do without it, or ask the person how to go on",
    "planMode": "you are in plan mode: only reading is possible; propose what you would do instead",
    "expired": "nobody answered in time; this is not a denial by the person; go on without it or end the turn",
    "cancelled": "the person closed the request without deciding; go on without it or ask them",
    "limit": "the limit on writes of this turn is reached; sum up and let the person start another turn",
    "mode": "the chat's mode does not allow this; propose it instead",
    "interrupted": "the call was interrupted before it could be decided; it did not run",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A further call that a run leads to; it goes through the gate like any other. ``arguments`` are those of ``tool``;
    ``preface`` begins what the model reads of its result.

    ``wanted``: the model asked for it by the call that ran, so the gate decides it also where nobody could answer a
    card, and without it that call failed. Else it is a suggestion to a person, because the sandbox refused something.
    """

    tool: str
    arguments: Mapping[str, Json]
    preface: str
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that a run read; a model that takes images gets it with the result."""

    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. ``output`` goes to the model (32 KiB at most); ``record`` into the receipt."""

    success: bool
    output: str
    path: str | None = None
    diff: FileDiff | None = None
    record: Mapping[str, Json] = field(default_factory=dict)
    before_image: bytes | None = None
    offers: tuple[Offer, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """The call ran (whether it succeeded is the outcome's to say)."""

    outcome: Outcome
    by: DecidedBy
    receipt_id: str
    duration_ms: int

    @property
    def output(self) -> str:
        return self.outcome.output


@dataclass(frozen=True, slots=True)
class Refused:
    """The call did not run. ``seen`` is what the disk shows in spite of it."""

    kind: RefusalKind
    by: DecidedBy
    reason: str
    receipt_id: str | None
    seen: str | None = None

    @property
    def view(self) -> CallRefusal:
        """What the chat shows."""
        reason = f"{self.reason}; {self.seen}" if self.seen else self.reason
        return CallRefusal(kind=self.kind, reason=reason, hint=HINTS[self.kind])

    @property
    def output(self) -> str:
        """What the model reads: JSON text. Nothing of ours reads it back, since a tool can print the same."""
        view = self.view
        return json.dumps(
            {"refused": view.kind, "by": self.by, "reason": view.reason, "hint": view.hint}, ensure_ascii=False
        )


Settled = Ran | Refused
