"""Each promise of ARCHITECTURE has its marks in the code, and each mark is a promise that ARCHITECTURE lists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    *(ROOT / "server" / "countersign").rglob("*.py"),
    *(ROOT / "client-ts" / "src").rglob("*.ts"),
    *(ROOT / "client-ts" / "webview").rglob("*.ts"),
]
LISTED = re.compile(r"^(?:\d+\.|-) \*\*([a-z ]+)\*\*", re.MULTILINE)
MARK = re.compile(r"INVARIANT(?: \(([^)]*)\))?")


def promises() -> set[str]:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return set(LISTED.findall(page[page.index("## Promises") : page.index("## What outlives what")]))


def marks() -> dict[str, list[str]]:
    """Each name in a mark, with the files that have it; the empty name for a mark without one."""
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in MARK.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_each_mark_names_a_promise_that_architecture_lists():
    assert {name: files for name, files in marks().items() if name not in promises()} == {}


def test_each_promise_is_marked_in_the_code():
    assert promises() - set(marks()) == set()
