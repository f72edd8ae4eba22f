"""git takes some options out before it gives others their values, so that each value moves by a word, reads letters
behind digits, and passes over words that look like paths (docs/gate.md S9).

``git log`` and its like read their words twice (`builtin/log.c`), and ``git stash show`` sorts them first
(`builtin/stash.c`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from .asked import HOME, decide

SECRET = "the contents of a key"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One in which a secret was committed, changed, and put away."""
    folder = tmp_path_factory.mktemp("repository")
    _git(folder, "init", "-q", "-b", "main")
    (folder / "docs").mkdir()
    (folder / "receive").mkdir()
    for number in (1, 2):
        (folder / "docs/x").write_text(f"{number}\n")
        (folder / "server.pem").write_text(f"{SECRET} {number}\n")
        _git(folder, "add", ".")
        _git(folder, "commit", "-q", "-m", "x")
    (folder / "server.pem").write_text(f"{SECRET} 3\n")
    _git(folder, "stash", "-q")
    return folder


def _git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


MOVED = [
    "git show --encoding --decorate --stat", "git show --encoding --decorate -s HEAD",
    "git show --src-prefix -q --dst-prefix HEAD:server.pem -- docs",
    "git show --src-prefix --decorate-refs=x --dst-prefix HEAD:server.pem -- docs",
    "git show -S -q --src-prefix HEAD:server.pem -p -- docs",
    "git show -s --line-prefix -q -n HEAD:server.pem -- docs", "git log -p --src-prefix --decorate-refs -- docs",
    "git log -p --line-prefix --decorate-refs-exclude -- docs",
    "git whatchanged -p --src-prefix --decorate-refs -- docs",
    "git stash show -n 0 --stat", "git stash show --max-count 0 -s", "git stash show --encoding 0 --stat",
    "git grep -0ve docs", "git grep -3vA 1 docs", "git grep -5hve docs/x", "git grep -1vhe docs HEAD",
    "git log -p --ignore-missing HEAD docs", "git -C docs log -p --ignore-missing --all x",
    "git whatchanged -p --ignore-missing HEAD docs", "git log -p --exclude-hidden receive",
]  # fmt: skip


LIKE_OPTIONS = [
    "git show --src-prefix --stat", "git diff HEAD -I --stat", "git diff --cached --anchored --shortstat",
    "git show --decorate-refs -s", "git log --grep --stat",
]  # fmt: skip
"""Values that look like options."""


@pytest.mark.parametrize("rules", [{}, {"deny": ["Read(*.pem)"]}, {"allow": ["Bash(git:*)"], "deny": ["Read(*.pem)"]}])
@pytest.mark.parametrize("command", [*MOVED, *LIKE_OPTIONS])
def test_a_value_that_may_be_another_word_limits_nothing(
    command: str, rules: Mapping[str, list[str]], repository: Path
) -> None:
    assert decide(command, workspace=str(repository), home=HOME, **rules) == "ask"


@pytest.mark.parametrize("command", MOVED)
def test_git_prints_the_secret_that_these_do_not_name(command: str, repository: Path) -> None:
    assert SECRET in _git(repository, *command.split()[1:])


@pytest.mark.parametrize(
    "command",
    [
        "git log -n 1 -p -- docs", "git show --date iso --stat", "git log --since yesterday --stat",
        "git log -p --format=%s --decorate -- docs", "git stash show --stat", "git stash show",
        "git stash list -n 1", "git grep -3 x docs", "git grep -n -3 -e x -- docs", "git log -p -3 --author=a -- docs",
        "git log -p --all --oneline --since=2020 -i --grep x -- docs",
    ],
)  # fmt: skip
def test_other_values_stay_where_they_are(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "allow"
