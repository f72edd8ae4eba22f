"""What looking after rules costs: counting the use of each, and proposing some from what a person answered.

Both are done beside the event loop, which must go on: its heartbeat while they run is what is promised.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.bench.long_ledger import WORKSPACES, blocking_make

from countersign.advice.rule_suggestions import propose
from countersign.gate.decisions.decide import decide
from countersign.gate.ledger.reader import Reader
from countersign.gate.ledger.rule_usage import blocking_calls_by_day, blocking_uses
from countersign.gate.shell.syntax.bash_check import BashSyntax
from countersign.settings.policy import Policy
from countersign.wire.history import HistoryEntry

ROWS, ANSWERS = 100_000, 500
LIMITS = {"rules: heartbeat in seconds while history is looked at": 0.1}


def _answers() -> list[HistoryEntry]:
    """Commands of a hundred kinds, one in ten of them denied."""
    return [
        HistoryEntry.model_validate(
            {
                "receipt_id": f"r{n}", "seq": n, "at": "2026-11-20T00:00:00Z", "phase": "decided", "thread_id": "t",
                "agent_name": "Countersign", "tool_call_id": f"c{n}", "approval_id": f"a{n}", "tool": "shell",
                "input": {"command": f"tool{n % 100} make-{n % 7} --label '{n}'"}, "by": "user", "digest": "d",
                "verdict": "deny" if n % 10 == 9 else "allow", "outcome": {},
            }
        )
        for n in range(ANSWERS)
    ]  # fmt: skip


async def _beside(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that the work took in a thread, and the longest that the event loop stood still meanwhile."""
    began = last = time.perf_counter()
    longest = 0.0
    task = asyncio.create_task(asyncio.to_thread(work))
    while not task.done():
        await asyncio.sleep(0.002)
        moment = time.perf_counter()
        longest, last = max(longest, moment - last), moment
    await task
    return time.perf_counter() - began, longest


def run() -> dict[str, float]:
    """Seconds for each, once, and the worst heartbeat of both."""
    with tempfile.TemporaryDirectory() as folder:
        blocking_make(Path(folder, "ledger.db"), ROWS)
        reader = Reader(Path(folder, "ledger.db"))

        def count() -> None:
            blocking_uses(reader.rows, WORKSPACES[0])
            blocking_calls_by_day(reader.rows, WORKSPACES[0])

        counted, still = asyncio.run(_beside(count))
        policy = Policy(workspace=folder, home="/home/me", trusted=True)
        answers, judge = _answers(), partial(decide, check_syntax=BashSyntax())
        proposed, stiller = asyncio.run(_beside(lambda: propose(answers, policy, judge)))
    return {
        f"rules: seconds to count their use in {ROWS:,} rows": counted,
        f"rules: seconds to propose some from {ANSWERS} answers": proposed,
        "rules: heartbeat in seconds while history is looked at": max(still, stiller),
    }
