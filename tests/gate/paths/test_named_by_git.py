"""What the repository's own git settings name asks before it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.advice.explain import check_line
from tests.gate.shell.asked import BASH

CONFIG = """\
[core]
\thooksPath = .githooks
[include] path = ../.gitconfig
[includeIf "onbranch:x"]
\tpath = "../conf/more"
[filter "x"]
\tclean = ./scripts/clean %f
\tsmudge = cat
[remote "origin"]
\turl = vendor/copy
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tmerge = refs/heads/main
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    top = tmp_path / "ws"
    (top / ".git").mkdir(parents=True)
    (top / ".git/config").write_text(CONFIG)
    (top / ".gitconfig").write_text("[diff]\n\texternal = sh tools/diff.sh\n")
    return top


def decided(workspace: Path, tool: str, **args: str) -> str:
    question = {"tool": tool, "args": args, "workspace": str(workspace), "home": str(workspace.parent)}
    return json.loads(check_line(json.dumps({**question, "mode": "acceptEdits"}).encode(), check_syntax=BASH))[
        "decision"
    ]


@pytest.mark.parametrize(
    "path", [".githooks/pre-commit", ".gitconfig", "conf/more", "scripts/clean", "SCRIPTS/Clean", "tools/diff.sh"]
)
def test_a_file_that_git_settings_name_asks(workspace: Path, path: str) -> None:
    assert decided(workspace, "write", path=path, content="x") == "ask"


@pytest.mark.parametrize(
    "path", ["scripts/other", "vendor/copy", "refs/heads/main", "cat", "src/a.txt", ".githooks2/x"]
)
def test_what_they_do_not_name_is_edited(workspace: Path, path: str) -> None:
    assert decided(workspace, "write", path=path, content="x") == "allow"


@pytest.mark.parametrize("command", ["touch .githooks/x", "mv scripts s", "rm -r .githooks"])
def test_commands_ask_too(workspace: Path, command: str) -> None:
    (workspace / "scripts").mkdir()
    assert decided(workspace, "bash", command=command) == "ask"


def test_settings_that_change_count_at_once(workspace: Path) -> None:
    assert decided(workspace, "write", path="ci/hook", content="x") == "allow"
    (workspace / ".git/config").write_text("[core]\n\thookspath = ci\n")
    assert decided(workspace, "write", path="ci/hook", content="x") == "ask"
    assert decided(workspace, "write", path="scripts/clean", content="x") == "allow"


def test_settings_that_include_each_other_end(workspace: Path) -> None:
    (workspace / ".gitconfig").write_text("[include]\n\tpath = .git/config\n\tpath = .gitconfig\n")
    assert decided(workspace, "write", path="a.txt", content="x") == "allow"
