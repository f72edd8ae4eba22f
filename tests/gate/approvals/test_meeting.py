"""What a shell's pattern may turn into, held against rules: none that could match is passed by."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import parse_path
from countersign.gate.patterns.errors import BadPattern

PARTS = st.text("ab.*?[]!\\-", min_size=1, max_size=5)
NAMES = st.text("ab.-!", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})


@pytest.mark.filterwarnings("ignore:Possible nested set", "ignore:Possible set")
@settings(max_examples=3000, deadline=None)
@given(
    st.lists(st.one_of(PARTS, st.just("**"), NAMES), min_size=1, max_size=3),
    st.lists(st.tuples(PARTS, NAMES), min_size=1, max_size=3),
    st.booleans(),
)
def test_a_rule_that_matches_what_a_pattern_turned_into_was_not_passed_by(
    rule: list[str], path: list[tuple[str, str]], folder: bool
) -> None:
    # To bash a backslash takes the meaning of what follows, in brackets too (`[!\]` has no end); Python knows no such.
    parts = [part if "\\" not in part and fnmatch.fnmatchcase(name, part) else name for part, name in path]
    names = [name for _, name in path]
    try:
        pattern = parse_path("/".join(rule) + "/" * folder)
    except BadPattern:
        assume(False)
        return
    if pattern.touches(names):
        assert pattern.may_touch(parts)


@pytest.mark.parametrize(
    ("rule", "parts", "could"),
    [
        ("private/**", "*.md", False),
        ("private/**", "p*", True),
        ("private/**", "*/k", True),
        (".env", "src/*.py", False),
        ("*.key", "src/*.k*", True),
        ("*.key", "src/*", True),
        ("a/b/**", "a/*.md", False),
        ("a/b.MD/**", "a/*.md", True),
        ("[ab].md", "[c-z]*.md", True),  # classes are not worked out
        ("**/deep/*.md", "*.md", False),
        ("**/deep/*.md", "x/d*/y.md", True),
        (r"x\*", "x?", True),
        (r"x\*", "x[*]", True),
        (r"x\*", "xy", False),
    ],
)
def test_what_could_match_is_told_from_what_cannot(rule: str, parts: str, could: bool) -> None:
    assert parse_path(rule).may_touch(parts.split("/")) is could
