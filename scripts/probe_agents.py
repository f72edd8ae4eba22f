#!/usr/bin/env python3
"""Probes the agents that `scripts/setup.py all-agents` installed: `make probe`, or `make probe ARGS="gemini cline"`.

Each is started by its own recipe, as `countersign probe --yes` does it; recipe files and results land in `dist/probes`.
`--table` alone writes the table in docs/agents.md from the results that are there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/agents.md"
BEGIN, END = "<!-- results of `make probe`, written by `scripts/probe_agents.py --table` -->", "<!-- end of results -->"
sys.path.insert(0, str(ROOT))


def main(wanted: list[str]) -> int:
    if wanted == ["--table"]:
        write_table()
        return 0
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
                "--keep", str(folder / f"{agent.name}.json"),
                "--results", str(folder / f"{agent.name}.results.json"), "--", *agent.command_line()]  # fmt: skip
        # The other codes tell the label.
        unmeasured = subprocess.run(line, stderr=subprocess.DEVNULL, check=False).returncode not in (0, 1, 2)
        status = 1 if unmeasured else status
    return status


def write_table() -> None:
    """Put the results into the page, between its two marks."""
    worlds = ("plain", "permissive settings", "hostile repository")
    lines = [
        "| agent | version | plain | permissive settings | hostile repository | label |",
        "|---|---|---|---|---|---|",
    ]
    for path in sorted((ROOT / "dist/probes").glob("*.results.json")):
        read = json.loads(path.read_text(encoding="utf-8"))
        cells = [summary([each for each in read["results"] if each["world"] == world]) for world in worlds]
        label = {"gated": "gated", "asksOnly": "asks only", "unguarded": "unguarded"}.get(read["label"], "not measured")
        name = path.name.removesuffix(".results.json")
        lines.append(f"| {name} | {read['version'] or ''} | {' | '.join(cells)} | {label} |")
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


def summary(results: list[dict]) -> str:
    """How many scenarios asked of those that were played, and which did not."""
    played = [each for each in results if each["ending"] != "not offered"]
    asked = sum(each["ending"] == "asked" for each in played)
    others = [
        f"{ending}: {', '.join(named)}"
        for ending in ("unasked", "refused", "no answer")
        if (named := [each["scenario"] for each in played if each["ending"] == ending])
    ]
    return f"{asked} of {len(played)}" + "".join(f"; {other}" for other in others)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
