#!/usr/bin/env python3
"""Plays the matrix of real agents (`tests/agents/matrix.py`): `make agents`, or `make agents ARGS="gemini cline"`.

Outcomes land in `tests/agents/matrix.json`, and the table that is made from them in docs/agents.md. `--table` only
makes the table, `--check` only compares it with the outcomes that are committed; neither starts an agent.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/agents.md"
BEGIN, END = "<!-- results of `make agents`, written by `scripts/agent_matrix.py` -->", "<!-- end of the matrix -->"
sys.path[:0] = [str(ROOT), str(ROOT / "server")]

from tests.agents.matrix import (  # noqa: E402 the path is set above
    CALLS,
    DECISIONS,
    RESULTS,
    WORLDS,
    is_safe,
    play_agent,
    unsafe,
    wanted,
)
from tests.agents.recipes_under_test import AGENTS  # noqa: E402

LABELS = {"gated": "gated", "asksOnly": "asks only", "unguarded": "unguarded", "sandboxed": "sandboxed"}


def main(words: list[str]) -> int:
    if words == ["--check"]:
        if page_with_table() == PAGE.read_text(encoding="utf-8"):
            return 0
        print("docs/agents.md does not show tests/agents/matrix.json; run `scripts/agent_matrix.py --table`")
        return 1
    if words != ["--table"]:
        unknown = set(words) - {agent.name for agent in AGENTS}
        if unknown:
            print(f"there is no agent {', '.join(sorted(unknown))}", file=sys.stderr)
            return 2
        if not play(words):
            return 1
    PAGE.write_text(page_with_table(), encoding="utf-8")
    return 0


def play(words: list[str]) -> bool:
    """Play the installed agents, or those named, and keep the outcomes; whether each was safe."""
    safe = True
    for agent in AGENTS:
        if words and agent.name not in words:
            continue
        if not agent.installed:
            print(f"{agent.name}: not installed")
            continue
        print(f"{agent.name}: ", end="", flush=True)
        with tempfile.TemporaryDirectory(prefix="countersign-matrix-") as folder:
            result = asyncio.run(play_agent(Path(folder).resolve(), agent))
        found = unsafe(result)
        print("; ".join(found) or "nothing happened that was not allowed, unless its label says that it can")
        for notice in result.pop("notices"):
            print(f"  {notice}")
        safe = safe and not found
        kept = {**json.loads(RESULTS.read_text(encoding="utf-8")), agent.name: result}
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return safe


def page_with_table() -> str:
    """The page with the table of the committed outcomes between its two marks."""
    lines = [
        f"| agent | version | {' | '.join(DECISIONS)} | other worlds, denied | another chat beside a card | label |",
        "|---" * 14 + "|",
    ]
    for name, result in sorted(json.loads(RESULTS.read_text(encoding="utf-8")).items()):
        worlds = result["worlds"]
        cells = [cell(decision, worlds["plain"]["outcomes"].get(decision, {})) for decision in DECISIONS]
        others = [f"{world}: {cell('deny', worlds[world]['outcomes'].get('deny', {}))}" for world in WORLDS[1:]]
        usual = labels(worlds["plain"])
        fallen = [f"; {world}: {labels(worlds[world])}" for world in WORLDS[1:] if labels(worlds[world]) != usual]
        beside = worlds["plain"].get("other chat", "not played")
        row = [name, result["version"], *cells, "; ".join(others), beside, usual + "".join(fallen)]
        lines.append(f"| {' | '.join(row)} |")
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}"


def labels(told: dict) -> str:
    """The label before and after, in one word where it stayed."""
    return " then ".join(dict.fromkeys(LABELS[label] for label in told["labels"]))


def cell(decision: str, outcomes: dict[str, str]) -> str:
    """How many calls had the outcome that is right, and what the others did."""
    if not outcomes:
        return "not played"
    right = sum(outcome == wanted(decision, call) for call, outcome in outcomes.items())
    others: dict[str, list[str]] = {}
    for call in CALLS:
        outcome = outcomes.get(call, wanted(decision, call))
        if outcome != wanted(decision, call):
            word = outcome if is_safe(decision, call, outcome) else f"**{outcome}**"
            others.setdefault(word, []).append(call)
    return f"{right} of {len(outcomes)}" + "".join(f"; {word}: {', '.join(calls)}" for word, calls in others.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
