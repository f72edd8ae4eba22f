"""Sums over the ledger: calls, how long they waited for a decision and how long their tools took.

By agent, model, day and decision. What models took stands in no row of the ledger: ``agents/usage_store.py``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from countersign.gate.ledger.reader import clauses_of
from countersign.wire.history import CallFigures, CallTimes, HistoryFilter

Rows = Callable[[str, Sequence[object]], list[sqlite3.Row]]


def blocking_call_figures(rows: Rows, wanted: HistoryFilter, workspace: str | None) -> list[CallFigures]:
    """Return the sums of the rows that are wanted, oldest day first (``2026-11-20``, in UTC).

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
        LedgerUnavailable: the ledger cannot be read.
    """
    clauses, values = clauses_of(wanted, workspace)
    where = "".join(f" AND {clause}" for clause in clauses)
    return [
        CallFigures(
            day=row["day"],
            agent_name=row["agent_name"],
            model=row["model"],
            verdict=row["verdict"],
            by=row["decided_by"],
            calls=row["calls"],
            waited_ms=int(row["waited"] or 0),
            tool_ms=int(row["ran"] or 0),
        )
        for row in rows(_SUMS.format(where=where), values)
    ]


def blocking_call_times(rows: Rows, wanted: HistoryFilter, workspace: str | None) -> list[CallTimes]:
    """Return how long the calls that are wanted waited and ran: a count for each of ``BUCKETS`` and one for the rest.

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
        LedgerUnavailable: the ledger cannot be read.
    """
    clauses, values = clauses_of(wanted, workspace)
    where = "".join(f" AND {clause}" for clause in clauses)
    counts = {(row["phase"], row["bucket"]): int(row["calls"]) for row in rows(_BUCKETED.format(where=where), values)}
    return [
        CallTimes(
            up_to_ms=limit,
            waited=counts.get(("decided", index), 0),
            ran=counts.get(("finished", index), 0),
        )
        for index, limit in enumerate((*BUCKETS, None))
    ]


def blocking_active_hours(rows: Rows, wanted: HistoryFilter, workspace: str | None) -> int:
    """Return in how many hours of the clock a call was decided among the rows that are wanted.

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
        LedgerUnavailable: the ledger cannot be read.
    """
    clauses, values = clauses_of(wanted, workspace)
    where = "".join(f" AND {clause}" for clause in clauses)
    (row,) = rows(_HOURS.format(where=where), values)
    return int(row["hours"])


BUCKETS = (1_000, 10_000, 60_000, 600_000)
"""Upper bounds, in milliseconds."""
_HOURS = "SELECT COUNT(DISTINCT substr(at, 1, 13)) AS hours FROM entries WHERE phase = 'decided'{where}"
_BUCKETED = f"""
SELECT phase, CASE {" ".join(f"WHEN ms <= {limit} THEN {index}" for index, limit in enumerate(BUCKETS))}
  ELSE {len(BUCKETS)} END AS bucket, COUNT(*) AS calls
FROM (
  SELECT phase, CASE phase WHEN 'decided' THEN outcome ->> 'waitedMs' ELSE outcome ->> 'durationMs' END AS ms
  FROM entries WHERE phase IN ('decided', 'finished') AND json_valid(outcome){{where}}
) WHERE ms IS NOT NULL GROUP BY 1, 2
"""
_SUMS = """
SELECT substr(at, 1, 10) AS day, agent_name,
  CASE WHEN json_valid(outcome) THEN outcome ->> 'model' END AS model, verdict, decided_by,
  SUM(phase = 'decided') AS calls,
  SUM(CASE WHEN phase = 'decided' AND json_valid(outcome) THEN outcome ->> 'waitedMs' END) AS waited,
  SUM(CASE WHEN phase = 'finished' AND json_valid(outcome) THEN outcome ->> 'durationMs' END) AS ran
FROM entries WHERE phase IN ('decided', 'finished'){where}
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
