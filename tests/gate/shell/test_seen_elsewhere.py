"""Places that mean another file to git than to the gate: ``/proc/self/cwd`` is the folder of whoever looks, and
``/dev/stdin`` what the command is given. A repository that leads there is not one that the gate has read."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .asked import HOME, decide

EXTERNAL = "[diff]\n\texternal = ./evil.sh\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a tracked file that was changed."""
    top = tmp_path / "work"
    (top / "sub").mkdir(parents=True)
    (top / "evil.cfg").write_text(EXTERNAL)
    (top / "a.txt").write_text("a\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=top, check=True)
    (top / "a.txt").write_text("b\n")
    return top


def _included(path: str) -> Callable[[Path], None]:
    def make(top: Path) -> None:
        with (top / ".git/config").open("a") as file:
            file.write(f"[include]\n\tpath = {path}\n")

    return make


def _hooks(top: Path) -> None:
    with (top / ".git/config").open("a") as file:
        file.write("[core]\n\thooksPath = /proc/self/cwd/h\n")
    (top / "h").mkdir()
    (top / "h/post-index-change").touch(mode=0o755)


def _hooks_folder(top: Path) -> None:
    shutil.rmtree(top / ".git/hooks", ignore_errors=True)
    (top / ".git/hooks").symlink_to("/proc/self/cwd/h")


def _config(top: Path) -> None:
    shutil.move(top / ".git/config", top / "sub/config")
    with (top / "sub/config").open("a") as file:
        file.write(EXTERNAL)
    (top / ".git/config").symlink_to("/proc/self/cwd/sub/config")


def _common_folder(top: Path) -> None:
    (top / "sub/commondir").write_text(f"{top}/sub/other\n")
    (top / ".git/commondir").symlink_to("/proc/self/cwd/sub/commondir")


def _worktree_config(top: Path) -> None:
    (top / "sub/config.worktree").write_text(EXTERNAL)
    (top / ".git/config.worktree").symlink_to("/proc/self/cwd/sub/config.worktree")


def _index(top: Path) -> None:
    shutil.move(top / ".git/index", top / "sub/index")
    (top / ".git/index").symlink_to("/proc/self/cwd/sub/index")


MADE = {
    "settings included through /proc": _included("/proc/self/cwd/evil.cfg"),
    "settings included from the input": _included("/dev/stdin"),
    "hooks": _hooks,
    "the folder of hooks": _hooks_folder,
    "the file of settings": _config,
    "the folder of the repository": _common_folder,
    "the settings of a work tree": _worktree_config,
    "the index": _index,
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    "command", ["git diff -- a.txt", "git status", "git log", "git ls-files | xargs wc -l", "git diff a.txt < evil.cfg"]
)
def test_a_repository_that_leads_to_such_a_place_is_not_read_without_a_rule(
    made: str, command: str, repository: Path
) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "allow"
    MADE[made](repository)
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
