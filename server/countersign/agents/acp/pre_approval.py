"""Credit: an approval of an agent's request covers one ``fs/*`` or ``terminal/*`` call that is exactly what was shown.

An agent that asks first and then acts through us would otherwise be asked about twice. The credit is for the same path
and the same resulting bytes as the card showed, or the same command line in the same folder; it is spent once. It ends
with the final status of the call that was approved, with a stop, and with the prompt, whichever comes first. What the
card could not show gives no credit, and neither does a request for a call that has ended by the agent's own account.

INVARIANT (same bytes): no credit covers bytes or words that stood on no card.
INVARIANT (narrowing): the gate decides again when a credit is used (``session.py``); what is denied by then is asked
about, and refused, as a call of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from countersign.gate import FileState, Outcome, ReadPath, ToolCall
from countersign.wire.approvals import CommandPreview, DiffPreview
from countersign.wire.verdicts import DecidedBy


@dataclass(frozen=True, slots=True)
class Write:
    """Leave to make ``text`` the content of the file whose state ``before`` and ``old_text`` the card showed."""

    before: FileState
    old_text: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """Leave to read the file at this resolved path."""

    path: str


@dataclass(frozen=True, slots=True)
class Run:
    """Leave to run exactly this text in this folder, with nothing added to the environment."""

    command: str
    cwd: str


Credit = Write | Read | Run


@dataclass(slots=True, eq=False)
class Approved:
    """One approved call, with the one credit that it gives until it is spent or the call ends (then None).

    ``by`` is who allowed it, ``done`` what we did for it.
    """

    call: ToolCall
    by: DecidedBy
    credit: Credit | None
    done: Outcome | None = None


@dataclass(slots=True)
class CreditBook:
    """The credits of one session during one prompt. A class because each is spent once.

    ``closed``: none counts any more, spent ones that were not used yet included. Worker threads read it.
    """

    closed: bool = False
    _open: list[Approved] = field(default_factory=list)

    def open(self, call: ToolCall, by: DecidedBy, *, ended: bool) -> Approved:
        """Enter an approved call with what its card covers; nothing if the agent says that the call has ``ended``."""
        approved = Approved(call, by, None if ended or self.closed else credit_of(call))
        if approved.credit is not None:
            self._open.append(approved)
        return approved

    def close(self) -> None:
        """End every credit, now."""
        self.closed = True
        for approved in self._open:
            approved.credit = None
        self._open.clear()

    def spend_write(self, path: str, text: str) -> tuple[Approved, Write] | None:
        """The approval that covers this very write, spent now; ``path`` is resolved."""
        for approved in self._open:
            credit = approved.credit
            if isinstance(credit, Write) and credit.before.path == path and credit.text == text:
                approved.credit = None
                return approved, credit
        return None

    def spend_read(self, path: str) -> Approved | None:
        """The approval that covers reading this resolved path, spent now."""
        return self._spend(Read(path))

    def spend_run(self, command: str, cwd: str) -> Approved | None:
        """The approval that covers this very command line, spent now."""
        return self._spend(Run(command, cwd))

    def _spend(self, wanted: Credit) -> Approved | None:
        for approved in self._open:
            if approved.credit == wanted:
                approved.credit = None
                return approved
        return None


def credit_of(call: ToolCall) -> Credit | None:
    """What the card of this call showed so exactly that doing it needs no second card."""
    match call.preview:
        case DiffPreview(path=path, old_text=old_text, new_text=text):
            state = next((state for state in call.bound if state.path == path), None)
            return Write(state, old_text, text) if state is not None else None
        case CommandPreview(command=command, cwd=cwd, background=background) if not background:
            return Run(command, cwd)
        case _:
            pass
    files = {os.path.realpath(effect.path) for effect in call.effects if isinstance(effect, ReadPath)}
    only_reads = all(isinstance(effect, ReadPath) and not effect.below for effect in call.effects)
    return Read(files.pop()) if only_reads and len(files) == 1 else None
