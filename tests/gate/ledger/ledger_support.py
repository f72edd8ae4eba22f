"""Rows to write, and the ledger's files as a crash would leave them."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from countersign.gate.ledger.entry import Entry
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.wire.verdicts import Evidence
from tests.patience import PATIENCE


def entry(number: int = 0, **changes) -> Entry:
    given = {
        "receipt_id": f"receipt-{number}",
        "phase": "decided",
        "workspace": "/projects",
        "owner": "me",
        "thread_id": "thread",
        "agent_name": "Countersign",
        "tool_call_id": f"call-{number}",
        "tool": "shell",
        "digest": "d" * 64,
        "input": {"command": f"touch {number}"},
        "verdict": "allow",
        "by": "user",
        "evidence": (
            Evidence(source="rule", rule="Bash(touch *)", file="settings.json", line=3, reason="you said so"),
        ),
    }
    return Entry(**{**given, **changes})


def write(ledger: Ledger, *changes) -> int:
    """Append outside an event loop."""
    return ledger.put(changes).result(timeout=PATIENCE)


def crash_image(ledger: Ledger, folder: Path) -> Path:
    """The ledger's files as they are now, in another folder: what a kill at this moment would leave."""
    assert ledger.path is not None
    folder.mkdir()
    for file in ledger.path.parent.glob("ledger.*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, folder)
    return folder / LEDGER_FILE


def harm(file: Path, sql: str) -> None:
    """Change the database past the triggers that forbid it."""
    connection = sqlite3.connect(file)
    connection.executescript(f"DROP TRIGGER entries_never_change; DROP TRIGGER entries_never_go; {sql};")
    connection.close()
