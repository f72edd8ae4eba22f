"""Commits and versions of files that no ref names, and what the words of a command say of them: they count as well."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from .asked import HOME, decide
from .repositories import TOKEN, commit_all, git, stored, unmerged, with_branch


def _two_repositories(above: Path) -> tuple[Path, Path]:
    """One repository whose first commit is a secret, and an empty one that may fetch from it."""
    other, folder = above / "other", above / "here"
    for each in (other, folder):
        each.mkdir()
        git(each, "init", "-q", "-b", "main")
    (other / ".env").write_text(f"{TOKEN}\n")
    commit_all(other)
    return other, folder


@pytest.mark.parametrize(
    "command",
    ["git log -p --all --since=2020-01-01", "git log -S THE -p --all", "git log -p --all --graph",
     "git show $(git rev-list -1 FETCH_HEAD~1)", "git diff $(git rev-list -1 FETCH_HEAD~1)",
     "git grep THE $(git rev-list -1 FETCH_HEAD~1)", "git reflog -p --all"],
)  # fmt: skip
def test_a_branch_without_a_commit_does_not_hide_the_commits_of_others(command: str, tmp_path: Path) -> None:
    other, folder = _two_repositories(tmp_path)
    git(other, "rm", "-q", ".env")
    git(other, "commit", "-q", "-m", "out")
    git(folder, "fetch", "-q", str(other), "main:refs/pull/1/head")
    assert decide(command, workspace=str(folder), home=HOME) == "ask"
    rules = {"allow": ["Bash(git log:*)", "Bash(git show:*)"], "deny": ["Read(./.env)"]}
    assert decide(command, workspace=str(folder), home=HOME, **rules) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git show $(git rev-list -1 FETCH_HEAD)", "git grep THE $(git rev-parse FETCH_HEAD)",
     "git diff $(git merge-base FETCH_HEAD FETCH_HEAD)"],
)  # fmt: skip
def test_a_tag_that_was_fetched_leads_to_a_commit(command: str, tmp_path: Path) -> None:
    other, folder = _two_repositories(tmp_path)
    git(other, "tag", "-m", "x", "v1")
    (folder / "a").write_text("x\n")
    commit_all(folder)
    git(folder, "fetch", "-q", "--no-tags", str(other), "v1")
    assert decide(command, workspace=str(folder), home=HOME) == "ask"


def _with_lost_commit(folder: Path) -> str:
    """A repository, and the number of a commit with a secret that nothing in it names."""
    with_branch(folder, secret=".env")
    number = git(folder, "rev-parse", "topic").strip()
    git(folder, "branch", "-q", "-D", "topic")
    git(folder, "reflog", "expire", "--expire=now", "--all")
    return number


@pytest.mark.parametrize(
    ("name", "text"),
    [("MERGE_AUTOSTASH", "{}\n"), ("rebase-merge/autostash", "{}\n"), ("sequencer/head", "{}\n"),
     ("worktrees/w/FETCH_HEAD", "{}\t\tbranch 'x' of y\n"), ("worktrees/w/rebase-merge/autostash", "{}\n"),
     ("sequencer/todo", "pick {:.8} a\n"), ("FETCH_HEAD", f"{'12' * 20}\t\tx\n{{}}\t\ty\n"),
     ("MERGE_HEAD", f"{'12' * 20}\n{{}}\n"), ("rebase-merge/git-rebase-todo", "fixup -C {} a\n")],
)  # fmt: skip
def test_commits_that_git_keeps_for_itself_count(name: str, text: str, tmp_path: Path) -> None:
    number = _with_lost_commit(tmp_path)
    command = f"git show $(git rev-list -1 {name})"
    assert decide(command, workspace=str(tmp_path), home=HOME) == "allow"
    (tmp_path / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".git" / name).write_text(text.format(number))
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"
    given = {"allow": ["Bash(git merge:*)"], "workspace": str(tmp_path), "home": HOME}
    assert decide("git merge FETCH_HEAD && git log -p", **given) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git diff -w HEAD {}", "git diff -w main...{}", "git diff --relative {}", "git diff -C {:.8}",
     "git diff -G T HEAD..{}", "git diff --diff-filter=A HEAD {} -- .", "git diff -w --cached {}",
     "git checkout -q {} && git show", "git cherry-pick {} && git show", "git branch x {}; git log -p x",
     "git merge HEAD..{}; git log -p", "git diff $(git merge-base HEAD main) {}",
     "git grep THE $(git rev-parse HEAD) {}"],
)  # fmt: skip
def test_a_commit_that_only_the_command_names_counts(command: str, tmp_path: Path) -> None:
    number = _with_lost_commit(tmp_path)
    allow = [f"Bash(git {name}:*)" for name in ("checkout", "cherry-pick", "branch", "merge")]
    assert decide(command.format(number), allow, workspace=str(tmp_path), home=HOME) == "ask"
    if "merge HEAD.." not in command:
        assert decide(command.format("main"), allow, workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git show $(git rev-parse HEAD) {}", "git diff $(git rev-parse HEAD) {}", "git cat-file -p {}",
     "git show {} $(git merge-base HEAD main) --stat"],
)  # fmt: skip
def test_contents_are_looked_up_beside_a_commit_that_is_named_later(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    blob = stored(tmp_path, "blob", f"{TOKEN}\n".encode())
    assert decide(command.format(blob), workspace=str(tmp_path), home=HOME) == "ask"
    assert decide(command.format("main"), workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git diff -w topic..main", "git diff -w topic...main", "git diff -C ^topic main",
     "git checkout main..x; git diff -w topic..main", "git diff -w topic^! main",
     "git cherry-pick topic..main; git log -p", "git cherry-pick 'topic^!:x'; git log -p",
     "git cherry-pick 'topic^!^!'; git log -p",
     "git cherry-pick topic...main; git show", "git branch x topic..x; git log -p"],
)  # fmt: skip
def test_a_range_leaves_nothing_out_of_what_counts(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    allow = ["Bash(git checkout:*)", "Bash(git cherry-pick:*)", "Bash(git branch:*)"]
    assert decide(command, allow, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "text",
    ["git restore --source={0} -S . && git diff --cached", "git restore -s{0} -S . && git diff --cached",
     "git rebase -q --onto {0} HEAD~1 && git log -p", "git checkout -q {1} -- . && git diff --cached",
     "git restore --source={1} -S . && git diff --cached", "git reset -q {1} . && git diff --cached",
     "git tag x {1} && git diff x", "git checkout -q {0}^{{tree}}^{{tree}} . && git diff --cached",
     "git tag x {2} && git show x", "git checkout -q x:y-1-g{0:.8}; git show",
     "git checkout -q '{0}^{{/no such}}..{0}'; git show", "git cherry-pick '{0}^{{/a message: x}}'; git show",
     "git checkout -q '{0}^{{/a..b c}}'; git show", "git checkout -q 'a b-g{0:.8}'; git show"],
)  # fmt: skip
def test_what_a_changing_command_takes_by_its_number_counts(text: str, tmp_path: Path) -> None:
    number = _with_lost_commit(tmp_path)
    tree, blob = (git(tmp_path, "rev-parse", f"{number}{each}").strip() for each in ("^{tree}", ":.env"))
    allow = [f"Bash(git {name}:*)" for name in ("restore", "rebase", "checkout", "reset", "tag", "cherry-pick")]
    given = {"workspace": str(tmp_path), "home": HOME}
    assert decide(text.format(number, tree, blob), allow, **given) == "ask"
    if "{0}" in text and "tree" not in text:
        assert decide(text.format("main"), allow, **given) == "allow"


@pytest.mark.parametrize(
    "text",
    ["git update-index --add --cacheinfo 100644,{0},x; git diff --cached",
     "git update-index --add --cacheinfo 100644 {0} x; git show :x",
     "git update-index --add --index-info <<< '100644 {0}\tx'; git diff --cached",
     "git mktree <<< '100644 blob {0}\tx'; git diff {1} HEAD",
     "git hash-object -w -t tree --stdin < src/a.txt; git diff {1} HEAD"],
)  # fmt: skip
def test_contents_that_get_another_name_by_their_number_are_not_known(text: str, tmp_path: Path) -> None:
    number = _with_lost_commit(tmp_path)
    blob = git(tmp_path, "rev-parse", f"{number}:.env").strip()
    allow = [f"Bash(git {name}:*)" for name in ("update-index", "mktree", "hash-object")]
    assert decide(text.format(blob, "12" * 20), allow, workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git update-index src/a.txt; git diff --cached", allow, workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "message", ["fix {x}\n\nSee x:/y.", "a: b\n\nc..d", "^{/a b}", "Merge 'x@{1 day ago}' into main", "main: x\ty"]
)
def test_a_message_of_several_words_names_no_commit(message: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    text = f"git commit -q --allow-empty -m {shlex.quote(message)} && git show"
    assert decide(text, ["Bash(git commit:*)"], workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize("text", ["(cd sub && git push -q origin HEAD:x); git log -p x", "git -C sub push; git show"])
def test_what_is_pushed_here_from_elsewhere_is_not_known(text: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a").write_text("x\n")
    git(tmp_path / "sub", "init", "-q", "-b", "main")
    commit_all(tmp_path / "sub")
    git(tmp_path / "sub", "remote", "add", "origin", "..")
    allow = ["Bash(git push:*)", "Bash(git -C sub push:*)"]
    assert decide(text, allow, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git --literal-pathspecs diff", "git --literal-pathspecs diff -- conf",
                                     "git --literal-pathspecs diff HEAD -- conf"])  # fmt: skip
def test_what_is_not_merged_is_listed_whatever_a_pathspec_means(command: str, tmp_path: Path) -> None:
    unmerged(tmp_path)
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "text",
    ["(cd w && git commit -qm x); git show wb", "git commit -qm x; cd w && git log -p main",
     "git -C w commit -qm x; git show wb", "(cd w && git stash push); git stash show -p"],
)  # fmt: skip
def test_what_another_work_tree_holds_is_not_known(text: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    given = {"workspace": str(tmp_path), "home": HOME}
    rules = [f"Bash(git {name}:*)" for name in ("commit", "stash push", "-C w commit")]
    assert decide("git commit -qm x; git show", rules, **given) == "allow"
    git(tmp_path, "worktree", "add", "-q", "w", "-b", "wb")
    assert decide(text, rules, **given) == "ask"
    assert decide("git commit -qm x; git show", rules, **given) == "allow"


def test_what_is_not_merged_counts_by_its_contents(tmp_path: Path) -> None:
    """A merge that was picked from a commit which nothing names any more left its stages."""
    same = "".join(f"{number}\n" for number in range(30))
    other, folder = tmp_path / "other", tmp_path / "here"
    for each in (other, folder):
        each.mkdir()
        git(each, "init", "-q", "-b", "main")
    (other / ".env").write_text(same)
    commit_all(other)
    (other / ".env").write_text(same.replace("15\n", f"{TOKEN}\n"))
    commit_all(other)
    (folder / "settings").write_text(f"mine\n{same}")
    (folder / "a").write_text("x\n")
    commit_all(folder)
    (folder / "settings").write_text(f"mine\n{same}".replace("15\n", "fifteen\n"))
    commit_all(folder)
    git(folder, "fetch", "-q", str(other), "main")
    git(folder, "cherry-pick", "-n", "FETCH_HEAD")
    assert decide("git diff", workspace=str(folder), home=HOME) == "ask"
    git(folder, "fetch", "-q", ".", "main")
    (folder / "settings").write_text(f"mine\n{same}".replace("15\n", "both\n"))
    assert TOKEN in git(folder, "diff")
    for command in ("git diff", "git diff settings", "git diff -S x"):
        assert decide(command, workspace=str(folder), home=HOME) == "ask", command


def test_a_merge_of_other_files_shows_no_secret_that_lies_behind(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"{TOKEN}\n")
    (tmp_path / "a").write_text("x\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path)
    git(tmp_path, "rm", "-q", ".env")
    git(tmp_path, "commit", "-q", "-m", "out")
    git(tmp_path, "switch", "-q", "-c", "topic")
    for branch in ("topic", "main"):
        git(tmp_path, "switch", "-q", branch)
        (tmp_path / "a").write_text(f"{branch}\n")
        git(tmp_path, "commit", "-q", "-a", "-m", "x")
    git(tmp_path, "merge", "-q", "topic")
    assert "+++ b/a" in git(tmp_path, "diff") or "diff --cc a" in git(tmp_path, "diff")
    for command in ("git diff", "git diff a", "git diff --cached"):
        assert decide(command, workspace=str(tmp_path), home=HOME) == "allow", command


def test_options_that_look_into_files_leave_it_open_which_are_named(tmp_path: Path) -> None:
    """A newer git names no file in which nothing is left (``diff_from_contents``)."""
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "switch", "-q", "topic")
    (tmp_path / "src/a.txt").write_text("y\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "x")
    git(tmp_path, "switch", "-q", "main")
    for command in ("git diff -w topic~1 topic", "git show -w topic", "git log -p -b -1 topic",
                    "git show --ignore-blank-lines --word-diff topic"):  # fmt: skip
        assert decide(command, workspace=str(tmp_path), home=HOME) == "ask", command
    assert decide("git show topic", workspace=str(tmp_path), home=HOME) == "allow"
    assert decide("git diff -w", workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    ("command", "deny"),
    [("cd src && git diff held/x a", "Read(./held/**)"), ("cd src && git diff --no-index held/x a", "Read(./held/**)"),
     ("cd src && git grep --no-index THE -- held", "Read(./held/**)"),
     ("cd src && git diff a held/x", "Read(./held/x)")],
)  # fmt: skip
def test_where_git_does_not_know_the_form_of_a_repository_paths_count_from_its_top(
    command: str, deny: str, tmp_path: Path
) -> None:
    for name, text in (("held/x", TOKEN), ("src/held/x", "x"), ("src/a", "x"), ("a", "x")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "src")
    git(tmp_path, "commit", "-q", "-m", "x")
    git(tmp_path, "config", "core.repositoryformatversion", "9")
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert TOKEN in ran.stdout
    allow = ["Bash(git diff:*)", "Bash(git grep:*)"]
    assert decide(command, allow, deny=[deny], workspace=str(tmp_path), home=HOME) != "allow"


@pytest.mark.parametrize("command", ["git diff one two .", "git diff one two sub", "git diff -- one two .",
                                     "git diff one two '*'", "cd one && git diff . ../two ."])  # fmt: skip
def test_folders_are_compared_whatever_stands_behind_them(command: str, tmp_path: Path) -> None:
    for name in ("one/.env", "two/.env", "one/sub/a", "two/sub/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / ".git").mkdir()  # git takes it for no repository
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_search_that_may_go_without_the_index_asks(tmp_path: Path) -> None:
    with_branch(tmp_path)
    home = tmp_path.parent / f"{tmp_path.name}-home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = a\n")
    for decision, setting in (("allow", ""), ("ask", "[grep]\n\tfallbackToNoIndex = true\n")):
        (home / ".gitconfig").write_text(f"[user]\n\tname = a\n{setting}")
        assert decide("git grep THE", workspace=str(tmp_path), home=str(home)) == decision
