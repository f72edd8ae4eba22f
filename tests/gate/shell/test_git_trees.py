"""Secrets that git does not track any more, and prints from the commits that hold them (docs/gate.md "Secrets")."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from countersign.gate.shell.files.git_trees import MOST_COMMITS, Commits, committed_secrets, read_object

from .asked import HOME, decide

PRINTING = ("git diff --cached", "git diff HEAD", "git show", "git log -p -1", "git show HEAD~1", "git diff HEAD~1",
            "git grep x HEAD")  # fmt: skip


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
    assert _answers(repository, PRINTING) == {"ask"}
    _commit(repository, 3)
    if packed:
        _git(repository, "gc", "-q")
    assert _answers(repository, PRINTING) == {"ask"}
    _commit(repository, MOST_COMMITS)
    assert _answers(repository, PRINTING) == {"allow"}


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


def test_packs_of_another_form_ask(repository: Path) -> None:
    _took_out(repository)
    _git(repository, "-c", "pack.indexVersion=1", "repack", "-adq")
    assert _answers(repository, ("git show HEAD", "git log -p")) == {"ask"}


def test_a_folder_is_one_by_the_bits_of_its_mode(repository: Path) -> None:
    top, src, deep = (_git(repository, "rev-parse", f"HEAD:{each}").strip() for each in ("", "src", "src/deep"))
    app = _git(repository, "rev-parse", "HEAD:src/app.py").strip()
    entries = ((b"100644 app.py", app), (b"040000 deep", deep))
    text = b"".join(b"%b\0%b" % (named, bytes.fromhex(number)) for named, number in entries)
    odd = _written(repository, text, "tree")
    assert odd != src
    listed = _git(repository, "ls-tree", top).replace(src, odd)
    tree = subprocess.run(["git", "mktree"], cwd=repository, input=listed, check=True, capture_output=True, text=True)
    commit = _git(repository, "commit-tree", "-m", "odd", tree.stdout.strip()).strip()
    _git(repository, "reset", "-q", "--soft", commit)
    _took_out(repository)
    assert _answers(repository, ("git show HEAD", "git log -p")) == {"ask"}


def _written(folder: Path, text: bytes, kind: str) -> str:
    words = ["git", "hash-object", "--literally", "-w", "-t", kind, "--stdin"]
    return subprocess.run(words, cwd=folder, input=text, check=True, capture_output=True).stdout.decode().strip()


def test_refs_that_are_not_read_ask(repository: Path) -> None:
    _took_out(repository)
    _git(repository, "checkout", "-q", "--orphan", "fresh")
    assert _answers(repository, ("git show main", "git log -p main", "git grep x main~1")) == {"ask"}
    _git(repository, "checkout", "-qf", "main")
    _commit(repository, MOST_COMMITS)
    assert _answers(repository, ("git show HEAD",)) == {"allow"}
    (repository / ".git/reftable").mkdir()
    assert _answers(repository, ("git show HEAD", "git log -p")) == {"ask"}


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


def test_objects_are_read_as_git_reads_them(repository: Path) -> None:
    for number in range(30):
        for other in range(30):
            (repository / f"docs/{other}").write_text(f"{number if other == number else 0}\n")
        _git(repository, "add", ".")
        _git(repository, "commit", "-q", "-m", "x")
    store = f"{repository}/.git/objects"
    for packed in (False, True):
        if packed:
            _git(repository, "repack", "-adfq", "--depth=30")
        listed = _git(
            repository, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(deltabase)"
        )
        rows = [line.split() for line in listed.splitlines()]
        assert any(set(base) != {"0"} for _, kind, base in rows if kind == "tree") is packed
        for number, kind, _ in rows:
            read = read_object(number, store)
            assert read is not None
            assert read[0].decode() == kind
            assert hashlib.sha1(b"%b %d\0%b" % (read[0], len(read[1]), read[1])).hexdigest() == number


def test_the_paths_are_those_in_which_the_trees_differ(repository: Path) -> None:
    _git(repository, "rm", "-rq", "src/deep")
    _git(repository, "commit", "-q", "-m", "out")
    number = _git(repository, "rev-parse", "HEAD").strip()
    commits = Commits(number, f"{repository}/.git/objects", f"{repository}/.git/shallow", MOST_COMMITS)
    found = committed_secrets(commits, f"{repository}/.git/index")
    assert found == ("src/deep/conf/server.pem",)
