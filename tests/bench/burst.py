"""A burst of a thousand approvals, all open at once, to a client in Node that answers each as it comes.

The same client, over vscode-jsonrpc, is served by our gate with its ledger on disk, with its ledger in memory, and by a
server in Node that has a map for its table and no ledger. What is compared is the time from asking for the burst until
its last approval has ended; they take turns, and a figure is the median of all bursts.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.wire_approval import HERE, environment
from tests.bench.wire_request import REQUEST

CLIENT = HERE / "node_burst.mjs"
APPROVALS, TURNS = 1000, 4

LIMITS = {
    "burst: to Node's time, ledger on disk": 1 / 0.35,
    "burst: to Node's time, ledger in memory": 1 / 0.55,
}


def run() -> dict[str, float]:
    node: list[float] = []
    disk: list[float] = []
    memory: list[float] = []
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory(dir=disk_folder()) as folder:
            card = Path(folder) / "request.json"
            card.write_text(json.dumps(REQUEST))
            node += _bursts("node", CLIENT, "server", card)
            disk += _bursts(sys.executable, HERE / "burst_server.py", folder)
            memory += _bursts(sys.executable, HERE / "burst_server.py")
    in_node, on_disk, in_memory = map(statistics.median, (node, disk, memory))
    return {
        "burst: to Node's time, ledger on disk": on_disk / in_node,
        "burst: to Node's time, ledger in memory": in_memory / in_node,
        "burst: approvals a second, Node to Node": APPROVALS / in_node,
        "burst: approvals a second, ledger on disk": APPROVALS / on_disk,
        "burst: approvals a second, ledger in memory": APPROVALS / in_memory,
    }


def _bursts(*server: object) -> list[float]:
    """Seconds of each burst."""
    command = ["node", str(CLIENT), "client", str(APPROVALS), *map(str, server)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def disk_folder() -> Path:
    """On a disk: a temporary folder of the system may lie in memory."""
    folder = HERE.parents[1] / ".run"
    folder.mkdir(exist_ok=True)
    return folder
