"""What looks like a form that only reads, and is not: no rule is needed for the one, and the other asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

READING = """
git status
git --no-pager log -3
git -P diff --stat
git --literal-pathspecs log -- a
git --no-optional-locks status
git --version
git stash list
git worktree list
grep -n x a.txt
"""
OTHERS = """
git --shallow-file rev-parse -c alias.z='!stub x' z
git --shallow-file rev-parse grep -Ostub hello
git --shallow-file log push origin
git --unheard-of log
git --unheard-of=1 log
git -Cx log
git stash -- list
git stash -p list
git stash -q -- show
git worktree -- list
git shortlog --group 'format:%G?' HEAD
zgrep --group-separator = .env a.txt
xzgrep --group-separator = .env a.txt
bzgrep -A '1 -e .' .env a.txt
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in (".git/objects", ".git/refs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main")
    for name in ("a.txt", ".env"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_a_form_that_only_reads_needs_no_rule(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository)) == "allow"


@pytest.mark.parametrize("command", OTHERS.strip().splitlines())
def test_one_that_looks_like_it_asks(command: str, repository: Path) -> None:
    for mode in ("default", "acceptEdits"):
        assert decide(command, workspace=str(repository), mode=mode) == "ask"
    denied = decide(
        command, workspace=str(repository), mode="auto", deny=["Bash(stub:*)", "Bash(git push:*)", "Read(.env)"]
    )
    assert denied != "allow" or not ("push" in command or "stub" in command or ".env" in command)


@pytest.mark.parametrize(
    "parts",
    [
        {"HEAD": "", "commondir": "x/y"},
        {"HEAD": "", "objects": "#!", "refs": "#!"},
        {"HEAD": "", "objects/a": "", "refs": "#!"},
        {"HEAD": "", "objects/a": ""},
    ],
)
def test_a_folder_that_git_may_take_for_a_repository_asks(parts: dict[str, str], repository: Path) -> None:
    for name, text in parts.items():
        path = repository / "evil" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (repository / "evil/x").mkdir()
    assert decide("cd evil && git status", workspace=str(repository)) == "ask"
    assert decide("cd evil/x && git log", workspace=str(repository)) == "ask"
    assert decide("cd evil && git commit -m x", workspace=str(repository), allow=["Bash(git:*)"]) == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("strings *", "ask"),
        ("strings -- *", "ask"),
        ("strings ?.env", "ask"),
        ("strings {@.env,a.txt}", "ask"),
        ('for name in *; do strings "$name"; done', "ask"),
        ("strings ./*", "allow"),
        ("strings a*", "allow"),
        ("strings <(cat a.txt)", "allow"),
    ],
)
def test_a_name_that_brings_a_list_of_words_is_found_behind_a_pattern(
    command: str, decision: str, repository: Path
) -> None:
    (repository / "words").mkdir()
    (repository / "words/@.env").touch()
    (repository / "words/a.txt").touch()
    assert decide(f"cd words && {command}", workspace=str(repository)) == decision
    (repository / "words/@.env").unlink()
    if "@" not in command and "?" not in command:
        assert decide(f"cd words && {command}", workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("settings", "decision"),
    [
        ("[core]\n\thooksPath = .githooks\n", "ask"),
        ('[core] HOOKSPATH=".githooks/" ; ours\n', "ask"),
        ("[core]\nhooksPath = .git\\x68ooks\n", "ask"),
        ("[core]\n\thooksPath = .husky/_\n", "allow"),
        ("[core]\n\thooksPath = .git/hooks\n", "allow"),
        ("[core]\n\thooksPath = /usr/share/hooks\n", "allow"),
        ("[core]\n\tbare = false\n", "allow"),
    ],
)
def test_a_hook_of_the_work_tree_that_reading_runs_asks(settings: str, decision: str, repository: Path) -> None:
    (repository / ".git/config").write_text(settings)
    for folder in (".githooks", ".git/hooks"):
        (repository / folder).mkdir()
        (repository / folder / "post-index-change").write_text("#!/bin/sh\n")
        (repository / folder / "post-index-change").chmod(0o755)
    assert decide("git status", workspace=str(repository)) == decision
    assert decide("git diff --stat", workspace=str(repository)) == decision
    (repository / ".githooks/post-index-change").unlink()
    if "\\" not in settings:
        assert decide("git status", workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("settings", "decision"),
    [
        ("[include]\n\tpath = ../team.ini\n", "ask"),
        ('[INCLUDE] PATH="../team.ini" # ours\n', "ask"),
        ('[includeIf "gitdir:/x]y/"]\n\tpath = ../not-there-yet\n', "ask"),
        ("[include]\n\tpath = ..\\\\team.ini\n", "ask"),
        ("[include]\n\tpath = ..\\\n/team.ini\n", "ask"),
        ("[include]\n\tpath = outer.ini\n", "ask"),  # which includes one of the workspace
        ("[include]\n\tpath = /usr/share/none.ini\n", "allow"),
        ("[core]\n\tfsmonitor = tools/monitor\n", "ask"),
        ('[core] fsmonitor = "sh monitor.sh"\n', "ask"),
        ("[core]\n\tfsmonitor = true\n", "allow"),
        ("[core]\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n", "allow"),
        ('[diff "x"]\n\ttextconv = ./tools/text\n', "ask"),
        ('[diff "x"]\n\tcommand = python3 --x=tools/text.py\n', "ask"),
        ('[filter "x"]\n\tclean = tools/clean %f\n', "ask"),
        (
            '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n',
            "allow",
        ),
        ('[alias]\n\tx = "!f() { \\\n  echo \\"./x\\"; }; f"\n[user]\n\tname = A \\"B\\"\n', "allow"),
        ("# a comment that ends in \\\n[include]\n\tpath = ../team.ini\n", "ask"),
        ("[core\n\tbare = false\n", "ask"),
        ("[core]\n\tbare = false\n\u0000", "ask"),
        ('[core]\n\tbare\n[branch "a]b"] remote = origin\n', "allow"),
    ],
)
def test_settings_that_lead_into_the_work_tree_ask(settings: str, decision: str, repository: Path) -> None:
    (repository / ".git/config").write_text(settings)
    (repository / ".git/outer.ini").write_text("[include]\n\tpath = ../team.ini\n")
    (repository / "monitor.sh").touch()
    for command in ("git status", "git diff --stat", "git log -1"):
        assert decide(command, workspace=str(repository)) == decision
