"""What it costs to start a program: bare, supervised, and in the sandbox, which hides and locks some fifty names.

The ratios are of medians in one run, the kinds taken in turn, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from countersign.settings.policy import Policy
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.shell.supervised import spawn_supervised

RUNS = 30
HIDDEN = 40
ENVIRONMENT = {"PATH": os.defpath}


def run() -> dict[str, float]:
    return asyncio.run(_measure())


async def _measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        workspace, storage, home = (Path(folder) / name for name in ("workspace", "storage", "home"))
        for made in (workspace, storage, home):
            made.mkdir()
        for number in range(HIDDEN):
            (workspace / f".env.{number}").touch()
        confiner = Confiner(storage)
        policy = Policy(workspace=str(workspace), home=str(home), sandbox_mode="commands")
        available = confiner.blocking_state(policy).available
        times: dict[str, list[float]] = {"bare": [], "supervised": [], "sandboxed": []}
        for _ in range(RUNS):
            start = time.perf_counter()
            subprocess.run(["true"], env=ENVIRONMENT, check=True)  # noqa: ASYNC221 it is what is measured
            times["bare"].append(time.perf_counter() - start)
            start = time.perf_counter()
            await (await spawn_supervised(["true"], env=ENVIRONMENT, cwd=str(workspace))).wait()
            times["supervised"].append(time.perf_counter() - start)
            if available:
                start = time.perf_counter()
                await _sandboxed(confiner, policy)
                times["sandboxed"].append(time.perf_counter() - start)
    found = {f"spawn, {kind}, ms": median(taken) * 1000 for kind, taken in times.items() if taken}
    found["spawn, supervised / bare"] = median(times["supervised"]) / median(times["bare"])
    if available:
        found["spawn, sandboxed / supervised"] = median(times["sandboxed"]) / median(times["supervised"])
    return found


async def _sandboxed(confiner: Confiner, policy: Policy) -> None:
    confined = await asyncio.to_thread(confiner.blocking_confine, policy, policy.workspace)
    process = await spawn_supervised(
        ["true"],
        env=ENVIRONMENT,
        cwd=policy.workspace,
        sandbox=confined.description,
        pass_fds=confined.pass_fds,
    )
    confined.close_ours()
    await process.wait()
    await asyncio.to_thread(confined.blocking_finish, set_aside=None)
