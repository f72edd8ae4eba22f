"""History: rows of the ledger, queries, exports and undo."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import Json, WireModel
from countersign.wire.verdicts import DecidedBy, Evidence, Verdict

Phase = Literal["decided", "started", "finished"]


class HistoryFilter(WireModel):
    """Rows that fit all that is given; ``since`` (inclusive) and ``until`` (exclusive) are RFC 3339 with a zone."""

    thread_id: str | None = None
    agent_name: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    phase: Phase | None = None
    text: str | None = None
    since: str | None = None
    until: str | None = None


class HistoryQueryParams(WireModel):
    filter: HistoryFilter | None = None
    cursor: str | None = None
    limit: int | None = None


class HistoryEntry(WireModel):
    """One row of the ledger. ``at`` is RFC 3339 in UTC; ``input`` is redacted, ``digest`` is of the true bytes."""

    receipt_id: str
    seq: int
    at: str
    phase: Phase
    thread_id: str
    agent_name: str
    subagent: str | None = None
    tool_call_id: str
    approval_id: str | None = None
    tool: str
    input: Json = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    evidence: list[Evidence] = []
    digest: str
    outcome: dict[str, Json] | None = None


class HistoryQueryResult(WireModel):
    entries: list[HistoryEntry]
    cursor: str | None = None


class HistoryExportResult(WireModel):
    path: str
    entries: int
    head: str


class HistoryUndoParams(WireModel):
    receipt_id: str


class HistoryUndoResult(WireModel):
    path: str
