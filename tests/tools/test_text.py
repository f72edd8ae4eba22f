"""Edits of text, and the counts that go with them."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.gate.call import BadArguments
from countersign.tools.files.text import Replacing, count_changes, decode, edited, for_reading


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("one two", [("one", "1")], "1 two"),
        ("one two", [("one", "1"), ("1 t", "1t")], "1two"),
        ("a\r\nb\r\n", [("a\nb", "a\nx\nb")], "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", [("a\r\nb", "c\r\nd")], "c\r\nd\r\n"),
        ("a\r\nb\nc\n", [("b\n", "x\n")], "a\r\nx\nc\n"),
        ("a\r\r\nb\r\n", [("b", "c")], "a\r\r\nc\r\n"),
        ("\ufeffa\r\nb", [("a\nb", "a\nb\nc")], "\ufeffa\r\nb\r\nc"),
        ("\ufeffa", [("a", "b")], "\ufeffb"),
        ("keep", [("keep", "")], ""),
        ("no newline at the end", [("end", "END")], "no newline at the END"),
        (r"\1 and \g<0>", [(r"\1", r"\g<0>")], r"\g<0> and \g<0>"),
    ],
)
def test_edits_apply_in_order_and_keep_the_files_manner(text: str, edits: list[tuple[str, str]], expected: str) -> None:
    assert edited(text, [Replacing(*edit) for edit in edits]) == expected


@pytest.mark.parametrize(
    ("text", "edits", "told"),
    [
        ("abc", [("x", "y")], "(0 times)"),
        ("aXbX", [("X", "y")], "occurs 2 times"),
        ("aaa", [("aa", "b")], "occurs 2 times"),
        ("abc", [("", "y")], "is empty"),
        ("abc", [("b", "b")], "change nothing"),
        ("ab", [("a", "b"), ("b", "c")], "old_text of edit 2 occurs 2 times"),
        ("a\nb\n", [("a\r\nb", "x")], "(0 times)"),
    ],
)
def test_an_edit_that_does_not_fit_says_how_often_its_text_occurs(
    text: str, edits: list[tuple[str, str]], told: str
) -> None:
    with pytest.raises(BadArguments, match=told.replace("(", r"\(").replace(")", r"\)")):
        edited(text, [Replacing(*edit) for edit in edits])


@pytest.mark.parametrize(("data", "told"), [(b"\x89PNG\0", "binary"), (b"caf\xe9", "not UTF-8")])
def test_what_is_no_text_is_refused_by_name(data: bytes, told: str) -> None:
    with pytest.raises(BadArguments, match=f"`x` .*{told}"):
        decode(data, "x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\ufeffa\r\nb\r\n", "a\nb\n"), ("a\r\nb\n", "a\r\nb\n"), ("a\nb", "a\nb"), ("a\rb", "a\rb"), ("", "")],
)
def test_a_model_reads_line_feeds(text: str, expected: str) -> None:
    assert for_reading(text) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", (0, 0)),
        ("", "a\nb\n", (2, 0)),
        ("a\nb\n", "", (0, 2)),
        ("a\nb\nc\n", "a\nx\nc\n", (1, 1)),
        ("a\n", "a", (1, 1)),
        ("a\nb\nc\nd\n", "b\nc\nd\na\n", (1, 1)),
        ("".join(f"{n}\n" for n in range(5000)), "".join(f"x{n}\n" for n in range(3000)), (3000, 5000)),
    ],
)
def test_changed_lines_are_counted(old: str, new: str, expected: tuple[int, int]) -> None:
    assert count_changes(old, new) == expected


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_counts_are_those_of_a_shortest_difference(before: list[str], after: list[str]) -> None:
    added, removed = count_changes("\n".join([*before, ""]), "\n".join([*after, ""]))
    assert added - removed == len(after) - len(before)
    listed = [line[0] for line in difflib.ndiff(before, after)]
    assert added <= listed.count("+")
    assert added >= len(after) - sum(min(before.count(letter), after.count(letter)) for letter in "abc")
