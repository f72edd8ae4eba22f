"""What it costs to start a program: bare, supervised, and in the sandbox, which hides and locks some fifty names.

Beside it, where ``socat`` and ``rg`` are there, which it needs: the same program in the sandbox that the npm package
``@anthropic-ai/sandbox-runtime`` makes with the same names hidden, measured in a process of Node.js that stays. The
ratios are of medians in one run, the kinds taken in turn, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from countersign.settings.policy import Policy
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.shell.supervised import spawn_supervised

RUNS = 30
HIDDEN = 40
ENVIRONMENT = {"PATH": os.defpath}
ROOT = Path(__file__).resolve().parents[2]
RUNTIME = Path(__file__).with_name("sandbox_runtime")


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
        times: dict[str, list[float]] = {"bare": [], "supervised": [], "sandboxed": [], "sandbox-runtime": []}
        with _sandbox_runtime(workspace) as theirs:
            await _take(times, confiner if available else None, policy, theirs)
    found = {f"spawn, {kind}, ms": median(taken) * 1000 for kind, taken in times.items() if taken}
    found["spawn, supervised / bare"] = median(times["supervised"]) / median(times["bare"])
    if times["sandboxed"]:
        found["spawn, sandboxed / supervised"] = median(times["sandboxed"]) / median(times["supervised"])
    if times["sandboxed"] and times["sandbox-runtime"]:
        found["spawn, sandboxed / sandbox-runtime"] = median(times["sandboxed"]) / median(times["sandbox-runtime"])
    return found


async def _take(
    times: dict[str, list[float]], confiner: Confiner | None, policy: Policy, theirs: Callable[[], float] | None
) -> None:
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(["true"], env=ENVIRONMENT, check=True)  # noqa: ASYNC221 it is what is measured
        times["bare"].append(time.perf_counter() - start)
        start = time.perf_counter()
        await (await spawn_supervised(["true"], env=ENVIRONMENT, cwd=policy.workspace)).wait()
        times["supervised"].append(time.perf_counter() - start)
        if confiner is not None:
            start = time.perf_counter()
            await _sandboxed(confiner, policy)
            times["sandboxed"].append(time.perf_counter() - start)
        if theirs is not None:
            times["sandbox-runtime"].append(await asyncio.to_thread(theirs))


@contextmanager
def _sandbox_runtime(workspace: Path) -> Iterator[Callable[[], float] | None]:
    """A call that starts ``true`` in their sandbox once and returns the seconds; None where that cannot be made."""
    if sys.platform != "linux" or not all(map(shutil.which, ("node", "bwrap", "socat", "rg"))):
        print("spawn: socat or rg is missing, so sandbox-runtime is not measured", file=sys.stderr)
        yield None
        return
    subprocess.run([sys.executable, ROOT / "scripts/setup.py", "sandbox-runtime"], check=True, timeout=600)
    told = json.dumps({"workspace": str(workspace), "hidden": [str(path) for path in workspace.iterdir()]})
    with subprocess.Popen(
        ["node", RUNTIME / "bench.mjs", told], cwd=RUNTIME, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        asked, said = node.stdin, node.stdout
        assert said.readline() == "ready\n", "sandbox-runtime did not start"

        def once() -> float:
            asked.write("\n")
            asked.flush()
            return float(said.readline()) / 1000

        yield once
        asked.close()


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
