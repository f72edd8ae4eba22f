"""Each citation of docs/gate.md names a code or a heading of that page, and nothing cites a page that is not here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gate.md"
FOLDERS = ("server/countersign", "tests", "client-ts/src", "client-ts/webview", "client-ts/test", "docs", "decisions")
SUFFIXES = frozenset({".py", ".ts", ".mjs", ".toml", ".md"})
CODE = r"[SP]\d+"
HEADING = r'"[^"\n]+"'
CITATION = re.compile(rf"docs/gate\.md\)? ((?:{CODE}|{HEADING})(?:(?:, | and | to )(?:{CODE}|{HEADING}))*)")
MISSING = re.compile(r"\bRULES\.md|\bRULES [SP]\d|\bCONTRACT(?:\.md)?(?: \d|[,:)])| \(CARDS\)|\bCARDS\.md")
"""Pages that the specification was once written in, and that the project does not hold."""


def sources() -> Iterator[tuple[str, str]]:
    """Every text of the project that a person wrote, with its path."""
    for folder in FOLDERS:
        for place, below, names in os.walk(ROOT / folder):
            # Packages of others and what tools leave behind are no texts of the project.
            below[:] = [name for name in below if name != "node_modules" and not name.startswith((".", "__"))]
            for path in (Path(place, name) for name in names):
                if path.suffix in SUFFIXES and path != Path(__file__):
                    yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), ROOT / "pyproject.toml"):
        yield path.name, path.read_text(encoding="utf-8")


def labels() -> set[str]:
    """What can be cited of the page: its codes, and its headings in quotes."""
    page = PAGE.read_text(encoding="utf-8")
    codes = re.findall(rf"^- \*\*({CODE})\*\*", page, re.MULTILINE)
    return {*codes, *(f'"{heading}"' for heading in re.findall(r"^##+ (.+)$", page, re.MULTILINE))}


def cited(text: str) -> Iterator[str]:
    """The codes and headings of docs/gate.md that a text cites."""
    for citation in CITATION.findall(text):
        yield from re.findall(rf"{CODE}|{HEADING}", citation)


def test_each_citation_names_a_code_or_a_heading_of_the_page():
    found, known = {path: set(cited(text)) for path, text in sources()}, labels()
    assert {path: names - known for path, names in found.items() if names - known} == {}


def test_each_code_is_on_the_page_once_and_none_is_left_out():
    codes = re.findall(rf"^- \*\*({CODE})\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert codes == [*(f"S{number}" for number in range(15)), *(f"P{number}" for number in range(1, 9))]


def test_a_citation_is_read_to_its_end():
    text = '(docs/gate.md S1 to S9), docs/gate.md S10, S11 and "Secrets", docs/gate.md P3: once'
    assert list(cited(text)) == ["S1", "S9", "S10", "S11", '"Secrets"', "P3"]


def test_nothing_cites_a_page_that_is_not_here():
    named = [(path, text) for path, text in sources() if any(name in text for name in ("RULES", "CONTRACT", "CARDS"))]
    assert {path: MISSING.findall(text) for path, text in named if MISSING.search(text)} == {}


def test_what_the_last_test_looks_for_is_found():
    for text in ("(RULES.md S9)", "(CONTRACT 8)", "(CONTRACT.md 8 and 9)", "(CONTRACT: titles)", "a command (CARDS)."):
        assert MISSING.search(text)
