"""What an approval costs over stdio to a client in Node: from the question's leaving to its end in the table.

Compared in one run with the same messages over a raw pipe, and with pygls as it comes. Each server is run several times
in turn, so that a busy machine is busy for all of them; a figure is the median of the runs' medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CLIENT = HERE / "node_client.mjs"
ROUNDS, RUNS = 1000, 5

LIMITS = {"approval: to a raw pipe's": 5.0, "approval: to stock pygls'": 0.5}


def run() -> dict[str, float]:
    servers = {
        "raw": ("wire_raw_server.py", "table"),
        "stock": ("wire_stock_server.py", "table"),
        "ours": ("wire_server.py", "table"),
        "gate": ("wire_server.py", "gate"),
    }
    medians: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(RUNS):
        for name, (script, thread) in servers.items():
            medians[name].append(statistics.median(_rounds(script, thread)))
    raw, stock, ours, gate = (statistics.median(medians[name]) for name in servers)
    return {
        "approval: to a raw pipe's": ours / raw,
        "approval: to stock pygls'": ours / stock,
        "approval: through the gate's asking, to stock pygls'": gate / stock,
        "approval: microseconds, raw pipe": raw * 1e6,
        "approval: microseconds, stock pygls": stock * 1e6,
        "approval: microseconds, ours": ours * 1e6,
        "approval: microseconds, ours through the gate's asking": gate * 1e6,
    }


def _rounds(script: str, thread: str) -> list[float]:
    """Seconds of each round."""
    command = ["node", CLIENT, "answer", str(ROUNDS), thread, sys.executable, HERE / script]
    done = subprocess.run(command, env=environment(), stderr=subprocess.PIPE, text=True, timeout=60, check=True)
    line = next((line for line in done.stderr.splitlines() if line.startswith("TIMES ")), None)
    if line is None:
        raise RuntimeError(f"{script} measured nothing: {done.stderr[-2000:]}")
    return json.loads(line.removeprefix("TIMES "))


def environment() -> dict[str, str]:
    """Ours, with this checkout's `countersign` found first, and compiled modules written and read."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(HERE.parents[1] / "server")}
