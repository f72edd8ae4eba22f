"""A git command with ``-C`` is judged as it would be there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import decide

HOME = "/nowhere/home"

READING = """
git -C {ws} status --porcelain -b
git -C . status
git -C '' status
git -C packages/web diff --stat
git -C packages -C web log -3
git -C packages/web/.. --no-pager show HEAD
git -C packages/web -C ../.. branch --show-current
timeout 5 git -C packages log --oneline -- web
cd packages && git -C web status
git -C linked log
git -C packages/web rev-parse HEAD && git -C {ws}/packages diff
"""
ASKING = """
git -C {ws}/.. status
git -C .. status
git -C ../other status
git -C ~/other status
git -C /etc status
git -C missing status
git -C nested status
git -C packages -C ../nested status
git -C bare log
git -C to_nested status
git -C to_other status
git -C linked/.. status
git -C linked/../nested log
git -C "$x" status
git -C $(pwd) status
git -C pack* status
git -C packages diff *
git -C packages show HEAD:.env
git -C packages show HEAD:./.env
git -C packages diff ../.env
git -C packages grep x -- ../.env
git -C packages -c core.pager=x log
git -C packages --git-dir=../nested/.git log
git -C packages --exec-path=x log
git -C packages -p log
git -C packages push
git -C packages branch x
git -C packages log > out.txt
git -C packages log --output=x
git -C packages x
git -Cpackages log
git -C packages
GIT_DIR=x git -C packages log
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "packages/web").mkdir(parents=True)
    (folder / "packages/web/a.ts").write_text("x\n")
    (folder / ".env").write_text("x\n")
    for name in (folder, folder / "nested", tmp_path / "other"):
        subprocess.run(["git", "init", "-q", "-b", "main", str(name)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(folder / "bare")], check=True)
    with (folder / "nested/.git/config").open("a") as config:
        config.write("[diff]\n\texternal = ./evil\n")
    (folder / "linked").symlink_to("packages/web")
    (folder / "to_nested").symlink_to("nested")
    (folder / "to_other").symlink_to("../other")
    return folder


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_reading_there_needs_no_rule(command: str, workspace: Path) -> None:
    assert decide(command.format(ws=workspace), workspace=str(workspace), home=HOME) == "allow"


@pytest.mark.parametrize("command", ASKING.strip().splitlines())
def test_what_would_ask_there_asks(command: str, workspace: Path) -> None:
    assert decide(command.format(ws=workspace), workspace=str(workspace), home=HOME) == "ask"


def test_rules_count_there(workspace: Path) -> None:
    where = {"workspace": str(workspace), "home": HOME}
    assert decide("git -C packages diff", **where, deny=["Read(packages/**)"]) == "deny"
    assert decide("git -C packages diff web", **where, deny=["Read(packages/web/**)"]) == "deny"
    assert decide("git -C packages diff", **where, deny=["Read(docs/**)"]) == "ask"
    assert decide("git -C packages log", **where, deny=["Bash(git log:*)"]) == "deny"
    assert decide("git -C packages log", **where, deny=["Bash(git -C *)"]) == "deny"
    assert decide("git -C packages log", **where, mode="ask") == "ask"


def test_a_folder_in_the_home_is_no_folder_of_that_name_here(workspace: Path) -> None:
    for folder in ("~/other", "/nowhere/other", "../other"):
        assert decide(f"git -C {folder} log", workspace=str(workspace), home=HOME, allow=["Bash(git:*)"]) == "ask"
    assert decide("git -C packages log", workspace=str(workspace), home=HOME, allow=["Bash(git:*)"]) == "allow"
