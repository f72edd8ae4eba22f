"""How often each rule decided, and when: counted from the rows of a ledger, anew each time it is asked for.

A call counts once for a rule, however often it was asked about, and for every rule that its verdict rests on, not only
the first. A million rows take about a second, inside SQLite, while the event loop goes on. What a person is told of the
figures is the business of ``lsp/rules.py`` and ``commands/rules.py``.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from countersign.settings.policy import RuleText

Rows = Callable[[str, Sequence[object]], Sequence[sqlite3.Row]]
"""A reading statement and its values in, rows out: of an open ledger or of a Reader."""


@dataclass(frozen=True, slots=True)
class RuleUse:
    """How many calls a rule decided, and when it last did (RFC 3339)."""

    hits: int = 0
    last: str | None = None


Uses = Mapping[tuple[str, str | None, int | None], RuleUse]
"""By a rule's text, file and line, as they were when it decided."""


def blocking_uses(rows: Rows, workspace: str | None) -> Uses:
    """What every rule has decided in a workspace, or in all of them.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    return {(row[0], row[1], row[2]): RuleUse(row[3], row[4]) for row in rows(_USES, (workspace, workspace))}


def blocking_calls_by_day(rows: Rows, workspace: str | None) -> Mapping[str, int]:
    """How many calls were decided on each day that had any, oldest day first (``2026-11-20``, in UTC).

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    return {row[0]: row[1] for row in rows(_DAYS, (workspace, workspace))}


def use_of_each(rules: Sequence[RuleText], uses: Uses) -> list[RuleUse]:
    """What each of these rules has decided, in their order.

    A rule that moved in its file is known by its text; where that stands in the file more than once, only what was
    decided from its very line is surely its own.
    """
    written = Counter((rule.text, rule.file) for rule in rules)
    of_text: dict[tuple[str, str | None], RuleUse] = {}
    for (text, file, _), use in uses.items():
        before = of_text.get((text, file), RuleUse())
        of_text[text, file] = RuleUse(before.hits + use.hits, max(before.last or "", use.last or ""))
    return [
        of_text.get((rule.text, rule.file), RuleUse())
        if written[rule.text, rule.file] == 1
        else uses.get((rule.text, rule.file, rule.line), RuleUse())
        for rule in rules
    ]


_USES = """
SELECT one.value ->> 'rule', one.value ->> 'file', one.value ->> 'line', COUNT(DISTINCT receipt_id), MAX(at)
FROM entries, json_each(evidence) AS one
WHERE (workspace = ? OR ? IS NULL) AND phase = 'decided' AND instr(evidence, '"source":"rule"') AND json_valid(evidence)
  AND one.value ->> 'source' = 'rule' AND one.value ->> 'rule' IS NOT NULL
GROUP BY 1, 2, 3
"""
_DAYS = """
SELECT substr(at, 1, 10), COUNT(DISTINCT receipt_id) FROM entries
WHERE (workspace = ? OR ? IS NULL) AND phase = 'decided' GROUP BY 1 ORDER BY 1
"""
