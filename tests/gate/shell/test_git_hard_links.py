"""Hard links among what git reads: a secret under a name that says nothing (docs/gate.md P6 and S9)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .test_git_opens_files import git, prints_secret, verdict


@pytest.fixture
def work(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "src").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    git(top, "config", "user.name", "a")
    git(top, "config", "user.email", "a@example.org")
    (top / "src/a.txt").write_text("one\n")
    (top / "b.txt").write_text("two\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    (top / ".env").write_text("KEY=TOPSECRET <a@example.org>\n")
    return top


OF_FILES = [
    "git diff", "git diff HEAD", "git diff -- src", "git diff -- '*.txt'", "git -C src diff",
    "git grep KEY", "git grep KEY -- src", "cd src && git diff",
]  # fmt: skip


@pytest.mark.parametrize("command", OF_FILES)
def test_a_tracked_file_that_has_the_name_of_a_secret_too_is_not_printed(work: Path, command: str) -> None:
    assert verdict(work, command) == "allow"
    (work / "src/a.txt").unlink()
    os.link(work / ".env", work / "src/a.txt")
    assert prints_secret(work, command)
    assert verdict(work, command) == "ask"


@pytest.mark.parametrize(
    "command", ["git diff -- b.txt", "git diff --cached", "git log -p", "git show HEAD -- src", "git status"]
)
def test_what_does_not_print_it_needs_no_rule(work: Path, command: str) -> None:
    (work / "src/a.txt").unlink()
    os.link(work / ".env", work / "src/a.txt")
    assert not prints_secret(work, command)
    assert verdict(work, command) == "allow"


def test_a_rule_for_reading_the_file_covers_it(work: Path) -> None:
    (work / "src/a.txt").unlink()
    os.link(work / ".env", work / "src/a.txt")
    assert verdict(work, "git diff", allow=["Read(./src/a.txt)"]) == "allow"


def _link(name: str) -> Callable[[Path], None]:
    def put(work: Path) -> None:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).unlink(missing_ok=True)
        os.link(work / ".env", work / name)

    return put


def _rebase(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "--detach")
    folder = work / ".git/rebase-merge"
    folder.mkdir()
    for name, text in {"onto": head, "orig-head": head, "head-name": "refs/heads/main", "interactive": ""}.items():
        (folder / name).write_text(f"{text}\n")
    for name in ("done", "git-rebase-todo"):
        os.link(work / ".env", folder / name)


def _worktree(work: Path) -> None:
    folder = work / ".git/worktrees/w"
    folder.mkdir(parents=True)
    (folder / "commondir").write_text("../..\n")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    os.link(work / ".env", folder / "gitdir")


OF_GIT = [
    (_link(".git/packed-refs"), "git status"),
    (_link(".git/shallow"), "git log"),
    (_link(".git/info/grafts"), "git log"),
    (_link(".git/objects/info/alternates"), "git log"),
    (_rebase, "git status"),
    (_worktree, "git worktree list"),
    (_link(".mailmap"), "git log"),
    (_link(".gitignore"), "git check-ignore -v a"),
    (_link(".gitmodules"), "git status"),
]


@pytest.mark.parametrize(("prepare", "command"), OF_GIT)
def test_a_file_of_gits_own_that_has_the_name_of_a_secret_too_is_not_read(
    work: Path, prepare: Callable[[Path], None], command: str
) -> None:
    assert verdict(work, command) == "allow"
    prepare(work)
    assert verdict(work, command) == "ask"


def test_a_local_clone_has_its_objects_by_hard_links(work: Path, tmp_path: Path) -> None:
    git(work, "repack", "-adq")
    git(tmp_path, "clone", "-q", "tree", "clone")
    assert any(path.stat().st_nlink > 1 for path in (tmp_path / "clone/.git/objects").rglob("*") if path.is_file())
    assert verdict(tmp_path / "clone", "git log -p") == "allow"
    assert verdict(tmp_path / "clone", "git diff") == "allow"


def test_attributes_that_are_a_secret_too(work: Path) -> None:
    _link(".gitattributes")(work)
    assert verdict(work, "git status") == "ask"


def test_the_secrets_of_a_home_that_is_a_repository(work: Path) -> None:
    for name in (".aws/credentials", ".netrc", ".config/gh/hosts.yml"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("TOPSECRET\n")
    assert verdict(work, "git show", home=str(work)) == "allow"
    git(work, "add", ".aws", ".netrc", ".config")
    git(work, "commit", "-qm", "second")
    assert prints_secret(work, "git show")
    assert verdict(work, "git show", home=str(work)) == "ask"
    assert verdict(work, "git show", home=str(work.parent)) == "allow"


def test_filters_beside_a_program_that_shows_files_in_the_older_form_of_settings(work: Path) -> None:
    with (work / ".git/config").open("a") as config:
        config.write("[diff.x]\n\ttextconv = git-crypt diff\n[filter.lfs]\n\tsmudge = git-lfs smudge -- %f\n")
    assert verdict(work, "git log -p") == "ask"


def test_names_that_git_takes_out_of_a_blob(work: Path) -> None:
    git(work, "add", ".env")
    git(work, "commit", "-qm", "second")
    git(work, "config", "mailmap.blob", "HEAD:.env")
    assert prints_secret(work, "git log")
    assert verdict(work, "git log") == "ask"


def test_a_tracked_secret_counts_as_unchanged_only_by_all_that_git_keeps_of_it(work: Path) -> None:
    secret = work / ".env"
    secret.write_text("KEY=changeme1\n")
    os.utime(secret, (1_577_836_800, 1_577_836_800))
    git(work, "add", ".env")
    git(work, "commit", "-qm", "second")
    os.utime(work / ".git/index")
    assert verdict(work, "git diff") == "allow"
    (work / "new").write_text("KEY=TOPSECRET\n")
    os.utime(work / "new", (1_577_836_800, 1_577_836_800))
    (work / "new").replace(secret)
    assert prints_secret(work, "git diff")
    assert verdict(work, "git diff") == "ask"
