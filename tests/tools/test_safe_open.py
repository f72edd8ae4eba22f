"""INVARIANT (same bytes): no link is followed, however it came to be there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from countersign.gate.permit import Stale
from countersign.settings.regular_file import NotRegular
from countersign.tools.files.safe_open import held_folder, held_or_made_folder, look, look_at, still_there
from countersign.tools.files.walk import held_for_listing, walk

BIG = 1 << 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve()
    (folder / "real/deep").mkdir(parents=True)
    (folder / "real/deep/a.txt").write_text("a")
    os.symlink("real", folder / "link")
    os.symlink("a.txt", folder / "real/deep/file-link")
    return folder


@pytest.mark.parametrize("path", ["link", "link/deep", "real/deep/file-link/x"])
@pytest.mark.parametrize("hold", [held_folder, held_or_made_folder, held_for_listing])
def test_a_link_on_the_way_is_met_as_stale(root: Path, path: str, hold: Any) -> None:
    with pytest.raises(Stale), hold(str(root / path)):
        pass


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("real/deep/file-link", NotRegular),
        ("real/deep", NotRegular),
        ("real/deep/missing", FileNotFoundError),
        ("real/missing/a.txt", FileNotFoundError),
        ("real/deep/a.txt/b", NotADirectoryError),
    ],
)
def test_only_a_regular_file_is_read(root: Path, path: str, error: type[OSError]) -> None:
    with pytest.raises(error):
        look_at(str(root / path), BIG)


def test_a_link_that_takes_a_files_place_between_look_and_open_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = (root / "real/deep/a.txt").stat()
    with held_folder(str(root / "real/deep")) as folder:
        monkeypatch.setattr(os, "stat", lambda *_, **__: status)
        with pytest.raises(NotRegular, match="is a link"):
            look(folder, "file-link", BIG)


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_a_file_that_changes_while_it_is_read_is_stale(root: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    read = os.read

    def read_and_disturb(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        with open(root / "real/deep/a.txt", mode) as file:
            file.write("b")
        return data

    monkeypatch.setattr(os, "read", read_and_disturb)
    with pytest.raises(Stale):
        look_at(str(root / "real/deep/a.txt"), BIG)


def test_bytes_beyond_the_bound_are_hashed_and_not_kept(root: Path) -> None:
    (root / "big").write_bytes(b"x" * 100)
    seen, whole = look_at(str(root / "big"), 99), look_at(str(root / "big"), 100)
    assert (seen.data, seen.size, seen.sha256) == (None, 100, whole.sha256)
    assert whole.data == b"x" * 100


def test_a_held_folder_that_was_moved_is_noticed(root: Path) -> None:
    path = str(root / "real/deep")
    with held_folder(path) as folder:
        assert still_there(path, folder)
        (root / "real/deep").rename(root / "away")
        assert not still_there(path, folder)
        (root / "real/deep").mkdir()
        assert not still_there(path, folder)
        (root / "real/deep").rmdir()
        os.symlink(root / "away", root / "real/deep")
        assert not still_there(path, folder)


def test_folders_that_were_made_go_again_when_nothing_came_of_it(root: Path) -> None:
    making = held_or_made_folder(str(root / "new/newer/newest"))
    making.__enter__()
    assert (root / "new/newer/newest").is_dir()
    failure = RuntimeError()
    assert not making.__exit__(RuntimeError, failure, None)
    assert not (root / "new").exists()


def test_a_folder_that_becomes_a_link_during_a_walk_is_not_entered(root: Path) -> None:
    (root / "outside").mkdir()
    (root / "outside/secret.txt").write_text("")
    found: list[str] = []

    def enter(path: str) -> bool:
        if path == "deep":
            (root / "real/deep").rename(root / "away")
            os.symlink(root / "outside", root / "real/deep")
        return True

    with held_for_listing(str(root / "real")) as folder:
        found += [item.path for item in walk(folder, enter)]
    assert found == ["deep"]


def test_a_walk_comes_to_what_tools_fill_last(root: Path) -> None:
    for name in ("a/node_modules/x", "a/b/y", "dist/z", "z/.git/w", "top"):
        path = root / "walked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    with held_for_listing(str(root / "walked")) as folder:
        files = [item.path for item in walk(folder, lambda _: True) if item.entry.kind == "file"]
    assert files == ["top", "a/b/y", "a/node_modules/x", "dist/z"]
