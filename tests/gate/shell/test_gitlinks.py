"""Submodules in git's index are found as git finds them, by the kind in their mode, in each version of the index."""

from __future__ import annotations

import hashlib
import struct
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.files.git_index import gitlinks

from .asked import HOME, decide
from .indexes import entry, index_of

NAMES = ["a/b.py", "a/bc.py", "a/bc/d", "a/sub", "sub", "sub2/x", "s", "x" * 200 + "/y", "ü/sub"]


def git(top: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.quotePath=false")
    return subprocess.run(["git", *settings, *words], cwd=top, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with files, and with three others in it that it tracks."""
    top = tmp_path / "work"
    top.mkdir()
    git(top, "init", "-q")
    for name in NAMES:
        file = top / name
        if file.name == "sub":
            file.mkdir(parents=True)
            git(file, "init", "-q")
            git(file, "commit", "-q", "--allow-empty", "-m", "a")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
    git(top, "add", "-A")
    git(top, "commit", "-qm", "a")
    return top


@pytest.mark.parametrize("version", [2, 3, 4])
def test_submodules_are_found_in_each_version(version: int, repository: Path) -> None:
    git(repository, "update-index", f"--index-version={version}")
    if version == 3:
        git(repository, "update-index", "--skip-worktree", "s")
    assert (repository / ".git/index").read_bytes()[7] == version
    listed = [line.split("\t")[1] for line in git(repository, "ls-files", "-s").splitlines() if line[:6] == "160000"]
    assert len(listed) == 3
    assert gitlinks(f"{repository}/.git/index") == tuple(listed)


def rewritten(data: bytes, how: str) -> bytes:
    """The index with its first submodule under another mode, or with a length of its name that is not its own."""
    at = data.index(struct.pack(">I", 0o160000))
    kept = bytearray(data)
    if how == "length":
        (flags,) = struct.unpack_from(">H", data, at + 36)
        struct.pack_into(">H", kept, at + 36, flags + 1)
    else:
        struct.pack_into(">I", kept, at, int(how, 8))
    kept[-20:] = hashlib.sha1(kept[:-20]).digest()
    return bytes(kept)


@pytest.mark.parametrize("how", ["0160644", "0160755", "03160000", "length"])
@pytest.mark.parametrize("command", ["git status", "git diff --stat", "git ls-files"])
def test_a_submodule_with_a_strange_entry_is_looked_into(command: str, how: str, repository: Path) -> None:
    for folder in repository.rglob("sub"):
        git(folder, "config", "core.fsmonitor", "touch /tmp/x; false")
    index = repository / ".git/index"
    index.write_bytes(rewritten(index.read_bytes(), how))
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


def test_an_ordinary_submodule_is_read_without_a_rule(repository: Path) -> None:
    for version in (2, 4):
        git(repository, "update-index", f"--index-version={version}")
        assert decide("git status", workspace=str(repository), home=HOME) == "allow"


@pytest.mark.parametrize("name", ["/etc/hostname", "../home/.aws/credentials", "a/../../x", "a//b.py", ".git/config"])
@pytest.mark.parametrize("command", ["git status", "git diff --stat", "git diff-files"])
def test_an_index_with_a_name_that_leads_elsewhere_is_not_read_without_a_rule(
    command: str, name: str, repository: Path
) -> None:
    index = repository / ".git/index"
    index.write_bytes(index_of(entry("a/b.py", 0o100644)))
    assert decide(command, workspace=str(repository), home=HOME) == "allow"

    index.write_bytes(index_of(entry(name, 0o100644), entry("a/b.py", 0o100644)))
    assert decide(command, workspace=str(repository), home=HOME) == "ask"


def test_objects_behind_a_link_are_not_read_without_a_rule(repository: Path) -> None:
    (repository / ".git/objects").rename(repository / "objects")
    (repository / ".git/objects").symlink_to("../objects")
    assert decide("git show", workspace=str(repository), home=HOME) == "ask"


def test_a_tag_is_made_by_a_number_of_lines_that_lists_nothing() -> None:
    assert decide("git tag -n-1 new") == "ask"
    assert decide("git tag -nx new") == "ask"
    assert decide("git tag -n 'v*'") == decide("git tag -n3 'v*'")
