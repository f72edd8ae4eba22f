#!/usr/bin/env python3
"""Probes the agents that `scripts/setup.py all-agents` installed: `make probe`, or `make probe ARGS="gemini cline"`.

Each is started by its own recipe, as `countersign probe --yes` does it; the recipe files land in `dist/probes`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def main(wanted: list[str]) -> int:
    from tests.agents.recipes_under_test import AGENTS  # noqa: PLC0415 the tests' table of installed agents

    unknown = set(wanted) - {agent.name for agent in AGENTS}
    if unknown:
        print(f"there is no agent {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    folder = ROOT / "dist/probes"
    folder.mkdir(parents=True, exist_ok=True)
    status = 0
    for agent in AGENTS:
        if wanted and agent.name not in wanted:
            continue
        if not agent.installed:
            print(f"{agent.name}: not installed")
            continue
        print(f"{agent.name}:", flush=True)
        line = [sys.executable, "-m", "countersign", "probe", "--yes", "--recipe", agent.recipe,
                "--out", str(folder / f"{agent.name}.json"), "--", *agent.command_line()]  # fmt: skip
        status = subprocess.run(line, stderr=subprocess.DEVNULL, check=False).returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
