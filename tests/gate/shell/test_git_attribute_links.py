"""git prints lines of a file of attributes, so links by which it reads one elsewhere ask (docs/gate.md S9)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import HOME, decide

PRINTING = ("git log -p", "git show HEAD", "git diff HEAD~1", "git log --stat", "git grep a HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone in whose history a folder gave way to a link out of it."""
    top, outside = tmp_path / "ws", tmp_path / "outside"
    (top / "src").mkdir(parents=True)
    outside.mkdir()
    _git(top, "init", "-q", "-b", "main")
    (top / "src/a.py").write_text("x\n")
    (top / "b.py").write_text("x\n")
    _commit(top)
    (top / "src/a.py").unlink()
    (top / "src").rmdir()
    (top / "src").symlink_to("../outside")
    _commit(top)
    return top


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout + done.stderr


def _commit(top: Path) -> None:
    _git(top, "add", "-A")
    _git(top, "commit", "-q", "-m", "x")


@pytest.mark.parametrize("command", PRINTING)
def test_attributes_behind_a_link_ask(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "allow"
    (repository / "../outside/.gitattributes").write_text("a.py SECRET!x\n")
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


def test_git_prints_them(repository: Path) -> None:
    (repository / "../outside/.gitattributes").write_text("a.py SECRET!x\n")
    assert "SECRET!x" in _git(repository, "log", "-p")


@pytest.mark.parametrize("name", [".gitattributes", ".mailmap", ".gitignore", "lib/.gitattributes", "lib/.gitignore"])
def test_a_link_in_the_place_of_such_a_file_asks(name: str, tmp_path: Path) -> None:
    """git before 2.32 follows it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("x\n")
    _git(tmp_path, "init", "-q")
    _commit(tmp_path)
    assert decide("git diff", workspace=str(tmp_path), home=HOME) == "allow"
    (tmp_path / name).symlink_to("/etc/hostname")
    _commit(tmp_path)
    assert decide("git diff", workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git log -p", workspace=str(tmp_path), home=HOME) == "ask"


def test_links_that_stay_go_on(repository: Path) -> None:
    (repository / "lib").mkdir()
    (repository / "lib/.gitattributes").write_text("*.py text\n")
    (repository / "link").symlink_to("lib")
    _commit(repository)
    assert decide("git log -p", workspace=str(repository), home=HOME) == "allow"
