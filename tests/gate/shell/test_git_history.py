"""Secrets that git does not track any more, and prints from the commits that hold them, and those that an earlier
command of the same text brings into what it prints (docs/gate.md "Secrets")."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .asked import HOME, decide

PRINTING = ("git diff --cached", "git diff HEAD", "git show", "git log -p -1", "git grep x HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One in which a secret was committed, among other files."""
    return _with_commit(tmp_path, "src/app.py", "src/deep/conf/server.pem", "docs/x")


def _with_commit(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "x")
    return folder


def _git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def _commit(folder: Path, count: int = 1) -> None:
    for number in range(count):
        (folder / "src/app.py").write_text(f"{number} of {count}\n")
        _git(folder, "add", "src/app.py")
        _git(folder, "commit", "-q", "-m", "x")


def _answers(folder: Path, commands: tuple[str, ...]) -> set[str]:
    return {decide(command, workspace=str(folder), home=HOME) for command in commands}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "take_out",
    [
        lambda folder: _git(folder, "rm", "-q", "--cached", "src/deep/conf/server.pem"),
        lambda folder: _git(folder, "mv", "src/deep/conf/server.pem", "src/deep/plain"),
        lambda folder: _git(folder, "rm", "-rq", "src/deep"),
    ],
    ids=["rm --cached", "mv", "rm"],
)
def test_a_secret_that_was_taken_out_asks_where_git_may_print_it(
    take_out: Callable[[Path], str], packed: bool, repository: Path
) -> None:
    take_out(repository)
    if packed:
        _git(repository, "gc", "-q")
    assert _answers(repository, PRINTING) == {"ask"}
    assert _answers(repository, ("git diff", "git diff --cached --stat", "git diff HEAD -- docs")) == {"allow"}
    _git(repository, "commit", "-q", "-m", "out")
    assert _answers(repository, ("git show", "git diff HEAD~1", "git show HEAD~1", "git log -p -1")) == {"ask"}
    assert _answers(repository, ("git diff --cached", "git diff HEAD", "git grep x HEAD")) == {"allow"}
    _commit(repository, 3)
    assert _answers(repository, ("git diff HEAD~4", "git show HEAD~3", "git log -p", "git grep x HEAD~4")) == {"ask"}
    assert _answers(repository, PRINTING) == {"allow"}


def test_what_was_stashed_before_git_tracked_it_counts_in_the_list(repository: Path) -> None:
    _git(repository, "rm", "-rq", "src/deep")
    _git(repository, "commit", "-q", "--amend", "-m", "x")
    _git(repository, "reflog", "expire", "--expire=now", "--all")
    (repository / "src/app.py").write_text("y\n")
    _git(repository, "stash", "-q")
    assert decide("git stash list -p", workspace=str(repository), home=HOME) == "allow"
    (repository / "src/.env").write_text("x\n")
    _git(repository, "stash", "-q", "-u")
    assert decide("git stash list -p", workspace=str(repository), home=HOME) == "ask"


def test_where_no_secret_was_git_goes_on_printing(repository: Path) -> None:
    _git(repository, "rm", "-rq", "src/deep")
    _git(repository, "commit", "-q", "--amend", "-m", "x")
    assert _answers(repository, PRINTING) == {"allow"}
    _commit(repository, 2)
    (repository / "docs/y").write_text("y\n")
    _git(repository, "add", ".")
    assert _answers(repository, PRINTING) == {"allow"}


def test_a_branch_without_a_commit_holds_no_secret(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    assert _answers(tmp_path, ("git diff --cached", "git diff HEAD")) == {"allow"}


def test_what_cannot_be_read_asks(repository: Path) -> None:
    _git(repository, "rm", "-q", "--cached", "-r", "src/deep")
    _git(repository, "commit", "-q", "--amend", "-m", "x")
    tree = _git(repository, "rev-parse", "HEAD^{tree}").strip()
    (repository / ".git/index").unlink()
    _git(repository, "update-index", "--add", "docs/x")  # an index that knows no trees
    place = repository / f".git/objects/{tree[:2]}/{tree[2:]}"
    place.chmod(0o644)
    place.write_bytes(b"no object")
    assert decide("git diff HEAD", workspace=str(repository), home=HOME) == "ask"


def test_the_end_of_a_shallow_clone_is_the_first_commit(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _git(repository, "rm", "-rq", "src/deep")
    _git(repository, "commit", "-q", "-m", "out")
    _commit(repository, 2)
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    _git(repository, "clone", "-q", "--depth", "2", f"file://{repository}", str(clone))
    assert _answers(clone, ("git diff HEAD", "git show")) == {"allow"}


def _took_out(repository: Path) -> None:
    _git(repository, "rm", "-rq", "src/deep")
    _git(repository, "commit", "-q", "-m", "out")


def test_commits_that_come_later_to_a_shallow_clone_count(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _took_out(repository)
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    _git(repository, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    assert _answers(clone, ("git show", "git log -p")) == {"allow"}
    _git(clone, "fetch", "-q", "--unshallow")
    assert _answers(clone, ("git show", "git log -p", "git diff HEAD~1")) == {"ask"}


def test_commits_that_lie_elsewhere_ask(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clone") / "shared"
    _git(repository, "clone", "-q", "--shared", str(repository), str(clone))
    _took_out(clone)
    assert _answers(clone, ("git show HEAD", "git log -p")) == {"ask"}


@pytest.mark.parametrize("command", ["git grep -e x HEAD~1", "git grep -h -e '' HEAD~1", "git grep -ex main~1",
                                     "for c in HEAD HEAD~1; do git grep -e x \"$c\"; done"])  # fmt: skip
def test_a_search_in_a_commit_finds_what_the_index_lacks(command: str, repository: Path) -> None:
    _took_out(repository)
    assert decide(command, workspace=str(repository), home=HOME) == "ask"
    assert decide("git grep -e x", workspace=str(repository), home=HOME) == "allow"


def test_secrets_of_the_home_count_where_they_were_tracked(tmp_path: Path) -> None:
    _with_commit(tmp_path, ".aws/credentials", ".config/gh/hosts.yml", ".bashrc")
    _git(tmp_path, "rm", "-rq", "--cached", ".aws", ".config")
    _git(tmp_path, "commit", "-q", "-m", "out")
    for command in (
        "git show HEAD",
        "git log -p",
        "git diff HEAD~1",
        "git log -p -- .aws",
        "git show HEAD -- .config/gh",
    ):
        assert decide(command, workspace=str(tmp_path), home=str(tmp_path)) == "ask", command


RULES = [
    f"Bash(git {name}:*)" for name in ("add", "checkout", "commit", "fetch", "merge", "reset", "stash", "worktree")
]


@pytest.fixture
def beside(repository: Path) -> Path:
    """One whose branch `topic` alone, ten commits ago, held a secret."""
    _took_out(repository)
    _git(repository, "branch", "topic")
    _commit(repository, 12)
    _git(repository, "branch", "-f", "topic", "main")
    _git(repository, "checkout", "-q", "--orphan", "fresh")
    _git(repository, "commit", "-q", "-m", "fresh")
    return repository


@pytest.mark.parametrize(
    "text",
    ["git checkout topic && git log -p", "git merge topic; git diff HEAD~14 HEAD~12", "git checkout topic; git show",
     "git reset --hard topic~12 && git show", "git stash && git diff HEAD", "git commit -m x && git show HEAD -- src",
     "for x in 1 2; do git show HEAD; git checkout topic; done", "sh -c 'git checkout topic'; git show HEAD",
     "git show; git checkout topic; git show", "git merge topic; git diff -- docs/x"],
)  # fmt: skip
def test_what_the_text_checks_out_counts_for_later_commands(text: str, beside: Path) -> None:
    assert decide(text, allow=RULES, workspace=str(beside), home=HOME) == "ask"
    assert decide(text, allow=[*RULES, "Read(**/server.pem)"], workspace=str(beside), home=HOME) == "allow"


@pytest.mark.parametrize("text", ["git worktree add wt topic && cd wt && git show", "git clone u d; cd d; git show"])
def test_a_repository_that_the_text_makes_is_not_known(text: str, beside: Path) -> None:
    assert decide(text, allow=[*RULES, "Bash(git clone:*)"], workspace=str(beside), home=HOME) == "ask"


@pytest.mark.parametrize("text", ["git show && git checkout topic", "git checkout topic && git log -3 --stat",
                                  "git checkout topic && git diff", "git log -p -1; git commit -m x"])  # fmt: skip
def test_what_the_text_checks_out_counts_for_nothing_else(text: str, beside: Path) -> None:
    asked = "git checkout topic && git diff"
    assert decide(text, allow=RULES, workspace=str(beside), home=HOME) == ("ask" if text == asked else "allow")


@pytest.mark.parametrize("text", ["git fetch && git show FETCH_HEAD", "git fetch; git log -p -1", "git fetch; git diff",
                                  "git fetch origin main && git diff HEAD...origin/main"])  # fmt: skip
def test_what_the_text_fetches_is_not_known(text: str, tmp_path: Path) -> None:
    _with_commit(tmp_path, "src/app.py")
    assert decide(text, allow=RULES, workspace=str(tmp_path), home=HOME) == "ask"
    quiet = "git fetch && git log --oneline -3 && git diff --stat HEAD"
    assert decide(quiet, allow=RULES, workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize("shown", ["git diff --cached", "git diff HEAD", "git diff --cached -- src", "git grep x"])
def test_files_that_the_text_adds_count(shown: str, tmp_path: Path) -> None:
    _with_commit(tmp_path, "src/app.py", ".gitignore")
    (tmp_path / ".gitignore").write_text("src/.env\n")
    (tmp_path / ".ignore").write_text("src/.npmrc\n")

    def answers() -> list[str]:
        texts = (f"git add -A && {shown}", f"git add -f . && {shown}", f"echo > .gitignore; git add -A; {shown}",
                 f"{shown} && git add -f src", f"git add src --all; cd src; {shown}")  # fmt: skip
        rules = [*RULES, "Edit(./.gitignore)", "Bash(echo:*)"]
        return [decide(text, allow=rules, workspace=str(tmp_path), home=HOME) for text in texts]

    assert answers() == ["allow"] * 5
    (tmp_path / "src/.env").write_text("x\n")
    assert answers() == ["allow", "ask", "ask", "allow", "allow"]
    (tmp_path / "src/.npmrc").write_text("x\n")
    assert answers() == ["ask", "ask", "ask", "allow", "ask"]


@pytest.mark.parametrize(
    "deny", [[], ["Read(./.env)"], ["Read(./held/**)"]], ids=["no rule", "another", "the folder's"]
)
@pytest.mark.parametrize("text", ["git checkout -q linked; git reset -q main; git grep x",
                                  "git restore -s linked -W d; git grep x",
                                  "git merge -q linked; git reset -q HEAD~1; git grep x d"])  # fmt: skip
def test_links_that_the_text_checks_out_count_for_a_search(text: str, deny: list[str], tmp_path: Path) -> None:
    _with_commit(tmp_path, "src/app.py", "d/a", ".gitignore")
    _git(tmp_path, "checkout", "-q", "-b", "linked")
    _git(tmp_path, "rm", "-rq", "d")
    (tmp_path / "d").symlink_to("held")
    _git(tmp_path, "add", "d")
    _git(tmp_path, "commit", "-q", "-m", "y")
    _git(tmp_path, "checkout", "-q", "main")
    (tmp_path / ".git/info/exclude").write_text("held\n")
    (tmp_path / "held").mkdir()
    (tmp_path / "held/a").write_text("x\n")
    rules = [*RULES, *(f"Bash(git {name}:*)" for name in ("reset", "restore", "merge")), "Edit(**)"]
    assert decide(text, allow=rules, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"
    quiet = text.replace("git grep", "git grep --cached")
    assert decide(quiet, allow=rules, workspace=str(tmp_path), home=HOME) == "allow"
    alone = text.rpartition("; ")[2]
    assert decide(f"git commit -qm z; {alone}", allow=rules, workspace=str(tmp_path), home=HOME) == "allow"
