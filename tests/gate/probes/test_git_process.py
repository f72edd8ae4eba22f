"""git, asked for the files that a command prints, names all of them and changes and starts nothing."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from countersign.gate.probes import git_process
from countersign.gate.probes.git_process import GitCommand, Kind, files_named, kinds_of
from tests.patience import PATIENCE

NAMING = ("--name-status", "-z", "--format=")
LINES = "".join(f"{number}\n" for number in range(20))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q", "-b", "main")
    for name in ("a.txt", "old.txt", "dir/new\nline", os.fsdecode(b"dir/\xff")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name!r}\n{LINES}")
    _commit(tmp_path)
    return tmp_path


def _git(folder: Path, *words: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *person, *words], cwd=folder, capture_output=True, text=True, check=False).stdout


def _commit(folder: Path) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "x")


def _command(folder: Path, *words: str) -> GitCommand:
    return GitCommand(shutil.which("git") or "", os.defpath, (), words, str(folder))


def _asked(folder: Path, *words: str) -> frozenset[str] | None:
    return files_named((_command(folder, words[0], *NAMING, *words[1:]), _command(folder, *words)))


def test_both_names_of_a_moved_file_are_named_and_names_are_those_of_the_disk(repository: Path) -> None:
    (repository / "old.txt").rename(repository / "moved.txt")
    _commit(repository)
    assert _asked(repository, "show") == {"old.txt", "moved.txt"}
    assert _asked(repository, "show", "HEAD~1") == {"a.txt", "old.txt", "dir/new\nline", os.fsdecode(b"dir/\xff")}


def test_a_merge_in_which_a_file_was_moved_is_not_known(repository: Path) -> None:
    _git(repository, "switch", "-q", "-c", "topic")
    (repository / "old.txt").rename(repository / "moved.txt")
    _commit(repository)
    _git(repository, "switch", "-q", "main")
    (repository / "a.txt").write_text("x\n")
    _commit(repository)
    _git(repository, "merge", "-q", "--no-commit", "topic")
    (repository / "moved.txt").write_text(f"both\n{LINES}")
    _commit(repository)
    assert "-old.txt" not in _git(repository, "show", "--name-only")
    assert _asked(repository, "show") is None
    assert _asked(repository, "show", "-m") == {"a.txt", "old.txt", "moved.txt"}


@pytest.mark.parametrize("words", [("show", "nothing"), ("diff", "nothing", "--"), ("log", "x..HEAD")])
def test_where_git_finds_no_commit_it_prints_nothing(words: tuple[str, ...], repository: Path) -> None:
    assert _asked(repository, *words) == frozenset()


@pytest.mark.parametrize("settings", ["x\n", "[core]\n\trepositoryformatversion = 99\n"])
def test_where_git_works_in_no_repository_it_prints_nothing(settings: str, tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / ".git/config").write_text(settings)
    assert _asked(tmp_path, "diff", "HEAD~1") == frozenset()
    assert kinds_of((_command(tmp_path), ("HEAD",))) == (Kind("", ""),)


def test_a_failure_that_only_the_added_options_cause_is_no_answer(repository: Path) -> None:
    naming = _command(repository, "log", "--grep", "--name-status", "nothing")
    assert files_named((naming, _command(repository, "log", "--grep", "nothing"))) is None
    assert files_named((naming, _command(repository, "log", "nothing"))) == frozenset()


@pytest.mark.parametrize(
    "words",
    [("diff", "a.txt"), ("show", "--name-only", "HEAD"), ("log", "-L1,1:a.txt"), ("nothing",), ("diff", "--xx")],
)
def test_any_other_failure_is_no_answer(words: tuple[str, ...], repository: Path) -> None:
    _git(repository, "branch", "a.txt")
    assert _asked(repository, *words) is None


def test_the_kinds_of_names_are_those_that_git_finds(repository: Path) -> None:
    _git(repository, "tag", "-a", "-m", "x", "v1")
    _git(repository, "tag", "blob", "HEAD:a.txt")
    command = _command(repository)
    kinds = kinds_of((command, ("HEAD", "v1", "v1^{commit}", "blob", "HEAD:dir", "nothing", "a b", "")))
    assert kinds is not None
    assert [kind.kind for kind in kinds] == ["commit", "tag", "commit", "blob", "tree", "", "", ""]
    assert kinds[2] == Kind("commit", _git(repository, "rev-parse", "HEAD").strip())
    assert kinds_of((command, ("HEAD\nblob",))) is None
    assert kinds_of((command._replace(place=f"{repository}/nothing"), ("HEAD",))) is None


def test_asking_writes_nothing_and_starts_no_monitor_hook_or_pager(repository: Path) -> None:
    ran = repository / ".git/ran"
    for name in ("hook", "hooks/post-index-change", "hooks/fsmonitor"):
        file = repository / ".git" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        file.chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "pager.diff"):
        _git(repository, "config", setting, str(repository / ".git/hook"))
    for number, file in enumerate(sorted(repository.glob("*.txt"))):
        os.utime(file, (number, number))
    index = repository / ".git/index"
    before = index.read_bytes()
    assert _asked(repository, "diff") == {"a.txt", "old.txt"}, "git looks into no file to see that it is the same"
    assert index.read_bytes() == before
    assert not ran.exists()
    _git(repository, "diff", "--quiet")
    assert ran.exists(), "nothing would have been started"


def test_what_takes_too_long_is_ended_with_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_process, "TIME_LIMIT", 0.5)
    monkeypatch.setattr(git_process, "TIME_TO_END", 0.1)
    fifo, program = tmp_path / "fifo", tmp_path / "git"
    os.mkfifo(fifo)
    program.write_text(f"#!/bin/sh\ntrap '' TERM\n(exec sleep {10 * PATIENCE:.0f} > {fifo}) & wait\n")
    program.chmod(0o755)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    command = _command(tmp_path, "diff")._replace(program=str(program))
    assert files_named((command, command)) is None
    # What is written to a pipe ends when the last one that holds it has ended.
    assert select.select([reading], [], [], PATIENCE)[0]
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_of_our_own_variables_git_gets_none_that_choose_what_it_reads(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    _git(other, "init", "-q")
    expected, asked = _asked(repository, "show"), _command(repository, "show", *NAMING)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_TRACE"):
        monkeypatch.setenv(name, str(other / ".git"))
    monkeypatch.setenv("PATH", f"{other}:.")
    assert files_named((asked, asked)) == expected
    assert expected


def test_an_answer_that_is_too_long_is_none(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_process, "MOST_BYTES", 10)
    assert _asked(repository, "show") is None


def test_more_names_than_a_pipe_takes_are_not_asked_about(repository: Path) -> None:
    assert kinds_of((_command(repository), ("HEAD",) * 5_000)) is None


def test_a_program_that_reads_nothing_and_fails_gives_no_answer(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec <&-\nexit 1\n")
    program.chmod(0o755)
    assert kinds_of((_command(tmp_path)._replace(program=str(program)), ("HEAD",) * 10)) is None
