"""What requests to models took: one row each, in the file of the chats. They hold figures only and outlive the chat.

Summed by agent, model and day for ``history/stats`` and ``countersign history --stats``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from countersign.gate import parse_moment
from countersign.settings.database_files import refuse_irregular, uri_to_read
from countersign.wire.history import HistoryFilter, ModelFigures
from countersign.wire.threads import ThreadEvent, UsageEvent

USAGE_SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
  number INTEGER PRIMARY KEY, at TEXT NOT NULL, workspace TEXT NOT NULL, thread_id TEXT NOT NULL,
  agent_name TEXT NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, cost REAL);
"""


def add_usage(db: sqlite3.Connection, thread_id: str, at: str, events: Iterable[ThreadEvent]) -> None:
    """Keep the usage among these events of a chat."""
    db.executemany(
        "INSERT INTO usage (at, workspace, thread_id, agent_name, model, input_tokens, output_tokens, cached_tokens, "
        "cost) SELECT ?, workspace, thread_id, agent_name, ?, ?, ?, ?, ? FROM threads WHERE thread_id = ?",
        [
            (at, event.model, event.input_tokens, event.output_tokens, event.cached_tokens, event.cost, thread_id)
            for event in events
            if isinstance(event, UsageEvent)
        ],
    )


def usage_figures(db: sqlite3.Connection, wanted: HistoryFilter, workspace: str | None) -> list[ModelFigures]:
    """Return the sums by day, agent and model. A filter that names a call or a decision leaves no request of a model.

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
    """
    if any((wanted.tool_call_id, wanted.tool, wanted.verdict, wanted.by, wanted.phase, wanted.text)):
        return []
    given = (
        ("workspace = ?", workspace),
        ("thread_id = ?", wanted.thread_id),
        ("agent_name = ?", wanted.agent_name),
        ("at >= ?", wanted.since and parse_moment(wanted.since)),
        ("at < ?", wanted.until and parse_moment(wanted.until)),
    )
    where = "".join(f" AND {clause}" for clause, value in given if value is not None)
    rows = db.execute(_SUMS.format(where=where), [value for _, value in given if value is not None]).fetchall()
    names = ("day", "agent_name", "model", "requests", "input_tokens", "output_tokens", "cached_tokens", "cost")
    return [ModelFigures(**dict(zip(names, tuple(row), strict=True))) for row in rows]


def blocking_usage(path: Path, wanted: HistoryFilter, workspace: str | None) -> list[ModelFigures]:
    """Read the sums beside a server; none where there is no such file or it holds none.

    Raises:
        ValueError: ``since`` or ``until`` is no moment.
    """
    try:
        refuse_irregular(path)
        with closing(sqlite3.connect(uri_to_read(path), uri=True, timeout=10)) as db:
            return usage_figures(db, wanted, workspace)
    except (sqlite3.Error, OSError):
        return []


_SUMS = """
SELECT substr(at, 1, 10), agent_name, model, COUNT(*), COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0),
  COALESCE(SUM(cached_tokens), 0), SUM(cost)
FROM usage WHERE 1{where} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
