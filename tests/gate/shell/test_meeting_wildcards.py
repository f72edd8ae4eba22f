"""Whether a command that is only known in pieces may match a rule, held against a slow way: letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from countersign.gate.patterns import wildcards_meet
from countersign.gate.shell.rules.match import known_pieces
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant

pieces = st.lists(st.text("ab ", max_size=3), min_size=1, max_size=4)


def letters(pieces: Sequence[str]) -> list[str | None]:
    """The same with None for any text."""
    found: list[str | None] = [*pieces[0]]
    for piece in pieces[1:]:
        found += (None, *piece)
    return found


def have_a_common_text(left: Sequence[str | None], right: Sequence[str | None]) -> bool:
    """By trying each letter of the one against each of the other."""
    if not left or not right:
        return all(each is None for each in (*left, *right))
    if left[0] is None:
        return have_a_common_text(left[1:], right) or have_a_common_text(left, right[1:])
    if right[0] is None:
        return have_a_common_text(left, right[1:]) or have_a_common_text(left[1:], right)
    return left[0] == right[0] and have_a_common_text(left[1:], right[1:])


@settings(deadline=None, max_examples=500)
@given(pieces, pieces)
@example([""], [""])
@example(["", ""], [""])
@example(["a", "b", "a"], ["aba"])
@example(["ab", ""], ["", "ba"])
def test_wildcards_meet_as_they_do_letter_by_letter(one: list[str], other: list[str]) -> None:
    assert wildcards_meet(one, other) is have_a_common_text(letters(one), letters(other))


def known_letters(words: Sequence[Word]) -> list[str | None]:
    """A command's text with None for what is not known, and no more than 2,000 letters of it."""
    text: list[str | None] = []
    for index, word in enumerate(words):
        if index and (word.value is not None or word.prefix):
            text.append(" ")
        value = word.prefix if word.value is None else word.value if index else word.value.rsplit("/", 1)[-1]
        text += value[:400] if word.value is not None else value
        if word.value is None or len(value) > 400:
            text.append(None)
    return text if len(text) <= 2000 else [*text[:2000], None]


values = st.one_of(st.text("ab/-", max_size=5), st.integers(390, 410).map("a".__mul__), st.just("b" * 1600))
words = st.lists(
    st.one_of(values.map(constant), values.map(lambda value: constant("x")._replace(value=None, prefix=value))),
    min_size=1,
    max_size=9,
)


@settings(deadline=None, max_examples=300)
@given(words)
@example([constant("a" * 400)] * 5)
@example([constant("b" * 1996), constant("a")._replace(value=None, prefix="abc"), constant("x")])
@example([constant("x")._replace(value=None, prefix="a" * 2000), constant("x")])
@example([constant("x")._replace(value=None, prefix="a" * 1999), constant("x")])
def test_what_is_known_of_a_command_is_the_same_in_pieces_and_in_letters(words: list[Word]) -> None:
    found = known_pieces(words)
    assert merged(letters(found)) == merged(known_letters(words))


def merged(text: Sequence[str | None]) -> list[str | None]:
    """With one None for several beside each other."""
    return [each for at, each in enumerate(text) if each is not None or not at or text[at - 1] is not None]
