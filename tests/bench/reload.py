"""How long 500 open requests take to be in the view's model again after a window reload.

Counted from `initialized` on: the server takes each up from disk and shows it, and `client-ts/webview/state.ts` takes
each into its state, in the very process that a webview runs it in but for the drawing.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from pathlib import Path

from tests.stdio.many_requests import reloaded

ROOT = Path(__file__).resolve().parents[2]
NUMBER = 500
LIMITS = {"reload: seconds to 500 requests in the view's model": 1.0}


async def _server() -> tuple[float, list[dict]]:
    with tempfile.TemporaryDirectory() as folder:
        found = await reloaded(NUMBER, Path(folder))
    if len(found.after) != NUMBER:
        raise RuntimeError(f"{len(found.after)} of {NUMBER} requests came back")
    return found.seconds, found.after


def _view(approvals: list[dict]) -> float:
    """Seconds that the view's model takes for all of them, one after the other."""
    script = ROOT / "client-ts" / "test" / "reload.bench.mjs"
    told = subprocess.run(
        ["node", str(script)], input=json.dumps(approvals), capture_output=True, text=True, check=True, timeout=60
    )
    return float(told.stdout)


def run() -> dict[str, float]:
    """The best of three, for other work on the machine is not ours."""
    runs = [asyncio.run(_server()) for _ in range(3)]
    server = min(seconds for seconds, _ in runs)
    view = _view(runs[0][1])
    return {
        "reload: seconds to 500 requests in the view's model": server + view,
        "reload: of which the server's": server,
    }
