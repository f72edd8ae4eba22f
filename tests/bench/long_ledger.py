"""Ledgers of any length, made quickly: the same rows, hashes and tables as by appending, without a commit for each.

Rows stand in lives of calls as they come about: asked, decided by a person, started, finished; or allowed by a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from countersign.gate.ledger import schema
from countersign.gate.ledger.entry import Entry, values_of
from countersign.gate.ledger.hash_chain import BEGINNING, Head, chain_hash
from countersign.gate.ledger.head_file import HeadFile
from countersign.gate.ledger.startup import blocking_connect, blocking_prepare
from countersign.wire.verdicts import Evidence

WORKSPACES = ("/srv/app", "/srv/site", "/srv/tool")
_RULE = Evidence(source="rule", rule="Bash(npm run test *)", file="/home/me/settings.json", line=12,
                 reason="an allow rule matches `npm run test -- --watch`")  # fmt: skip
_ASKED = Evidence(source="default", reason="no rule matches `npm run test -- --watch`")
_PERSON = Evidence(source="default", reason="a person answered")


def blocking_make(ledger: Path, rows: int) -> Head:
    """Make a ledger of ``rows`` rows that verifies; its last call may be unfinished. A million take about a minute."""
    connection = blocking_connect(ledger)
    head_file = blocking_prepare(connection, ledger).head
    assert isinstance(head_file, HeadFile)
    head = BEGINNING
    connection.execute("BEGIN IMMEDIATE")
    lives = islice(_lives(), rows)
    while entries := list(islice(lives, 1000)):
        written = []
        for entry in entries:
            values = values_of(entry, frozenset())
            digest = chain_hash(head.hash, head.rows + 1, values)
            written.append((head.rows + 1, *values, head.hash, digest))
            head = Head(head.rows + 1, digest)
        schema.insert(connection, written)
    connection.execute("COMMIT")
    connection.close()
    head_file.blocking_note(head)
    head_file.close()
    return head


def some_decision(number: int) -> Entry:
    """The first row of a call: one of three is allowed by a rule, the others ask."""
    return Entry(
        receipt_id=f"{number * 2654435761 % 2**40:012x}", phase="decided", owner="bench",
        workspace=WORKSPACES[number % 97 % 3], thread_id=f"thread-{number // 40}", agent_name="Countersign",
        tool_call_id=f"call-{number}", tool="shell", digest=f"sha256:{number:064x}",
        input={"command": f"npm run test -- --watch case-{number}", "timeout": 120}, at=_at(number),
        verdict="ask" if number % 3 else "allow", by="mode" if number % 3 else "rule",
        evidence=(_ASKED if number % 3 else _RULE,), approval_id=f"approval-{number}" if number % 3 else None,
    )  # fmt: skip


def _lives() -> Iterator[Entry]:
    for number in count(1):
        first = some_decision(number)
        yield first
        if number % 3:
            yield first.next("decided", verdict="allow", by="user", evidence=(_PERSON,), outcome={"state": "allowed"})
        started = first.next("started", verdict="allow", by="user" if number % 3 else "rule")
        yield started
        yield started.next("finished", outcome={"ended": "done", "durationMs": 12, "exitCode": 0, "bytes": 2048})


def _at(number: int) -> str:
    minutes, second = divmod(number, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2026-{1 + days // 28 % 12:02}-{1 + days % 28:02}T{hour:02}:{minute:02}:{second:02}.000000Z"
