"""How long a client waits for a server: from starting the process to the answer of `initialize`.

Compared in one run with a bare pygls server. The servers take turns, each with a warm file cache and compiled files; a
figure is the shortest of all starts, since whatever else the machine does can only lengthen one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.wire_approval import CLIENT, HERE, environment

STARTS, RUNS = 3, 5

LIMITS = {"start: to bare pygls'": 1.8}


def run() -> dict[str, float]:
    servers = {
        "bare": [HERE / "wire_stock_server.py"],
        "bridge": [HERE / "wire_server.py"],
        "ours": ["-m", "countersign", "serve"],
    }
    times: dict[str, list[float]] = {name: [] for name in servers}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(RUNS + 1):
            for name, arguments in servers.items():
                command = ["node", CLIENT, "start", str(STARTS), "-", sys.executable, *arguments]
                measured = _starts(name, command, folder)
                if turn:  # the first turn only warms the caches
                    times[name] += measured
    bare, bridge, ours = (min(times[name]) for name in servers)
    return {
        "start: to bare pygls'": ours / bare,
        "start: of the bridge alone, to bare pygls'": bridge / bare,
        "start: milliseconds, bare pygls": bare,
        "start: milliseconds, ours": ours,
    }


def _starts(name: str, command: list[str | Path], folder: str) -> list[float]:
    """Milliseconds of each start, with storage and settings in a folder of the bench's own."""
    env = environment() | {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
    measured = json.loads(done.stdout)
    if len(measured) < STARTS:
        raise RuntimeError(f"{name} did not start: {done.stderr[-2000:]}")
    return measured
