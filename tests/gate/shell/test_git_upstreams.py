"""Which commands make git set an upstream unasked; `tests/tools/sandbox/test_forecast.py` tries what git does then."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.risk import GIT_SETTINGS
from countersign.gate.shell.files import git_upstreams

from .asked import judge
from .test_linked_worktrees import a_repository, git


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    a_repository(tmp_path / "main")
    for name in ("packed", "loose"):
        git(tmp_path / "main", "branch", name)
    git(tmp_path, "clone", "-q", "main", "clone")
    git(tmp_path / "clone", "update-ref", "refs/remotes/origin/deep/er", "HEAD")
    return tmp_path / "clone"


def warns(command: str, folder: Path) -> bool:
    parts = judge(command, workspace=str(folder)).parts
    return any(GIT_SETTINGS in part.risks for part in parts)


@pytest.mark.parametrize("name", ["packed", "deep/er"])
@pytest.mark.parametrize(
    "command", ["git checkout {}", "git switch {}", "git worktree add x {}", "cd held; git switch {}"]
)
def test_a_branch_that_only_a_remote_has_sets_an_upstream(name: str, command: str, clone: Path) -> None:
    assert (clone / ".git/packed-refs").exists()
    git(clone, "worktree", "add", "-q", "-b", "topic", str(clone.parent / "linked"))
    for folder in (clone, clone.parent / "linked"):
        assert warns(command.format(name), folder)
        assert not warns(command.format("nothing"), folder)
    git(clone, "branch", name, "HEAD")
    for folder in (clone, clone.parent / "linked"):
        assert not warns(command.format(name), folder)


def test_no_more_is_read_than_a_few_megabytes(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert warns("git switch packed", clone)
    monkeypatch.setattr(git_upstreams, "_MOST_PACKED", 10)
    assert not warns("git switch packed", clone)


@pytest.mark.parametrize(
    "name", ["../../../etc/hosts", "a/../packed", "-", "pack*", "packed~0", "packed^{commit}", "$x"]
)
def test_what_is_no_name_of_a_branch_is_not_looked_up(name: str, clone: Path) -> None:
    assert not warns(f"git switch {name}", clone)
