"""Runs the benches, prints their figures as a table and writes them to `.run/bench.json`.

    python tests/bench/run.py [WORD...]     only the benches whose module's name holds one of the words

A bench is a module of this folder with ``run() -> dict[str, float]``, each figure under a name of its own. It may have
``LIMITS``, a dict of names to the greatest value that is promised; a figure above its limit ends the run with 1. What
is promised are ratios measured in one run; the rest depends on the machine and is printed to be looked at.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "server")]


def main(words: list[str]) -> int:
    figures: dict[str, float] = {}
    limits: dict[str, float] = {}
    for bench in _benches(words):
        print(f"{bench.__name__.rpartition('.')[2]} ...", file=sys.stderr, flush=True)
        limits |= getattr(bench, "LIMITS", {})
        figures |= bench.run()
    broken = [name for name, limit in limits.items() if figures[name] > limit]
    print(_table(figures, limits))
    _write(figures, limits)
    return 1 if broken else 0


def _benches(words: list[str]) -> Iterator[ModuleType]:
    for path in sorted(HERE.glob("*.py")):
        wanted = not words or any(word in path.stem for word in words)
        if wanted and "\ndef run(" in path.read_text("utf-8"):
            yield importlib.import_module(f"tests.bench.{path.stem}")


def _table(figures: dict[str, float], limits: dict[str, float]) -> str:
    width = max(map(len, figures), default=0)
    lines = [f"{'':{width}}  {'measured':>10}  {'limit':>6}"]
    for name, value in figures.items():
        limit = f"{limits[name]:>6g}  {'ok' if value <= limits[name] else 'TOO MUCH'}" if name in limits else ""
        lines.append(f"{name:{width}}  {value:>10.4g}  {limit}".rstrip())
    return "\n".join(lines)


def _write(figures: dict[str, float], limits: dict[str, float]) -> None:
    folder = ROOT / ".run"
    folder.mkdir(exist_ok=True)
    record = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"system": platform.system(), "python": platform.python_version(), "cores": os.cpu_count()},
        "figures": figures,
        "limits": limits,
    }
    (folder / "bench.json").write_text(json.dumps(record, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
