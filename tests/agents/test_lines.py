"""Splitting a stream into lines: the same lines however the bytes are cut, in linear time, within a limit."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.agents.lines import Lines, LineTooLong


@given(st.lists(st.text("ab\n").map(str.encode)))
def test_lines_are_the_same_however_the_bytes_are_cut(chunks: list[bytes]):
    lines = Lines(1 << 20)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert [*found, lines.rest()] == b"".join(chunks).split(b"\n")


def test_a_long_line_that_comes_byte_by_byte_takes_linear_time():
    lines = Lines(32 << 20)
    lines.feed(b"x" * (24 << 20))
    began = time.thread_time()
    for _ in range(20_000):
        lines.feed(b"x")
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("chunks", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"x" * 11 + b"\n"], [b"a\n" + b"x" * 11]])
def test_a_line_over_the_limit_is_refused_before_it_ends(chunks: list[bytes]):
    lines = Lines(10)
    *taken, last = chunks
    for chunk in taken:
        lines.feed(chunk)
    with pytest.raises(LineTooLong):
        lines.feed(last)
