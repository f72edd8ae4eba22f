"""Seeded defects of the gate: each a small patch, with the sentence that it breaks. The machine must find every one.

The list is kept. A new promise of the gate brings a defect with it, so that a machine that has gone blind is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from countersign.agents.acp.session import Session
from countersign.gate import gate
from countersign.gate.approvals import answering, reevaluate
from countersign.gate.approvals.answering import Answering
from countersign.gate.approvals.asking import Asking
from countersign.gate.approvals.grants import GrantBook
from countersign.gate.approvals.pending import Pending, PendingTable
from countersign.gate.approvals.reevaluate import Reevaluator
from countersign.gate.ledger.entry import Entry
from countersign.lsp import recovery, sessions
from countersign.lsp.app import App
from countersign.wire.approvals import ApprovalBatchResult
from countersign.wire.errors import AlreadyResolved, OptionNotOffered, UnknownApproval

from .world import Window

Patch = AbstractContextManager[Any]


@dataclass(frozen=True)
class Defect:
    """``promise`` does not hold while the patch of ``seed`` is on; it is looked for with the actions ``near`` it."""

    promise: str
    seed: Callable[[], Patch]
    near: frozenset[str]


def _near(*actions: str) -> frozenset[str]:
    return frozenset({"request", "approve", "deny", "time-out", "start", *actions})


def _method(owner: type, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[], Patch]:
    return lambda: mock.patch.object(owner, name, make(getattr(owner, name)))


def _unawaited(kind: str) -> Callable[[], Patch]:
    """A ledger that says a row of this kind is written before it is."""

    def make(append: Callable[..., Any]) -> Callable[..., Any]:
        async def hasty(self: Window, *changes: Any) -> int:
            if any(isinstance(change, Entry) and kind in (change.phase, change.verdict) for change in changes):
                self._hold(changes)
                return 0
            return await append(self, *changes)

        return hasty

    return _method(Window, "append", make)


def _always_claims(_claim: Any) -> Any:
    def claim(self: Pending, by: Any) -> bool:
        self.claimed_by = None
        return True

    return claim


def _any_digest(check: Any) -> Any:
    return lambda self, pending, params: check(
        self, pending, params.model_copy(update={"digest": pending.request.digest} if params.digest else {})
    )


def _any_option(check: Any) -> Any:
    def tolerant(self: Answering, pending: Pending, params: Any) -> Any:
        try:
            return check(self, pending, params)
        except OptionNotOffered:
            return pending.request.options[0]

    return tolerant


def _unbound(_live: Any) -> Any:
    return lambda self, *, agent, thread_id, turn_id: tuple(
        replace(grant.as_rule(), agent=None) for grant in self._grants.values()
    )


def _late_counts(answer: Any) -> Any:
    async def generous(self: Answering, params: Any) -> Any:
        try:
            return await answer(self, params)
        except AlreadyResolved:
            return "allowed"

    return generous


def _everybodys() -> Patch:
    tables: list[PendingTable] = []
    register, find = PendingTable.register, PendingTable.find

    def note(self: PendingTable, pending: Pending) -> None:
        tables.append(self)
        register(self, pending)

    def anywhere(self: PendingTable, approval_id: str) -> Pending:
        for table in (self, *tables):
            if any(one.approval_id == approval_id for one in table):
                return find(table, approval_id)
        raise UnknownApproval("no such request")

    return mock.patch.multiple(PendingTable, register=note, find=anywhere)


def _told_twice(tell: Any) -> Any:
    def twice(self: Asking, *given: Any) -> None:
        tell(self, *given)
        tell(self, *given)

    return twice


def _as_denial(insist: Any) -> Any:
    return lambda self, pending, end: insist(
        self, pending, end._replace(state="denied", by="user") if end.by == "timeout" else end
    )


def _never_expires(_expire: Any) -> Any:
    return lambda self, pending: None


def _first_error_ends(_batch: Any) -> Any:
    async def batch(self: App, params: Any) -> Any:
        results = []
        for approval_id in params.approval_ids:
            results.append(await self._one_of_batch(approval_id, params))
            if results[-1].error is not None:
                break
        return ApprovalBatchResult(results=results)

    return batch


def _unjudged_edit(_edited: Any) -> Any:
    async def edited(self: Answering, pending: Pending, text: str | None) -> Any:
        return None if text is None else pending.prepare(answering.json.loads(text))

    return edited


@contextmanager
def _blind() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (gate, answering, reevaluate):
            stack.enter_context(mock.patch.object(module, "blocking_still_true", return_value=True))
        yield


def _nothing(_was: Any) -> Any:
    async def nothing(*_: Any) -> None:
        return None

    return nothing


def _says(value: Any) -> Callable[[Any], Any]:
    return lambda _was: lambda *_: value


@contextmanager
def _careless_start() -> Iterator[None]:
    """Both guards are off: the modes that a turn had are forgotten, and what they allow now is not asked."""
    with (
        mock.patch.object(sessions, "_open_turn", return_value=("", [])),
        mock.patch.object(gate, "still_asked", lambda decision: decision),
    ):
        yield


def _forgets(_park: Any) -> Any:
    return lambda self, pending: self.table.forget(pending)


DEFECTS: Mapping[str, Defect] = {
    "claim not exclusive": Defect(
        "a request is ended by one contender only",
        _method(Pending, "claim", _always_claims),
        _near("duplicate answer"),
    ),
    "digest not compared": Defect(
        "an answer counts for the bytes it was given on",
        _method(Answering, "_check", _any_digest),
        _near("stale digest"),
    ),
    "options not checked": Defect(
        "only what the card offered can be chosen",
        _method(Answering, "_check", _any_option),
        _near("not offered option"),
    ),
    "grant not bound": Defect(
        "a grant is for one agent in one chat",
        _method(GrantBook, "live", _unbound),
        _near("approve and keep"),
    ),
    "expired grant still counts": Defect(
        "fifteen minutes end",
        _method(GrantBook, "_drop_ended", _says(None)),
        _near("approve and keep"),
    ),
    "revoking forgets what is under way": Defect(
        "a grant that is taken back is gone",
        _method(GrantBook, "revoke", _says(True)),
        _near("approve and keep", "revoke"),
    ),
    "late answer accepted": Defect(
        "a late answer is told so",
        _method(Answering, "answer", _late_counts),
        _near("late answer"),
    ),
    "other server's request answered": Defect(
        "only the owner answers",
        _everybodys,
        _near("other window's"),
    ),
    "time-out told as a denial": Defect(
        "a time-out is no denial by the person",
        _method(Asking, "_insist", _as_denial),
        _near(),
    ),
    "time-out never comes": Defect(
        "a request expires in its time",
        _method(Asking, "_expire", _never_expires),
        _near(),
    ),
    "rule change does not look again": Defect(
        "what changes is looked at for open cards",
        _method(Reevaluator, "look", _says(None)),
        _near("rule change", "mode change"),
    ),
    "tightening not looked at before the run": Defect(
        "what tightens meanwhile stops the run",
        lambda: mock.patch.object(gate, "withdrawn", return_value=False),
        _near("tighten meanwhile"),
    ),
    "started not awaited": Defect(
        "nothing runs before its start is durable",
        _unawaited("started"),
        _near(),
    ),
    "shown before it is recorded": Defect(
        "a request is in the ledger before it is shown",
        _unawaited("ask"),
        _near(),
    ),
    "end told twice": Defect(
        "an end is told once",
        _method(Asking, "_tell", _told_twice),
        _near(),
    ),
    "batch ends at the first error": Defect(
        "each of a batch is answered",
        _method(App, "_approval_batch", _first_error_ends),
        _near("batch"),
    ),
    "edit not judged": Defect(
        "an edited command is decided afresh",
        _method(Answering, "_edited", _unjudged_edit),
        _near("edit"),
    ),
    "file change not noticed": Defect(
        "a permit is void when a script it names has changed",
        _blind,
        _near("file change"),
    ),
    "stop leaves the card": Defect(
        "Stop cancels",
        _method(Asking, "_farewell", _nothing),
        _near("stop"),
    ),
    "death leaves the card": Defect(
        "an agent that dies ends its requests",
        _method(Session, "close_open", _nothing),
        _near("agent death"),
    ),
    "crash leaves the card": Defect(
        "what was open at a crash is interrupted",
        lambda: mock.patch.object(recovery, "_end", _nothing(None)),
        _near("crash"),
    ),
    "reload loses the card": Defect(
        "a request outlives a reload",
        _method(Asking, "park", _forgets),
        _near("reload"),
    ),
    "a start runs what waited": Defect(
        "nothing runs by itself when a server starts",
        _careless_start,
        frozenset({"request", "mode change", "reload"}),
    ),
}
