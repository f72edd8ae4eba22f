"""Git commands whose words git prints: names of objects, and of the branch that is checked out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.files.git_contents import KNOWN_LATER

from .asked import decide

HOME = "/nowhere/home"

READING = """
git diff $(git merge-base main HEAD)..HEAD --stat
git log --oneline "$(git merge-base main HEAD 2>/dev/null)..HEAD"
git diff "$(git merge-base main HEAD)" -- src
BASE=$(git merge-base HEAD main) && git diff "$BASE" --stat
base=$(git merge-base main HEAD); git diff ${base}...HEAD --name-only
for c in $(git rev-list --max-count=5 HEAD); do git show --stat --oneline $c | head -5; done
git rev-list -n 3 HEAD | while read -r c; do git show --stat $c; done
git show "$(git rev-parse HEAD~1)" --stat
git show $(git rev-parse --verify -q --short=8 main~2^2):src/a.py
branch=$(git branch --show-current); git log main.."$branch"
ref=$(git rev-parse --abbrev-ref HEAD) && git log --oneline main..$ref
git show $(git rev-list --max-parents=0 HEAD | tail -1)
git show --stat $(git rev-list -3 --reverse --since=yesterday HEAD -- src)
git -C src diff $(git -C src merge-base main HEAD)
git log --oneline main..$(git branch --show-current)
git log --oneline "origin/$(git rev-parse --abbrev-ref HEAD)..HEAD"
git log "$(git symbolic-ref --short HEAD)" -3
"""
ASKING = """
git show $(git rev-parse HEAD:.env)
git show $(git rev-parse .env)
git show $(git rev-parse --verify HEAD):.env
git show $(git rev-list -1 HEAD):.env
for c in $(git rev-list -5 HEAD); do git show $c:.env; done
git log $(git rev-parse "$x")
git log $(git rev-parse -- --output=x)
git log $(git rev-parse --output=x)
git log $(git rev-parse --sq-quote --output=x)
git log $(git rev-parse --git-dir)
git log $(git rev-parse HEAD main..side)
git log $(git rev-parse main..side)
git log $(git rev-parse HEAD^@)
git show $(git rev-list --objects HEAD)
git show $(git rev-list --boundary main..HEAD)
git show $(git rev-list --format=%s HEAD)
git show $(git rev-list -1 --pretty HEAD)
git show $(git rev-list --stdin)
git show $(git rev-list HEAD | head 5)
git show $(git rev-list HEAD | head -c 3)
git show $(git rev-list HEAD | tee --output=x)
git show $(git merge-base -h)
git log $(git describe --tags)..HEAD
git log main..$(git describe --tags --abbrev=0)
git log $(git tag | tail -1)
git log $(git log -1 --format=%H)
git log -n$(git rev-parse HEAD)
git log -$(git rev-parse --short HEAD)
git log --output=$(git rev-parse HEAD)
git log $(git rev-parse HEAD; echo --output=x)
git log $(git rev-parse HEAD || echo --output=x)
git log $(git rev-parse HEAD 2>&1)
git log $(GIT_DIR=x git rev-parse HEAD)
git log $(git --git-dir=x rev-parse HEAD)
git log $(git -c alias.x=y rev-parse HEAD)
git log $(./git rev-parse HEAD)
git log $(git branch --show-current --list)
c=$(git rev-parse HEAD); c=$(cat x); git log $c
c=$(git rev-parse HEAD); c+=x; git log $c
if cat x; then c=$(git rev-parse HEAD); fi; git log $c
c=$(git rev-parse HEAD); . ./x.sh; git log $c
git branch x $(git rev-parse HEAD)
git branch $(git rev-parse HEAD)
git symbolic-ref HEAD $(git rev-parse HEAD)
git symbolic-ref $(git rev-list -2 HEAD)
git -c core.pager=$(git rev-parse HEAD) log
sort $(git rev-parse HEAD)
sed "s/a/b/$(git rev-parse HEAD)" src/a.py
c=$(git rev-parse HEAD); sed "s/a/b/$c" src/a.py
git show $(git branch --show-current):.env
git log origin/$(git describe)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.py").write_text("x\n")
    _git(folder, "init", "-q", "-b", "side")
    _git(folder, "add", ".")
    return folder


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_names_that_git_prints_count_as_names(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "allow"


@pytest.mark.parametrize("command", ASKING.strip().splitlines())
def test_what_may_be_anything_else_asks(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


PUSHING = """
allow | git push -u origin "$(git branch --show-current)"
allow | git push -u origin $(git branch --show-current)
allow | git add -A && git commit -m x && git push -u origin "$(git rev-parse --abbrev-ref HEAD)"
allow | b=$(git branch --show-current); git push origin "$b"
allow | git push origin $(git rev-parse HEAD):refs/heads/x
ask | git checkout -b x && git push "$(git branch --show-current)"
ask | git push origin "$(git describe)"
ask | git checkout - && git push origin "$(git branch --show-current)"
ask | git symbolic-ref HEAD refs/heads/--exec=x; git push origin "$(git branch --show-current)"
ask | gh pr checkout 3 && git push origin "$(git branch --show-current)"
ask | cd src; b=$(git branch --show-current); cd other; git push origin "$b"
ask | git push origin "$(git -C other branch --show-current)"
ask | bash -c 'git push origin "$(git branch --show-current)"'
"""


@pytest.mark.parametrize("row", PUSHING.strip().splitlines())
def test_the_branch_that_is_checked_out(row: str, repository: Path) -> None:
    expected, command = row.split(" | ", 1)
    allow = [
        f"Bash({name}:*)" for name in ("git push", "git add", "git commit", "git checkout", "gh", "git symbolic-ref")
    ]
    assert decide(command, workspace=str(repository), home=HOME, allow=allow) == expected
    for head in ("ref: refs/heads/--exec=x\n", "ref: refs/heads/-x\n", "ref: refs/heads/a b\n", "x"):
        (repository / ".git/HEAD").write_text(head)
        if "rev-parse HEAD" not in command:
            assert decide(command, workspace=str(repository), home=HOME, allow=allow) == "ask"
    (repository / ".git/HEAD").write_text("ref: refs/heads/side\n")
    assert decide(command, workspace=str(repository), home=HOME, allow=allow, deny=["Bash(git push * main)"]) == "ask"


def test_a_branch_may_stand_for_another(repository: Path) -> None:
    git = repository / ".git"
    where = {"workspace": str(repository), "home": HOME, "allow": ["Bash(git push:*)"]}
    command = 'git push origin "$(git branch --show-current)"'
    assert decide(command, **where) == "allow"
    (git / "refs/heads/side").write_text(f"{'1' * 40}\n")
    assert decide(command, **where) == "allow"
    (git / "refs/heads/--exec=x").write_text(f"{'1' * 40}\n")
    (git / "refs/heads/side").write_text("ref: refs/heads/--exec=x\n")
    assert decide(command, **where) == "ask"
    (git / "refs/heads/side").unlink()
    (git / "refs/heads/side").symlink_to("--exec=x")
    assert decide(command, **where) == "ask"
    (git / "refs/heads/side").unlink()
    (git / "HEAD").unlink()
    (git / "HEAD").symlink_to("refs/heads/--exec=x")
    assert decide(command, **where) == "ask"
    (git / "HEAD").unlink()
    (git / "HEAD").write_text(f"{'1' * 40}\n")
    assert decide(command, **where) == "allow"


def test_rules_still_speak_of_such_words(repository: Path) -> None:
    for command in ("git show $(git rev-parse HEAD)", "c=$(git rev-parse HEAD); git show $c --patch"):
        assert decide(command, workspace=str(repository), home=HOME) == "allow"
        assert decide(command, workspace=str(repository), home=HOME, deny=["Read(src/**)"]) == "ask"
        assert decide(command, workspace=str(repository), home=HOME, ask=["Bash(git rev-parse:*)"]) == "ask"
        assert decide(command, workspace=str(repository), home=HOME, deny=["Bash(git show:*)"]) == "deny"
        assert decide(command, workspace=str(repository), home=HOME, deny=["Bash(git show 1234:*)"]) == "ask"


def test_a_file_called_like_the_stand_in_limits_nothing(repository: Path) -> None:
    (repository / "id_rsa").write_text("x\n")
    _git(repository, "add", "-f", ".")
    assert decide("git diff --cached src", workspace=str(repository), home=HOME) == "allow"
    for number in KNOWN_LATER:
        (repository / number).write_text("x\n")
    for command in ("git diff $(git rev-parse HEAD)", "git diff HEAD -- $(git rev-parse HEAD)"):
        assert decide(command, workspace=str(repository), home=HOME) == "ask"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)
