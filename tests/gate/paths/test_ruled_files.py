"""What a rule for reading is about below a folder is found as a walk through all of it finds it (docs/gate.md S11)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from countersign.gate.paths import ruled_files
from countersign.gate.paths.ruled_files import RuledFile, ruled_below
from countersign.gate.patterns import BadPattern, PathPattern
from countersign.gate.patterns.path import parse_path

NAMES = ["a", "b", "A", ".env", ".env.local", "x.py", "secrets", "b."]
PARTS = [*NAMES, "*", "**", ".e*", "*.py", "?", "{a,b}", "[ab]", "SECRETS"]
TREES = st.sets(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join), max_size=12)
PATTERNS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "./", "**/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join),
    st.sampled_from(["", "/"]),
)


def _make(top: Path, tree: set[str]) -> None:
    for path in sorted(tree):
        place = top / path
        if not any((top / above).is_file() for above in Path(path).parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()


def _all_below(top: Path, pattern: PathPattern, names: tuple[str, ...] = ()) -> Iterator[RuledFile]:
    """The topmost of all that a pattern is about, by a look at every path."""
    for entry in os.scandir(top.joinpath(*names)):
        path = (*names, entry.name)
        spelled = [path, tuple(part.rstrip(". ") or part for part in path)]
        if any(map(pattern.touches, spelled)):
            yield RuledFile(path, entry.is_dir())
        elif entry.is_dir():
            yield from _all_below(top, pattern, path)


@settings(max_examples=300, deadline=None)
@given(tree=TREES, text=PATTERNS)
def test_it_finds_what_a_look_at_every_path_finds(tree: set[str], text: str) -> None:
    try:
        pattern = parse_path(text)
    except BadPattern:
        return
    with tempfile.TemporaryDirectory() as folder:
        _make(Path(folder), tree)
        found = ruled_below(pattern, folder, ())
        assert found is not None
        assert set(found) == set(_all_below(Path(folder), pattern))


@pytest.mark.parametrize(
    ("pattern", "known"),
    [("./.env", True), ("./secrets/**", True), ("./link", False), ("./link/x", False), ("**/.env", False)],
)
def test_what_lies_behind_a_link_is_not_known(pattern: str, known: bool, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    assert (ruled_below(parse_path(pattern), str(tmp_path), ()) is not None) == known


def test_of_too_many_names_it_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}").touch()
    monkeypatch.setattr(ruled_files, "MOST_NAMES", 4)
    assert ruled_below(parse_path("**/.env"), str(tmp_path), ()) is None
