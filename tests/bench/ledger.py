"""What the ledger costs: a durable decision, and opening and verifying a million rows.

A decision is one row, chained, through the writer's thread, awaited on an event loop; beside it, in turns and on the
same disk, the same number of bytes appended to a file as a line and synced.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.burst import disk_folder
from tests.bench.long_ledger import WORKSPACES, blocking_make, some_decision

from countersign.gate.ledger.entry import values_of
from countersign.gate.ledger.hash_chain import dumps
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.wire.history import HistoryFilter

DECISIONS, ROWS = 1500, 1_000_000

LIMITS = {
    "ledger: a durable decision to an fsynced line": 2.5,
    "ledger: seconds to open a million rows": 1.0,
    "ledger: seconds to verify a million rows": 20.0,
}


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=disk_folder()) as folder:
        decision, line = asyncio.run(_decisions(Path(folder)))
    with tempfile.TemporaryDirectory(dir=disk_folder()) as folder:
        blocking_make(Path(folder) / LEDGER_FILE, ROWS)
        return {
            "ledger: a durable decision to an fsynced line": decision / line,
            "ledger: microseconds, a durable decision": decision * 1e6,
            "ledger: microseconds, an fsynced line": line * 1e6,
            **_long(Path(folder) / LEDGER_FILE),
        }


async def _decisions(folder: Path) -> tuple[float, float]:
    """Median seconds of a decision and of a line."""
    ledger = Ledger(folder / LEDGER_FILE)
    file = os.open(folder / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    decisions: list[float] = []
    lines: list[float] = []
    for number in range(DECISIONS):
        entry = some_decision(number)
        began = time.perf_counter()
        await ledger.append(entry)
        decisions.append(time.perf_counter() - began)
        line = dumps(values_of(entry, frozenset())).encode() + b"\n"
        began = time.perf_counter()
        os.write(file, line)
        os.fsync(file)
        lines.append(time.perf_counter() - began)
    os.close(file)
    ledger.close()
    return statistics.median(decisions), statistics.median(lines)


def _long(path: Path) -> dict[str, float]:
    """A long ledger as a server opens it: with all that a start asks of it, and the first page of history."""
    began = time.perf_counter()
    ledger = Ledger(path)
    for workspace in WORKSPACES:
        ledger.unfinished(workspace)
        ledger.requests(workspace)
    ledger.query(HistoryFilter(), workspace=WORKSPACES[0])
    opened = time.perf_counter() - began
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    found = ledger.verify()
    verified = time.perf_counter() - began
    if (found.rows, found.fault) != (ROWS, None):
        raise RuntimeError(f"the long ledger does not hold: {found}")
    ledger.close()
    return {
        "ledger: seconds to open a million rows": opened,
        "ledger: seconds to verify a million rows": verified,
        "ledger: megabytes more while verifying": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }
