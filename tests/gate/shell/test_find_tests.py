"""Which paths find lists, by the few of its tests that count: compared with find itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_by
from hypothesis import strategies as st

from countersign.gate.shell.languages.find_tests import Kind, find_tests
from tests.patience import PATIENCE


def given(words: str, name: str, kind: Kind = "file") -> bool | None:
    tests = find_tests(words.split())
    return tests and tests.may_give(name, kind)


@pytest.mark.parametrize(
    ("words", "name", "expected"),
    [
        (". -name *.py", "a.py", True), (". -name *.py", "a.pyc", False), (". -name *.PY", "a.py", False),
        (". -iname *.PY", "a.pyc", True), (". ! -name *.py", "a.py", True), (". -name [a].py", "a.py", True),
        (". -name *.py -o -name *.env", ".env", True), (". -name *.py -name *.env", ".env", False),
        (". ( -name *.py -o -name *.env )", ".md", False), (". ( -name *.py -o -size 1 )", ".md", True),
        (". ! ( -name *.py -o -size 1 )", "a.py", True), (". -size +1 -name x", "y", False),
        (". -size +1 -o -name x", "y", True), (". -print -name x", "y", True), (". -name x -print", "y", False),
        (". -name x -print -o -name y", "y", False), (". -name x -o -name y -print", "x", False),
        (". -name a*b*a", "aba", True), (". -name a*a", "a", False), (". -name *.py", "é.py", True),
        (". -name *.md", "é.py", True), (". -name *.md", "a\n.py", True), (". -name x -prune -o -name y", "x", True),
        (". -name x -prune -o -name y -print", "x", False), (". -regex x", "x", None), (". ( -name x", "x", None),
        (". -name", "x", None), (". -name x , -name y", "x", None), (". -name x )", "x", None),
        (". ( -name x -prune ) -o -print", "x", None), (". -name x -prune -name y -o -print", "x", None),
        (". ! -name x -prune -o -print", "x", True), (". ( -name x -print )", "x", None), (". -quit", "x", None),
    ],
)  # fmt: skip
def test_what_find_gives(words: str, name: str, expected: bool | None) -> None:
    assert given(words, name) == expected


def test_plain_files_are_what_one_test_wants() -> None:
    assert given(". -type f", "x", "link") is False
    assert given(". -type f", "x", "file") is True
    assert given(". ! -type f", "x", "link") is True
    assert given(". -type f -o -name x", "x", "link") is True


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (". -name x -prune -o -print", {"x"}), (". -type d -name x -prune -o -name y -prune -o -print", {"x", "y"}),
        (". ( -name x -o -name y ) -prune -o -print", {"x", "y"}), (". -path ./x -prune -o -print", {"./x"}),
        ("src -path ./x -prune -o -print", set()), ("src -path */x -prune -o -print", {"x"}),
        (". -not -path */x/* -name y", {"x"}), (". ! -path ./x/*", {"./x"}), ("src ! -path ./x/*", set()),
        (". ! -path */x/* -o -name y", set()), (". ! -path */x/* ! -path */y/*", {"x", "y"}),
        (". -name x -prune -o ! -path */z/* -print", {"x", "z"}), (". -name x -prune -o ! -path */z/*", {"x"}),
        (". -print -o -name x -prune -o -name y", set()), (". -size 1 -name x -prune -o -print", set()),
        (". -name x* -prune -o -print", set()), (". -mindepth 1 -name x -prune -o -print", set()),
        (". -depth -name x -prune -o -print", set()), (". -print ! -path */x/*", set()),
        (". ! ! -path */x/*", set()), (". -path */x/* -prune -o -print", set()),
        (". -type f -name x -prune -o -print", set()), (". -path ./x -path ./y -prune -o -print", set()),
        (". -path ./x -name y -prune -o -print", set()), (". -name x -name y -prune -o -print", set()),
        (". ! -path */x*", set()), (". ! -path */x/y/*", set()), (". -iname x -prune -o -print", set()),
    ],
)  # fmt: skip
def test_what_find_does_not_enter(words: str, expected: set[str]) -> None:
    tests = find_tests(words.split())
    assert tests is not None
    assert tests.skipped == expected


_TERMS = st.sampled_from(
    "-name *.py|-name sec|-name a*|! -name b*|-type f|-type d|! -type f|-type l|-path ./sec|-path */sec|"
    "! -path */sec/*|! -path ./d/*|-not -path */d/*|-path ./d/*|-size 0|-size +1|! -size 0|-maxdepth 2|-mindepth 1|"
    "-empty|-iname SEC|"
    "( -name a* -o -name sec )|( -name d -o -type f )|! ( -name a* -o -size 1 )|-mtime -5|-readable|-xdev|"
    "-wholename ./sec/a.py|-name [a-z]*|-print|-prune|-depth".split("|")
)


@st.composite
def _expressions(draw: st.DrawFn) -> list[str]:
    """Words for find: lists of tests, some of which leave out a folder in front of the others."""
    lists = [" ".join(draw(st.lists(_TERMS, min_size=1, max_size=4))) for _ in range(draw(st.integers(1, 3)))]
    front = draw(
        st.lists(st.sampled_from(["-name sec", "-type d -name d", "-path ./sec", "( -name d -o -name e )"]), max_size=2)
    )
    return " -o ".join([*(f"{each} -prune" for each in front), *lists]).split()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given_by(words=_expressions())
def test_find_lists_nothing_that_is_not_looked_at(words: list[str], wood: Path) -> None:
    tests = find_tests([".", *words])
    if tests is None:
        return
    found = subprocess.run(
        ["find", ".", *words], cwd=wood, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    for path in filter(None, found.stdout.split("\n")):
        *folders, name = path.split("/")
        if path == ".":
            continue
        whole = wood / path
        kind: Kind = "link" if whole.is_symlink() else "folder" if whole.is_dir() else "file"
        assert tests.may_give(name, kind), path
        assert all(tests.enters(each, top=at == 0) for at, each in enumerate(folders[1:])), path
        assert tests.deepest is None or len(folders) <= tests.deepest, path


@pytest.fixture(scope="module")
def wood(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("wood")
    for folder in (".", "sec", "d", "e", "d/sec", "sec/d", "e/d/sec", "sec/sec"):
        (top / folder).mkdir(parents=True, exist_ok=True)
        for name in ("a.py", "b", "sec.py"):
            (top / folder / name).write_text("" if name != "b" else "x" * 2000)
        (top / folder / "al").symlink_to("b")
    (top / "e/sec").write_text("")
    (top / "b.py").mkdir()
    return top
