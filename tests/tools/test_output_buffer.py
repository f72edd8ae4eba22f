"""What is kept of output, and how it is read on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.tools.shell.output_buffer import HALF, KeptOutput, text_from


def kept(*pieces: bytes, half: int = 4) -> KeptOutput:
    output = KeptOutput(half)
    for piece in pieces:
        output.append(piece)
    return output


@pytest.mark.parametrize(
    ("output", "start", "most", "ended", "expected"),
    [
        (kept(), 0, 100, False, ("", 0, True)),
        (kept(b"abc"), 0, 100, False, ("abc", 3, True)),
        (kept(b"abc"), 1, 1, False, ("b", 2, True)),
        (kept(b"abc"), -5, 100, False, ("abc", 3, True)),
        (kept(b"abc"), 99, 100, False, ("", 3, True)),
        (kept(b"abcd", b"efgh"), 0, 100, False, ("abcdefgh", 8, True)),
        (kept(b"abcdefgh"), 3, 2, False, ("de", 5, True)),
        (kept(b"abcd", b"0123456789", b"wxyz"), 0, 100, True, ("abcd\n[… 10 bytes were dropped …]\nwxyz", 18, False)),
        (kept(b"abcd", b"0123456789", b"wxyz"), 6, 100, True, ("\n[… 8 bytes were dropped …]\nwxyz", 18, False)),
        (kept(b"abcd", b"0123456789", b"wxyz"), 15, 100, True, ("xyz", 18, True)),
        (kept("aé".encode()[:2]), 0, 100, False, ("a", 1, True)),
        (kept("aé".encode()[:2]), 0, 100, True, ("a\ufffd", 2, True)),
        (kept("é".encode()[:1]), 0, 100, False, ("", 0, True)),
        (kept("🙂".encode()), 0, 3, False, ("", 0, True)),
        (kept("🙂a".encode(), half=99), 0, 5, False, ("🙂a", 5, True)),
        (kept(b"\xff\xfe"), 0, 100, False, ("\ufffd\ufffd", 2, True)),
    ],
)
def test_output_is_read_from_an_offset(
    output: KeptOutput, start: int, most: int, ended: bool, expected: tuple[str, int, bool]
) -> None:
    assert text_from(output, start, most, ended=ended) == expected


@given(st.lists(st.binary(max_size=40)), st.integers(1, 16))
def test_both_ends_survive_whatever_comes(pieces: list[bytes], half: int) -> None:
    output, whole = kept(*pieces, half=half), b"".join(pieces)
    assert output.total == len(whole)
    assert output.read(0, half).data == whole[:half]
    end = max(half, len(whole) - half)
    assert output.read(end, half).data == whole[end:]
    assert len(whole) - output.dropped == min(len(whole), 2 * half)


@given(st.text(), st.integers(1, 7))
def test_reading_on_piece_by_piece_gives_the_whole_text(text: str, step: int) -> None:
    output = kept(text.encode(), half=1 << 20)
    read, at = "", 0
    while at < output.total:
        piece, at, whole = text_from(output, at, max(step, 4), ended=True)
        assert whole
        read += piece
    assert read == text


def test_a_mebibyte_is_kept_of_any_amount() -> None:
    output = KeptOutput()
    for _ in range(100):
        output.append(b"x" * 100_000)
    assert output.total == 10_000_000
    assert output.total - output.dropped == 2 * HALF == 1 << 20
