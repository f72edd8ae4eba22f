"""The rows of the ledger as values: entries, stored requests, and the hash that chains them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from countersign.wire.base import Json
from countersign.wire.desk import HistoryEntry, Phase
from countersign.wire.verdicts import DecidedBy, Evidence, Verdict

GENESIS = "0" * 64
COLUMNS = (
    "receipt_id", "at", "phase", "workspace", "owner", "thread_id", "agent_name", "subagent", "tool_call_id",
    "approval_id", "tool", "input", "verdict", "decided_by", "evidence", "digest", "outcome",
)  # fmt: skip


def now() -> str:
    """This moment as RFC 3339 in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row to be written. ``input`` and ``outcome`` are already redacted."""

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
    at: str = field(default_factory=now)

    def next(self, phase: Phase, **changes: object) -> Entry:
        """The row that follows this one in the life of the same call."""
        return replace(self, phase=phase, at=now(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """An open (or once open) request. ``request`` is its JSON with the true bytes; None once it is resolved."""

    approval_id: str
    owner: str
    workspace: str
    thread_id: str
    tool_call_id: str
    receipt_id: str
    agent_name: str
    state: str
    parked: bool
    created_at: str
    request: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """A request to be kept, in the same commit as its row."""

    stored: StoredRequest


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a request, in the same commit as its row."""

    approval_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Parked:
    """The request stays open on disk for the next server."""

    approval_id: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """A parked request is taken over by this owner."""

    approval_id: str
    owner: str


Change = Entry | Opened | Closed | Parked | Adopted
"""What one commit may hold."""


def chain_hash(previous: str, seq: int, values: Sequence[object]) -> str:
    """SHA-256 in hex over the row before and every field of this one."""
    text = json.dumps([previous, seq, *values], separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def entry_of(row: sqlite3.Row) -> HistoryEntry:
    """A stored row as it stands on the wire."""
    return HistoryEntry(
        receipt_id=row["receipt_id"],
        seq=row["seq"],
        at=row["at"],
        phase=row["phase"],
        thread_id=row["thread_id"],
        agent_name=row["agent_name"],
        subagent=row["subagent"],
        tool_call_id=row["tool_call_id"],
        approval_id=row["approval_id"],
        tool=row["tool"],
        input=json.loads(row["input"]) if row["input"] else None,
        verdict=row["verdict"],
        by=row["decided_by"],
        evidence=[Evidence.model_validate(item) for item in json.loads(row["evidence"])],
        digest=row["digest"],
        outcome=json.loads(row["outcome"]) if row["outcome"] else None,
    )


def again(row: sqlite3.Row) -> Entry:
    """A stored row as the base of the next one of the same call."""
    shown = entry_of(row)
    return Entry(
        receipt_id=shown.receipt_id,
        phase=shown.phase,
        workspace=row["workspace"],
        owner=row["owner"],
        thread_id=shown.thread_id,
        agent_name=shown.agent_name,
        subagent=shown.subagent,
        tool_call_id=shown.tool_call_id,
        approval_id=shown.approval_id,
        tool=shown.tool,
        input=shown.input,
        verdict=shown.verdict,
        by=shown.by,
        evidence=tuple(shown.evidence),
        digest=shown.digest,
    )


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def values_of(entry: Entry) -> tuple[str | None, ...]:
    """The columns of a row, in the order of COLUMNS; the chain hash is over exactly these."""
    return (
        entry.receipt_id,
        entry.at,
        entry.phase,
        entry.workspace,
        entry.owner,
        entry.thread_id,
        entry.agent_name,
        entry.subagent,
        entry.tool_call_id,
        entry.approval_id,
        entry.tool,
        None if entry.input is None else _dumps(entry.input),
        entry.verdict,
        entry.by,
        _dumps([item.model_dump(mode="json", exclude_none=True) for item in entry.evidence]),
        entry.digest,
        None if entry.outcome is None else _dumps(entry.outcome),
    )
