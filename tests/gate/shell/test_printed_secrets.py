"""Without a rule, a git command that prints what changed asks where git tracks a secret that it may print."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .asked import HOME, decide

COMMANDS = [
    ("git diff", "allow"),  # the secret was not changed
    ("git diff --stat", "allow"),
    ("git diff HEAD --name-only", "allow"),
    ("git diff --word-diff -U0", "allow"),
    ("git log -U0", "ask"),
    ("git diff --cached", "ask"),
    ("git diff HEAD", "ask"),
    ("git diff HEAD~1", "ask"),
    ("git show", "ask"),
    ("git show HEAD", "ask"),
    ("git show --stat HEAD", "allow"),
    ("git show --stat -M --format=%h HEAD", "allow"),
    ("git diff --cached --name-status --diff-filter=AM", "allow"),
    ("git show HEAD:src/app.py", "allow"),
    ("git show ':!src'", "ask"),
    ("git show ':src/app.py'", "allow"),
    ("git log --oneline -G '^KEY=a'", "ask"),  # which commits it names says what stands in the secret
    ("git log -Sa --oneline", "ask"),
    ("git whatchanged -G a", "ask"),
    ("git log -G a --oneline -- src", "allow"),
    ("git blame -C1 -C1 -C1 -s src/app.py", "ask"),
    ("git blame -s src/app.py", "allow"),
    ("git diff --numstat 1a2b3c4d src/app.py", "ask"),
    ("git diff --quiet 1a2b3c4d 5d6c7b8a", "ask"),
    ("git diff -C --name-status HEAD", "ask"),
    ("git -C . log --oneline", "allow"),
    ("git diff --stat HEAD:conf", "ask"),  # files of other paths are compared, those that are alike
    ("git diff --name-status HEAD:conf HEAD:src", "ask"),
    ("git log --follow --stat -- src/app.py", "ask"),
    ("git ls-files -m", "ask"),
    ("git ls-files -t -m", "ask"),
    ("git ls-files --eol", "ask"),
    ("git ls-files -o --eol", "ask"),
    ("git ls-files --format='%(eolinfo:worktree)'", "ask"),
    ("git ls-files", "allow"),
    ("git log -3", "allow"),
    ("git log -p", "ask"),
    ("git log -p -- src", "allow"),
    ("git log -p -- conf", "ask"),
    ("git log -p -- .", "ask"),
    ("git log -p -- ':!conf'", "ask"),
    ("cd src && git log -p", "ask"),
    ("git diff HEAD -- src/app.py", "allow"),
    ("git diff HEAD conf", "ask"),
    ("git diff HEAD src", "allow"),
    ("git diff HEAD src '*'", "ask"),
    ("git diff HEAD src ':/'", "ask"),
    ("git diff HEAD src 'c*/*'", "ask"),
    ("git log -p -- src 'c*/*'", "ask"),
    ("git log -p src :/", "ask"),
    ("git diff HEAD src ':!src/gen'", "allow"),
    ("git grep -n x", "ask"),
    ("git grep x src", "allow"),
    ("git grep -n x -- src", "allow"),
    ("git grep src", "ask"),
    ("git grep -e src -- conf", "ask"),
    ("git grep x -- src ':/'", "ask"),
    ("git grep x src '*'", "ask"),
    ("git grep -l x HEAD", "ask"),
    ("cd src && git grep x", "allow"),
    ("cd src && git grep x -- ..", "ask"),
    ("git -C src grep x", "allow"),
    ("git -C src grep x -- ../conf", "ask"),
    ("git stash show", "allow"),
    ("git stash show -p", "ask"),
    ("git stash show --", "ask"),
    ("git cat-file -p 0a1b2c3d", "ask"),
    ("git cat-file -t 0a1b2c3d", "allow"),
    # A ref may name the contents of a file.
    ("git cat-file -p main", "ask"),
    ("git cat-file blob main", "ask"),
    ("git cat-file -e main", "allow"),
    ("git cat-file commit main", "allow"),
    ("git cat-file -p HEAD", "allow"),
    ("git cat-file -p main~0^{tree}", "allow"),
    ("git cat-file -p HEAD^{tree}", "allow"),
    ("git cat-file -p main:src/app.py", "ask"),  # no such branch, so it may be a tag's name
    ("git cat-file -p HEAD:src/app.py", "allow"),
    ("git cat-file blob :0:src/app.py", "allow"),
    ("git show topic -- src", "ask"),
    ("git show topic~0 -- src", "allow"),
    ("git status -s", "allow"),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    for name in ("src/app.py", "conf/server.pem"):
        (folder / name).parent.mkdir()
        (folder / name).write_text("x\n")
    _git(folder, "init", "-q")
    _git(folder, "add", "src")
    return folder


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_a_tracked_secret_asks_where_it_may_be_printed(command: str, expected: str, repository: Path) -> None:
    _git(repository, "add", "src")
    if "conf" not in command:
        assert decide(command, workspace=str(repository), home=HOME) == "allow"
    _git(repository, "add", ".")
    assert decide(command, workspace=str(repository), home=HOME) == expected
    covered = decide(command, workspace=str(repository), home=HOME, allow=["Read(conf/server.pem)"])
    assert covered == "allow" or ":!conf" in command
    _git(repository, "rm", "-q", "-f", "--cached", "conf/server.pem")


RARE = [
    "git show -q --no-quiet",
    "git diff HEAD --quiet --no-quiet",
    "git log --numstat -I '^KEY=a'",
    "git log --numstat --ignore-match='^KEY=a'",
    "git rev-list --pickaxe-regex -Sa HEAD",
    "git diff-files --numstat --anchored=KEY=a",
    "git log --stat --anch=KEY=a",
    "git diff-files -B1%/1% -C1% --find-copies-harder --name-status",
    "git diff-index --find-copies-h --name-status HEAD",
    "git rev-list --objects --filter=sparse:oid=1a2b3c4d HEAD",
    "git rev-list --objects --filter=combine:sparse:oid=HEAD%3A%2Eenv+tree:5 HEAD",
    "git diff-tree -r -G a HEAD~1 HEAD",
    "git diff-index --name-only -G a HEAD",
    "git annotate -CCC1 src/app.py",
    "git diff-index -M HEAD:conf",
    "git diff-tree -M1% --numstat HEAD:conf HEAD:src",
]
"""Options that need a rule in any case."""


@pytest.mark.parametrize("command", RARE)
def test_rare_options_print_no_secret_that_a_rule_names(command: str, repository: Path) -> None:
    git = ["Bash(git:*)"]
    _git(repository, "add", ".")
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    assert decide(command, workspace=str(repository), home=HOME, allow=git) == "allow"
    assert decide(command, workspace=str(repository), home=HOME, allow=git, deny=["Read(conf/**)"]) != "allow"
    _git(repository, "rm", "-q", "-f", "--cached", "conf/server.pem")


@pytest.mark.parametrize(
    "command",
    [
        "git diff --reflog", "git diff --glob=heads", "git diff -g", "git show --skip --stat", "git diff --branches",
        "git show --indexed-objects -s", "git show --indexed-objects -- src", "git show --tags --stat",
        "git show HEAD --indexed-objects -- src", "git show --all -- src", "git show --glob='refs/tags/*' -s",
    ],
)  # fmt: skip
def test_an_option_that_may_name_an_object_asks(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


def test_a_tracked_secret_that_was_changed_asks(repository: Path) -> None:
    _git(repository, "add", ".")
    assert decide("git diff", workspace=str(repository), home=HOME) == "allow"
    (repository / "conf/server.pem").write_text("other\n")
    assert decide("git diff", workspace=str(repository), home=HOME) == "ask"
    assert decide("git diff --stat", workspace=str(repository), home=HOME) == "allow"
    _git(repository, "rm", "-q", "-f", "--cached", "conf/server.pem")


def test_an_index_of_another_form_asks(repository: Path) -> None:
    _git(repository, "update-index", "--index-version", "4")
    assert decide("git show", workspace=str(repository), home=HOME) == "ask"
    _git(repository, "update-index", "--index-version", "2")
    assert decide("git show", workspace=str(repository), home=HOME) == "allow"


def test_what_is_no_folder_any_more_still_counts(repository: Path) -> None:
    _git(repository, "add", ".")
    (repository / "conf").rename(repository.parent / "away")
    assert decide("git diff src conf", workspace=str(repository), home=HOME) == "ask"
    (repository.parent / "away").rename(repository / "conf")
    _git(repository, "rm", "-q", "-f", "--cached", "conf/server.pem")


def test_a_search_does_not_go_through_links_or_into_submodules(repository: Path) -> None:
    where = {"workspace": str(repository), "home": HOME}
    assert decide("git grep x", **where) == "allow"
    for asking in ("--untracked x", "--no-index x", "--recurse-submodules x", "-O x", "-Oless x", "--textconv x",
                   "-f src/app.py", "--no-exclude-standard x", "--open x", "--untr x", "x -- .env", "x HEAD:.env",
                   "-e x .env"):  # fmt: skip
        assert decide(f"git grep {asking}", **where) == "ask", asking
    _git(repository, "config", "submodule.recurse", "true")
    assert decide("git grep x", **where) == "ask"
    _git(repository, "config", "--unset", "submodule.recurse")
    (repository / "src").rename(repository.parent / "src")
    (repository / "src").symlink_to("../src")
    assert decide("git grep x", **where) == "ask"
    (repository / "src").unlink()
    (repository.parent / "src").rename(repository / "src")
    assert decide("git grep x", **where, deny=["Read(src/**)"]) != "allow"


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True)


@pytest.mark.parametrize(
    "command",
    [
        "cd lc && git diff .",
        "git -C lc grep C",
        "cd a/l2 && git log -p ..",
        "git -C lc diff .",
        "git -C a/l2 show HEAD -- ..",
        "git -C lc -C sub diff ..",
        "cd lc && git grep -h '' -- .",
    ],
)
def test_git_counts_from_the_folder_that_a_link_leads_to(command: str, tmp_path: Path) -> None:
    for name in ("conf/key.pem", "conf/sub/x", "a/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "conf/key.pem").write_text("new\n")
    (tmp_path / "lc").symlink_to("conf")
    (tmp_path / "a/l2").symlink_to("../conf/sub")
    assert decide(command, workspace=str(tmp_path), home="/nowhere") == "ask"
    assert decide("git -C a diff .", workspace=str(tmp_path), home="/nowhere") == "allow"


@pytest.mark.parametrize(
    ("top", "home", "spelled"),
    [
        ("home", "home", "home"),
        ("home", "home", "opened/home"),
        ("opened/home", "home", "home"),
        (".", "home", "home"),
        (".", "home", "opened/home"),
        ("home/.kube", "home", "opened/home"),
    ],
)
@pytest.mark.parametrize("command", ["git grep x", "git show", "git log -p", "git diff HEAD", "git whatchanged -p"])
def test_secrets_of_the_home_count_however_home_and_work_tree_are_spelled(
    command: str, top: str, home: str, spelled: str, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "opened").symlink_to(real)
    (real / "opened").symlink_to(".")
    folder = real / top.removeprefix("opened/")
    for name in (".kube/config", "src/a.py"):
        (real / home / name).parent.mkdir(parents=True, exist_ok=True)
        (real / home / name).write_text("x")
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    where = {"workspace": str(real / top), "home": str(tmp_path / spelled if "opened" in spelled else real / spelled)}
    assert decide(command, **where) == "ask"
    if "opened" not in top:  # git asks behind a link of the workspace
        assert decide("git status; git diff --stat", **where) == "allow"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat .git/reb*/patch", "ask"), ("head .git/*", "ask"), ("grep -r x .git", "ask"), ("rg x .git", "ask"),
        ("find .git -type f | xargs cat", "ask"), ("cd .git && cat rebase-merge/patch", "ask"),
        ("base64 .git/objects/ab/*", "ask"), ("cat .git/HEAD", "allow"), ("ls -la .git .git/objects", "allow"),
        ("cat .git/rebase-merge/done", "allow"), ("grep -r x .git/hooks", "allow"), ("du -sh .git", "allow"),
        ("find .git/objects -type f | wc -l", "allow"), ("grep -r x .git/rebase-merge", "ask"), ("grep -r x .", "ask"),
        ("cd .git && grep -r x rebase-merge", "ask"), ("find .git/rebase-merge -type f -exec cat {} +", "ask"),
        ("grep -r x .git/worktrees", "ask"), ("find .git/worktrees -type f | xargs cat", "ask"),
        ("cat $(find .git/worktrees -name patch)", "ask"), ("find . -name patch | xargs cat", "ask"),
        ('for f in $(find . -name patch); do cat "$f"; done', "ask"), ("grep -rh '' --include=patch", "ask"),
        ("find . -maxdepth 3 -name 'p*' -exec cat {} +", "ask"),
        ("ls -R .git", "allow"), ("ls .git/worktrees/x", "allow"), ("cat .git/worktrees/x/HEAD", "allow"),
        ("grep -r x src", "allow"), ("rg -uu x", "ask"), ("tar cf - .", "ask"),
    ],
)  # fmt: skip
def test_what_git_keeps_of_files_is_a_secret(command: str, expected: str, tmp_path: Path) -> None:
    for name in ("rebase-merge/patch", "rebase-merge/done", "objects/ab/cd", "HEAD", "hooks/x", "../src/a.py",
                 "worktrees/x/HEAD", "worktrees/x/rebase-merge/patch"):  # fmt: skip
        (tmp_path / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".git" / name).write_text("x")
    assert decide(command, workspace=str(tmp_path), home="/nowhere/home") == expected


def test_a_search_goes_past_what_git_keeps_as_long_as_no_lines_stand_there(tmp_path: Path) -> None:
    for name in ("COMMIT_EDITMSG", "objects/ab/cd", "HEAD", "logs/HEAD", "worktrees/x/HEAD"):
        (tmp_path / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".git" / name).write_text("message\n")
    commands = ("grep -r x .", "find . -type f | xargs grep x", "grep -rn x --include='*.py' .")
    for command in commands:
        assert decide(command, workspace=str(tmp_path), home="/nowhere/home") == "allow", command
    for named, tracked, expected in (("a.py", "b.py", "allow"), ("a.py", ".env", "ask"), (".env", "b.py", "ask")):
        (tmp_path / ".git/COMMIT_EDITMSG").write_text(f"message\n# >8\ndiff --git a/{named} b/{named}\n+x\n")
        (tmp_path / ".git/index").write_bytes(b"DIRC\0\0\0\2" + tracked.encode())
        assert decide(commands[0], workspace=str(tmp_path), home="/nowhere/home") == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat .bare/worktrees/x/rebase-merge/patch", "ask"), ("cat .bare/worktrees/*/*/patch", "ask"),
        ("cat .bare/objects/ab/cd", "ask"), ("cat .bare/HEAD", "allow"), ("cat .bare/worktrees/x/HEAD", "allow"),
        ("cd .bare/worktrees/x/rebase-merge && cat patch", "ask"), ("grep -r x .bare", "ask"),
        ("cat src/objects/a.py", "allow"), ("ls .bare/objects", "allow"), ("cat .git", "allow"),
        ("cat .bare/ADD_EDIT.patch", "ask"), ("cat .b*/ADD_EDIT.patch", "ask"), ("cat .bare/of-a-tool/x", "ask"),
        ("cd .bare && cat ADD_EDIT.patch", "ask"), ("cat .bare/worktrees/x/addp-hunk-edit.diff", "ask"),
        ("grep -r x .bare/worktrees", "ask"), ("find .bare/worktrees -exec cat {} +", "ask"),
        ("cat .bare/refs/heads/main", "allow"), ("cat .bare/config .bare/logs/HEAD", "allow"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("called", [".bare", "gitdir"])
def test_git_may_keep_files_in_a_folder_of_another_name(
    command: str, expected: str, called: str, tmp_path: Path
) -> None:
    for name in (".bare/HEAD", ".bare/objects/ab/cd", ".bare/worktrees/x/HEAD", ".bare/worktrees/x/rebase-merge/patch",
                 "src/objects/a.py", ".bare/ADD_EDIT.patch", ".bare/of-a-tool/x", ".bare/refs/heads/main",
                 ".bare/config", ".bare/logs/HEAD", ".bare/worktrees/x/addp-hunk-edit.diff", ".git"):  # fmt: skip
        place = tmp_path / name.replace(".bare", called)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"gitdir: ./{called}\n" if name == ".git" else "x")
    command = command.replace(".bare", called).replace(".b*", f"{called[:2]}*")
    assert decide(command, workspace=str(tmp_path), home="/nowhere/home") == expected


def test_a_patch_that_git_left_behind_counts_by_the_names_in_it(tmp_path: Path) -> None:
    for name in ("HEAD", "objects/ab/cd", "rebase-merge/done"):
        (tmp_path / ".bare" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".bare" / name).write_text("x")
    (tmp_path / ".bare/index").write_bytes(b"DIRC\0\0\0\2src/a.py")
    for named, expected in (("src/a.py", "allow"), (".env", "ask")):
        (tmp_path / ".bare/rebase-merge/patch").write_text(f"diff --git a/{named} b/{named}\n-x\n")
        assert decide("grep -r x .bare", workspace=str(tmp_path), home="/nowhere/home") == expected
