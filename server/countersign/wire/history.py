"""History: rows of the ledger, queries, exports and undo."""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import Json, WireModel
from countersign.wire.verdicts import DecidedBy, Evidence, Verdict

Phase = Literal["decided", "started", "finished", "noticed"]

LedgerState = Literal["whole", "checking", "broken", "none"]


class LedgerStatus(WireModel):
    """``ledger/status`` and ``ledger/changed``: whether the chain of the ledger holds.

    ``checking``: the whole chain is walked in the background, and calls run. ``broken``: only reads that need no card
    run until a person begins a new chain (``ledger/newChain``). ``none``: the ledger is gone, and nothing runs.
    """

    state: LedgerState
    rows: int
    head: str
    broken_at: int | None = None
    reason: str | None = None


class LedgerHead(WireModel):
    """``ledger/head``: where the chain ends, for the client to keep outside the storage folder and to hand over as
    ``ledgerAnchor`` at the next ``initialize``. ``chainId`` names the chain: a new one has another id."""

    chain_id: str
    seq: int
    hash: str


class LedgerNewChainParams(WireModel):
    """``ledger/newChain``: leave a broken chain behind; ``reason`` is the person's, and stands in the new chain."""

    reason: str


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


class HistoryStatsParams(WireModel):
    """``history/stats``: over which rows to sum; all of this workspace without a filter."""

    filter: HistoryFilter | None = None


class CallFigures(WireModel):
    """Calls of one agent on one day (in UTC) with one decision, wanted by one model; ``waitedMs`` is how long a person
    was waited for. ``model`` is the entry of the settings; a hosted agent's is not known."""

    day: str
    agent_name: str
    model: str | None = None
    verdict: Verdict | None = None
    by: DecidedBy | None = None
    calls: int
    waited_ms: int
    tool_ms: int


class ModelFigures(WireModel):
    """Requests of one agent to one model on one day. ``cost`` is in US dollars, of the requests whose price is known.
    ``model`` is the entry of the settings; a hosted agent's is not known."""

    day: str
    agent_name: str
    model: str | None = None
    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None = None


class CallTimes(WireModel):
    """How many calls took up to ``upToMs`` and more than the bucket before; the last bucket has no bound. ``waited``
    counts the calls that a person was asked about by how long they waited, ``ran`` all calls by how long they ran."""

    up_to_ms: int | None = None
    waited: int
    ran: int


class HistoryStatsResult(WireModel):
    """``models`` follow the filter's chat, agent and time; where it names anything else there are none.
    ``activeHours`` are the hours (of the clock, in UTC) in which a call was decided."""

    calls: list[CallFigures]
    models: list[ModelFigures]
    times: list[CallTimes]
    active_hours: int


class HistoryUndoParams(WireModel):
    receipt_id: str


class HistoryUndoResult(WireModel):
    path: str
