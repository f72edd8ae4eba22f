"""Which repository git finds: a `.git` folder that it does not take for one sends it to the folders above, and a path
in the settings that goes back over a link leads elsewhere than its text says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from countersign.gate.probes import disk

from .asked import decide
from .test_linked_worktrees import a_repository, git


def asked(folder: Path, command: str = "git status", **more: Any) -> str:
    return decide(command, workspace=str(folder), home="/nowhere/home", **more)


def a_program(path: Path) -> Path:
    """One that leaves a mark beside itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {path.parent}/mark\n")
    path.chmod(0o755)
    return path


def add_settings(repository: Path, text: str) -> None:
    config = repository / ".git/config"
    config.write_text(f"{config.read_text()}{text}\n")


def _no_head(git_dir: Path) -> None:
    (git_dir / "HEAD").unlink()


def _head_of_other_form(git_dir: Path) -> None:
    (git_dir / "HEAD").write_text("reference\n")


def _head_is_a_folder(git_dir: Path) -> None:
    (git_dir / "HEAD").unlink()
    (git_dir / "HEAD").mkdir()


def _head_links_to_a_file(git_dir: Path) -> None:
    (git_dir / "HEAD").rename(git_dir / "head")
    (git_dir / "HEAD").symlink_to("head")


def _no_refs(git_dir: Path) -> None:
    shutil.rmtree(git_dir / "refs")


def _objects_are_a_file(git_dir: Path) -> None:
    shutil.rmtree(git_dir / "objects")
    (git_dir / "objects").write_text("")


def _nothing(git_dir: Path) -> None:
    shutil.rmtree(git_dir)
    git_dir.mkdir()


UNLIKE = (
    _nothing, _no_head, _head_of_other_form, _head_is_a_folder, _head_links_to_a_file, _no_refs, _objects_are_a_file,
)  # fmt: skip


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """A repository with one in its folder ``sub``."""
    outer = a_repository(tmp_path / "outer")
    a_repository(outer / "sub")
    return outer


@pytest.mark.parametrize("change", UNLIKE)
def test_a_folder_that_git_takes_for_no_repository_counts_for_none(change: Callable[[Path], None], outer: Path) -> None:
    assert asked(outer, "cd sub && git status") == "allow"
    change(outer / "sub/.git")
    program = a_program(outer.parent / "marks/program")
    add_settings(outer, f"[core]\n\tfsmonitor = {program}")
    git(outer / "sub", "status")
    assert (program.parent / "mark").exists()
    assert asked(outer, "cd sub && git status") == "ask"


@pytest.mark.parametrize("change", UNLIKE)
def test_it_opens_no_repository_above_the_workspace(change: Callable[[Path], None], outer: Path) -> None:
    assert asked(outer / "sub", "git log -p") == "allow"
    change(outer / "sub/.git")
    assert "held" in git(outer / "sub", "log", "-p")
    assert asked(outer / "sub", "git log -p") == "ask"


def test_a_rule_does_not_stop_at_it(tmp_path: Path) -> None:
    """Without `known`: below a folder that has the form of a repository itself."""
    for name in ("HEAD", "objects/x", "refs/x", "sub/.git/x"):
        (tmp_path / "ws" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ws" / name).write_text("")
    assert asked(tmp_path / "ws", "cd sub && git fetch", allow=["Bash(cd *)", "Bash(git *)"]) == "ask"


def test_the_forms_of_head_that_git_writes_count(outer: Path) -> None:
    git(outer, "checkout", "-q", "--detach")
    assert asked(outer) == "allow"
    (outer / ".git/HEAD").unlink()
    (outer / ".git/HEAD").symlink_to("refs/heads/main")
    git(outer, "status")
    assert asked(outer) == "allow"


def test_a_decision_notices_that_the_folder_changed(outer: Path) -> None:
    with disk.record_probes() as looks:
        assert asked(outer, "cd sub && git status") == "allow"
    assert disk.unchanged(looks)
    _no_refs(outer / "sub/.git")
    assert not disk.unchanged(looks)


def test_hooks_are_looked_for_where_a_link_leads(tmp_path: Path) -> None:
    outer = a_repository(tmp_path / "outer")
    hook = a_program(outer / ".git/far/hooks/post-index-change")
    (outer / ".git/far/away").mkdir()
    (outer / "near").symlink_to(".git/far/away")
    add_settings(outer, "[core]\n\thooksPath = near/../hooks")
    (outer / "a.txt").touch()
    git(outer, "status")
    assert (hook.parent / "mark").exists()
    assert asked(outer) == "ask"


@pytest.mark.parametrize("value", ["deep/near/../../evil", "./deep/near/../../evil"])
def test_included_settings_are_looked_for_where_a_link_leads(value: str, tmp_path: Path) -> None:
    outer = a_repository(tmp_path / "outer")
    program = a_program(tmp_path / "marks/program")
    (outer / "x/y").mkdir(parents=True)
    (outer / ".git/deep").mkdir()
    (outer / ".git/deep/near").symlink_to("../../x/y")
    (outer / "evil").write_text(f"[core]\n\tfsmonitor = {program}\n")
    add_settings(outer, f"[include]\n\tpath = {value}")
    git(outer, "status")
    assert (program.parent / "mark").exists()
    assert asked(outer) == "ask"


def test_settings_that_are_a_folder_are_no_error(outer: Path) -> None:
    (outer / ".git/config").unlink()
    (outer / ".git/config").mkdir()
    assert asked(outer) in {"allow", "ask"}
    assert disk.beginning(str(outer), 10) is None
