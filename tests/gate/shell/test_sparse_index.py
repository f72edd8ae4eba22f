"""Indexes of git that hold folders, or entries with more flags: what stands in them, and what may be hidden by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide
from .indexes import entry, index_of

FILE, FOLDER = 0o100644, 0o040000
SPARSE = b"sdir" + bytes(4)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in (".git/objects", ".git/refs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main")
    return tmp_path


def index(folder: Path, entries: list[bytes], end: bytes = b"", version: int = 3) -> None:
    (folder / ".git/index").write_bytes(index_of(*entries, extensions=end, version=version))


def test_a_folder_of_the_index_that_is_in_the_work_tree_may_hide_a_submodule(repository: Path) -> None:
    index(repository, [entry("a", FILE), entry("x/", FOLDER, extended=True)], SPARSE)
    for command in ("git status", "git log", "git describe --dirty"):
        assert decide(command, workspace=str(repository)) == "allow"
    (repository / "x").mkdir()
    for command in ("git status", "git log", "git describe --dirty"):
        assert decide(command, workspace=str(repository)) == "ask"


def test_an_index_with_folders_whose_entries_are_not_understood_asks(repository: Path) -> None:
    index(repository, [entry("x/", FOLDER)], SPARSE, version=4)
    assert decide("git status", workspace=str(repository)) == "ask"


def test_a_folder_of_the_index_may_hold_secrets_that_git_prints(repository: Path) -> None:
    index(repository, [entry("x/", FOLDER, extended=True)], SPARSE)
    assert decide("git diff HEAD", workspace=str(repository)) == "ask"


@pytest.mark.parametrize(("name", "decision"), [("a.txt", "allow"), (".env", "ask"), ("missdir", "allow")])
@pytest.mark.parametrize("extended", [True, False])
def test_entries_with_more_flags_are_read(name: str, decision: str, extended: bool, repository: Path) -> None:
    index(repository, [entry(name, FILE, extended=extended), entry("src/.env.example", FILE, extended=extended)])
    assert decide("git diff HEAD", workspace=str(repository)) == decision
    assert decide("git status", workspace=str(repository)) == "allow"
