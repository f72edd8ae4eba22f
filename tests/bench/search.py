"""A search of the built-in agent beside ``grep -r`` on the same files: with ripgrep as its filter, and without."""

from __future__ import annotations

import asyncio
import random
import subprocess
import tempfile
import time
from pathlib import Path

from tests.tools.test_ripgrep import RG
from tests.tools.workbench import Workbench

from countersign.tools.search.ripgrep import RIPGREP_SERVICE

FILES, LINES = 4000, 250
LIMITS = {"search with ripgrep, to grep": 3.0} if RG is not None else {}


def run() -> dict[str, float]:
    """Search 4,000 files of some 10 kB for a word that five of them hold; the best of three each."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder))
        words = random.Random(18)
        for number in range(FILES):
            lines = [f"line {words.getrandbits(120):x} of {number}" for _ in range(LINES)]
            if number % 800 == 0:
                lines.append("here is the NeedleWord")
            bench.file(f"d{number % 40}/f{number}.txt", "\n".join(lines))
        grep = min(_grep(bench.workspace) for _ in range(3))
        plain = min(asyncio.run(_search(bench)) for _ in range(2))
        figures = {"grep -r, ms": grep * 1e3, "search without ripgrep, to grep": plain / grep}
        if RG is not None:
            bench.bench.services[RIPGREP_SERVICE] = lambda: RG  # type: ignore[index]
            figures["search with ripgrep, to grep"] = min(asyncio.run(_search(bench)) for _ in range(3)) / grep
    return figures


def _grep(folder: Path) -> float:
    began = time.perf_counter()
    found = subprocess.run(["grep", "-rIn", "NeedleWord", "."], cwd=folder, capture_output=True, check=True)
    assert found.stdout.count(b"\n") == 5
    return time.perf_counter() - began


async def _search(bench: Workbench) -> float:
    began = time.perf_counter()
    outcome = await bench.do("search", pattern="NeedleWord")
    assert outcome.output.count("NeedleWord") == 5, outcome.output
    return time.perf_counter() - began
