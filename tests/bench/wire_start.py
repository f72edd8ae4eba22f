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

LIMITS = {"start: to bare pygls'": 1.8, "start: with a model of every provider, to bare pygls'": 1.7}
MODELS = {
    "mine": {"provider": "ollama", "model": "qwen3-coder:30b"},
    "gpt": {"provider": "openai", "model": "gpt-5.2"},
    "claude": {"provider": "anthropic", "model": "claude-sonnet-4-6"},
    "gemini": {"provider": "google", "model": "gemini-3-pro"},
    "copilot": {"provider": "vscode", "model": "copilot/gpt-5"},
    "demo": {"provider": "demo"},
}


def run() -> dict[str, float]:
    servers = {
        "bare": [HERE / "wire_stock_server.py"],
        "bridge": [HERE / "wire_server.py"],
        "ours": ["-m", "countersign", "serve"],
        "models": ["-m", "countersign", "serve"],
    }
    times: dict[str, list[float]] = {name: [] for name in servers}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as configured:
        settings = Path(configured, "countersign", "settings.json")
        settings.parent.mkdir()
        settings.write_text(json.dumps({"countersign.models": MODELS, "countersign.model": "gpt"}))
        for turn in range(RUNS + 1):
            for name, arguments in servers.items():
                command = ["node", CLIENT, "start", str(STARTS), "-", sys.executable, *arguments]
                measured = _starts(name, command, configured if name == "models" else folder)
                if turn:  # the first turn only warms the caches
                    times[name] += measured
    bare, bridge, ours, models = (min(times[name]) for name in servers)
    return {
        "start: to bare pygls'": ours / bare,
        "start: with a model of every provider, to bare pygls'": models / bare,
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
