"""One call on its way through the gate: what stays the same over all its rounds, and how much such calls hold."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from countersign.gate.approvals.records import call_event
from countersign.gate.approvals.stored_requests import Question
from countersign.gate.call import BadArguments, ToolCall
from countersign.gate.plan import Plan, Prepare
from countersign.gate.turn import Turn
from countersign.gate.turn_order import Place
from countersign.gate.workers import count_on_loop
from countersign.wire.approvals import DiffPreview
from countersign.wire.base import Json
from countersign.wire.sizes import size_of, text_memory

MOST_HELD = 16 << 20
"""Bytes of text that the calls of one agent hold while they wait or run; one call alone may hold more. Where more than
``SHARES`` agents hold any, each may hold less."""
SHARES = 3


SECONDS_OF_A_BYTE = 3e-8
"""What the event loop takes to record, send and show a call, for each byte of its text."""


class Room:
    """How much the calls under way hold, by agent. A class because worker threads take room, and the event loop gives
    it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}

    def take(self, submission: Submission, memory: int) -> None:
        """Count what a call holds from now on.

        Raises:
            BadArguments: the calls of its agent hold too much.
        """
        with self._lock:
            agent = submission.turn.agent
            others = self._held.get(agent, 0) - submission.held
            holders = sum(1 for held in self._held.values() if held)
            most = min(MOST_HELD, SHARES * MOST_HELD // max(1, holders))
            if submission.over or (others and others + memory > most):
                limit = f"the open calls of {agent} hold more than {most >> 20} MiB"
                raise BadArguments(f"{limit}; ask again once some of them have ended")
            self._held[agent], submission.held = others + memory, memory

    def give_back(self, submission: Submission) -> None:
        """Count the call no more; it has ended."""
        with self._lock:
            self._held[submission.turn.agent] = self._held.get(submission.turn.agent, 0) - submission.held
            submission.over, submission.held = True, 0


@dataclass(slots=True)
class Submission:
    """A call that was submitted, and the way to work out its plan. The digests are of the call as it was decided last:
    of a long one they are worked out where it is decided, in a worker thread."""

    receipt_id: str
    prepare: Prepare
    turn: Turn
    place: Place
    room: Room
    allow_offered: bool
    restored: Question | None = None
    edited: Mapping[str, Json] | None = None
    first_asked_at: str | None = None
    announced: bool = False
    held: int = 0
    over: bool = False
    digest: str = ""
    arguments_digest: str = ""

    def blocking_plan(self) -> Plan:
        """What would be done now, with the arguments as a person left them.

        Raises:
            BadArguments: it cannot be done, or the agent has too much under way.
        """
        try:
            plan = self.prepare(self.edited)
            memory = memory_of(plan.call)
            self.room.take(self, memory)
            count_on_loop(memory * SECONDS_OF_A_BYTE)
        except BadArguments as error:
            # Whoever waits for the answer keeps the error, and its traceback would keep the files that were read.
            plan = None
            raise error.with_traceback(None)  # noqa: B904 the same error
        return plan

    def announce(self, call: ToolCall) -> None:
        """Show the call in the chat, as it is in this round."""
        self.announced = True
        self.turn.emit(call_event(call, "pending"))

    def announce_once(self, call: ToolCall) -> None:
        """Show the call in the chat if it has not been shown: its result is about to be."""
        if not self.announced:
            self.announce(call)


def memory_of(call: ToolCall) -> int:
    """Return the bytes of text that a call holds."""
    shown = 0
    if isinstance(call.preview, DiffPreview):
        shown = text_memory(call.preview.old_text or "") + text_memory(call.preview.new_text)
    return shown + size_of(dict(call.arguments)).memory
