"""The rows of the ledger as values: entries and stored requests, and how they stand in columns and on the wire.

INVARIANT (redacted): ``values_of`` is the only way from an entry to its columns, and it leaves no known secret in them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from countersign.gate.ledger.hash_chain import dumps
from countersign.gate.ledger.redact import redact
from countersign.wire.base import Json
from countersign.wire.history import HistoryEntry, Phase
from countersign.wire.verdicts import DecidedBy, Evidence, Verdict


def now() -> str:
    """This moment as RFC 3339 in UTC, to the microsecond."""
    second, part = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_second(second)}.{part:06}Z"


@lru_cache(maxsize=4)
def _second(second: int) -> str:
    """A second since 1970 as text: the same for all rows of a burst, and dear to make."""
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def parse_moment(text: str) -> str:
    """A moment in RFC 3339 as rows have it: as text in the same order as in time.

    Raises:
        ValueError: it is not a moment, does not say its zone, or lies outside the years 1 to 9999.
    """
    then = datetime.fromisoformat(text)
    if then.tzinfo is None:
        raise ValueError(f"`{text}` needs its zone, such as `Z`")
    try:
        return _moment(then)
    except OverflowError:
        raise ValueError(f"`{text}` lies outside the years 1 to 9999") from None


def _moment(then: datetime) -> str:
    return then.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Entry(NamedTuple):
    """One row to be written. Nothing in it need be redacted: that happens on the way into the columns. ``at`` is when
    it came about; empty, that is when it is written. ``model`` is the entry of the settings whose model wanted the
    call, stored as ``outcome.model``."""

    receipt_id: str
    phase: Phase
    workspace: str
    owner: str
    thread_id: str
    agent_name: str
    tool_call_id: str
    tool: str
    digest: str
    subagent: str | None = None
    approval_id: str | None = None
    input: Json = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    evidence: tuple[Evidence, ...] = ()
    outcome: dict[str, Json] | None = None
    at: str = ""
    model: str | None = None

    def next(self, phase: Phase, **changes: object) -> Entry:
        """The row that follows this one in the life of the same call. The end of a question says how long it stood
        open, in ``outcome.waitedMs``: over a restart too, so by the clock on the wall."""
        then = now()
        if self.verdict == "ask" and phase == "decided" and isinstance(outcome := changes.get("outcome"), dict):
            waited = datetime.fromisoformat(then) - datetime.fromisoformat(self.at or then)
            changes["outcome"] = {**outcome, "waitedMs": max(int(waited.total_seconds() * 1000), 0)}
        return self._replace(phase=phase, at=then, **changes)  # pyright: ignore[reportArgumentType]


POSTPONED = 2


class StoredRequest(NamedTuple):
    """An open (or once open) request. ``request`` is its JSON with the true bytes; None once it is resolved."""

    approval_id: str
    owner: str
    workspace: str
    thread_id: str
    tool_call_id: str
    receipt_id: str
    agent_name: str
    state: str
    parked: int
    """0: held by a running server; 1: left on disk for the next one; 2: left there while a person had put it off."""
    created_at: str
    request: str | None

    @property
    def postponed(self) -> bool:
        """Whether a person had put it off when its server ended."""
        return self.parked == POSTPONED


class Opened(NamedTuple):
    """A request to be kept, in the same commit as its row."""

    stored: StoredRequest


class Closed(NamedTuple):
    """The end of a request, in the same commit as its row."""

    approval_id: str
    state: str


class Parked(NamedTuple):
    """The request stays open on disk for the next server; ``parked`` is 1, or 2 if a person had put it off."""

    approval_id: str
    parked: int


class Adopted(NamedTuple):
    """A parked request is taken over by this owner."""

    approval_id: str
    owner: str


RequestChange = Opened | Closed | Parked | Adopted
Change = Entry | RequestChange
"""What one commit may hold."""


def entry_of(row: sqlite3.Row) -> HistoryEntry:
    """A stored row as it stands on the wire."""
    return HistoryEntry.model_validate(shown(row))


def shown(row: sqlite3.Row) -> dict[str, Any]:
    """A stored row as JSON of the wire; no model, so that a million of them can be walked."""
    return {name: _AS_JSON.get(name, str)(row[column]) for name, column in _SHOWN if row[column] is not None}


_SHOWN = (
    ("receiptId", "receipt_id"), ("seq", "seq"), ("at", "at"), ("phase", "phase"), ("threadId", "thread_id"),
    ("agentName", "agent_name"), ("subagent", "subagent"), ("toolCallId", "tool_call_id"),
    ("approvalId", "approval_id"), ("tool", "tool"), ("input", "input"), ("verdict", "verdict"), ("by", "decided_by"),
    ("evidence", "evidence"), ("digest", "digest"), ("outcome", "outcome"),
)  # fmt: skip
_AS_JSON: dict[str, Any] = {"seq": int, "input": json.loads, "evidence": json.loads, "outcome": json.loads}


def again(row: sqlite3.Row) -> Entry:
    """A stored row as the base of the next one of the same call."""
    told = entry_of(row)
    model = (told.outcome or {}).get("model")
    return Entry(
        at=told.at,
        model=model if isinstance(model, str) else None,
        receipt_id=told.receipt_id,
        phase=told.phase,
        workspace=row["workspace"],
        owner=row["owner"],
        thread_id=told.thread_id,
        agent_name=told.agent_name,
        subagent=told.subagent,
        tool_call_id=told.tool_call_id,
        approval_id=told.approval_id,
        tool=told.tool,
        input=told.input,
        verdict=told.verdict,
        by=told.by,
        evidence=tuple(told.evidence),
        digest=told.digest,
        outcome=told.outcome,
    )


def values_of(entry: Entry, hidden: frozenset[str]) -> tuple[str | None, ...]:
    """The columns of a row, in the order of COLUMNS; the chain hash is over exactly these.

    ``hidden`` are values that must not be written down; known forms of tokens go in any case.
    """
    outcome = entry.outcome if entry.model is None else {**(entry.outcome or {}), "model": entry.model}
    return (
        entry.receipt_id,
        entry.at or now(),
        entry.phase,
        entry.workspace,
        entry.owner,
        entry.thread_id,
        entry.agent_name,
        entry.subagent,
        entry.tool_call_id,
        entry.approval_id,
        entry.tool,
        _stored(entry.input, hidden),
        entry.verdict,
        entry.by,
        _evidence(entry.evidence, hidden),
        entry.digest,
        _stored(outcome, hidden),
    )


@lru_cache(maxsize=200)
def _evidence(evidence: tuple[Evidence, ...], hidden: frozenset[str]) -> str:
    """Evidence as its column has it. The rows of a call, and of a burst, say mostly the same again."""
    said: list[Json] = [item.model_dump(mode="json", exclude_none=True) for item in evidence]
    return dumps(redact(said, hidden))


def _stored(value: Json, hidden: frozenset[str]) -> str | None:
    return None if value is None else dumps(redact(value, hidden))
