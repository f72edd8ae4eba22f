"""Each promise of docs/promises.md has its marks in the code, and each mark is a promise that the page lists."""

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
    page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
    return set(LISTED.findall(page[page.index("## Promises") : page.index("## What outlives what")]))


def marks() -> dict[str, list[str]]:
    """Each name in a mark, with the files that have it; the empty name for a mark without one."""
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for name in MARK.findall(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_each_mark_names_a_promise_that_the_page_lists():
    assert {name: files for name, files in marks().items() if name not in promises()} == {}


def test_the_map_names_the_numbered_promises_in_their_order():
    page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
    numbered = re.findall(r"^\d+\. \*\*([a-z ]+)\*\*", page, re.MULTILINE)
    map_page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = map_page[map_page.index("## Promises") : map_page.index("## Absent on purpose")]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE)[1:] == numbered


def test_the_map_fits_on_two_screens():
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_each_promise_is_marked_in_the_code():
    assert promises() - set(marks()) == set()


def promised_tests() -> dict[str, list[str]]:
    """The rows of the table: each promise with the tests that hold it."""
    page = (ROOT / "docs/promises.md").read_text(encoding="utf-8")
    table = page[page.index("### The tests of the promises") : page.index("## What outlives what")]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ") and "`" in line]
    return {name.strip(): re.findall(r"`([^`]+)`", tests) for name, tests in rows}


def test_each_promise_has_its_tests_and_each_row_its_promise():
    table = promised_tests()
    assert set(table) == promises()
    assert [name for name, tests in table.items() if not tests] == []


def missing(reference: str) -> str | None:
    """What is wrong with a reference to a test, `file` or `file::function`."""
    file, _, function = reference.partition("::")
    path = ROOT / file
    if not path.is_file():
        return f"there is no {file}"
    text = path.read_text(encoding="utf-8")
    if function and not re.search(rf"^(?:async )?def {re.escape(function)}\(", text, re.MULTILINE):
        return f"{file} has no {function}"
    return None if function or path.suffix != ".py" else f"{file}: name the test"


def test_each_test_of_the_table_exists():
    references = [reference for tests in promised_tests().values() for reference in tests]
    assert [fault for reference in references if (fault := missing(reference)) is not None] == []


def test_a_reference_that_leads_nowhere_is_found():
    assert missing("tests/nowhere.py::test_x") == "there is no tests/nowhere.py"
    assert missing("tests/architecture/test_invariants.py::test_x") is not None
    assert missing("tests/architecture/test_invariants.py") is not None
    assert missing("tests/architecture/test_invariants.py::missing") is None


PAGES = ("docs/security.md", "docs/promises.md", "ARCHITECTURE.md")


def test_each_file_that_the_pages_name_as_a_test_exists():
    named = {
        (page, name)
        for page in PAGES
        for name in re.findall(r"`((?:client-ts/)?tests?/[\w./-]+)", (ROOT / page).read_text(encoding="utf-8"))
    }
    roots = (ROOT, ROOT / "client-ts")
    assert [(page, name) for page, name in sorted(named) if not any((root / name).exists() for root in roots)] == []
