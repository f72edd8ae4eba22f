"""A name that somebody else chose: what stands there may be a pipe, a device, a folder or a link."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from countersign.settings.regular_file import NotRegular, open_regular, read_regular


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("behind"))
    path.symlink_to("behind")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [pipe, link_to_pipe, device, Path.mkdir])
def test_only_a_regular_file_is_opened_and_nothing_stays_open(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x")
    before = os.listdir("/dev/fd")
    with pytest.raises(NotRegular):
        read_regular(tmp_path / "x", 10)
    assert len(os.listdir("/dev/fd")) == len(before)


def test_so_many_bytes_are_read_and_the_file_is_closed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")
    before = os.listdir("/dev/fd")
    assert read_regular(tmp_path / "x", 4) == b"0123"
    assert read_regular(str(tmp_path / "x"), 400) == b"0123456789"
    assert len(os.listdir("/dev/fd")) == len(before)


def test_a_link_is_followed_unless_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"text")
    (tmp_path / "y").symlink_to("x")
    assert read_regular(tmp_path / "y", 9) == b"text"
    with pytest.raises(OSError, match="symbolic links"):
        open_regular(tmp_path / "y", follows_link=False)


def test_what_cannot_be_a_path_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="null"):
        read_regular(f"{tmp_path}/a\0b", 1)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "missing", 1)
