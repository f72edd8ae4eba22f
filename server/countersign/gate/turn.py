"""Who submits a call to the gate: a turn of a chat, or a sub-agent within it.

A turn holds the modes that count for it. A mode that loosens is never added to a running turn, one that tightens is
added at once; the strictest cell of all of them stands. Only the answer to a card that offers a mode replaces them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from countersign.gate.turn_order import Line
from countersign.gate.workers import Workers
from countersign.wire.threads import ThreadEvent
from countersign.wire.verdicts import Mode


@dataclass(slots=True)
class Written:
    """How many writes were permitted to a turn and to the calls that its runs led to: one count for all of them."""

    count: int = 0


@dataclass(slots=True)
class Turn:
    """One prompt and all that follows it.

    ``emit`` puts an event into the chat. ``resumable``: an open request of this turn may wait on disk for the next
    server (the built-in agent's can). ``editable``: a person may change the input on the card. ``written`` counts the
    permitted writes; ``line`` keeps its calls in order. ``workers`` are the threads of the agent, in which its
    calls are prepared and decided. ``keep_mode`` makes a mode that a person chose on a card the chat's own. ``model``
    is the entry of the settings that its calls are recorded under; a hosted agent's is not known.
    """

    thread_id: str
    turn_id: str
    agent: str
    modes: list[Mode]
    emit: Callable[[ThreadEvent], None]
    subagent: str | None = None
    resumable: bool = True
    editable: bool = True
    written: Written = field(default_factory=Written)
    line: Line = field(default_factory=Line)
    workers: Workers | None = None
    notes: list[str] = field(default_factory=list)
    keep_mode: Callable[[Mode], None] | None = None
    model: str | None = None

    def tighten(self, mode: Mode) -> None:
        """Let this mode count too, from now on, in every cell where it is stricter."""
        if mode not in self.modes:
            self.modes.append(mode)

    def choose_mode(self, mode: Mode) -> None:
        """Replace the modes of this turn and of its chat by the one that a person chose on a card."""
        self.modes[:] = [mode]  # in place: a turn of offered calls shares them, and what tightens one tightens both
        if self.keep_mode is not None:
            self.keep_mode(mode)
