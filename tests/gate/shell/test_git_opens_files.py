"""Files that git opens in the work tree although no word names them, in repositories that somebody made (S9)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .asked import decide
from .indexes import entry, index_of

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(folder: Path, *words: str, text: str | None = None) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True, input=text).stdout.strip()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An ordinary repository, with a tracked folder ``d`` that may become a link to one outside."""
    top = tmp_path / "tree"
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/credentials").write_text("TOPSECRET\n")
    for name in ("a.txt", "src/a.py", "conf/b", "conf2/b", "d/credentials"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return top


def turn_to_a_link(work: Path) -> None:
    (work / "d/credentials").unlink()
    (work / "d").rmdir()
    (work / "d").symlink_to("../outside")


def prints_secret(work: Path, command: str) -> bool:
    done = subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, text=True, check=False)
    return "TOPSECRET" in done.stdout


def verdict(work: Path, command: str, **asked: object) -> str:
    return decide(command, workspace=str(work), **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command", ["git diff", "git diff --cc", "git diff -- d/credentials", "git diff-files -p", "git diff-files --cc"]
)
def test_versions_that_were_not_merged_are_compared_with_the_file_wherever_it_lies(work: Path, command: str) -> None:
    blob = git(work, "rev-parse", "HEAD:d/credentials")
    lines = "".join(f"100644 {blob} {stage}\td/credentials\n" for stage in (1, 2, 3))
    git(work, "update-index", "--index-info", text=f"0 {'0' * 40}\td/credentials\n{lines}")
    if command != "git diff-files -p":
        assert verdict(work, "git diff") == "allow"
    turn_to_a_link(work)
    assert prints_secret(work, command)
    assert verdict(work, command) == "ask"


@pytest.mark.parametrize("command", ["git blame d/credentials", "git blame -L1,1 -- d/credentials"])
def test_a_file_is_blamed_wherever_a_link_leads(work: Path, command: str) -> None:
    assert verdict(work, command) == "allow"
    turn_to_a_link(work)
    assert prints_secret(work, command)
    assert verdict(work, command) == "ask"


def test_where_dates_alone_tell_changes_a_link_may_stand_for_a_folder(work: Path) -> None:
    turn_to_a_link(work)
    assert verdict(work, f"git diff --cached {EMPTY_TREE}") == "allow"
    git(work, "config", "core.checkStat", "minimal")
    assert verdict(work, f"git diff --cached {EMPTY_TREE}") == "ask"


@pytest.mark.parametrize(
    "command",
    ["git diff ../tree/conf2 conf", "cd conf && git diff ../../tree/conf2 .", "cd .git && git diff ../conf2 ../conf",
     "git -C sub diff ../conf2 ../conf", "cd sub && git diff ../conf2 ../conf"],
)  # fmt: skip
def test_two_paths_of_which_one_leaves_the_repository_are_compared_as_they_are(work: Path, command: str) -> None:
    (work / "conf/.env").write_text("TOPSECRET\n")
    git(work, "init", "-q", "sub")
    assert prints_secret(work, command)
    assert verdict(work, command) == "ask"


def test_two_folders_of_a_repository_are_compared_by_what_git_tracks(work: Path) -> None:
    (work / "conf/.env").write_text("TOPSECRET\n")
    for command in ("git diff conf2 conf", "git diff -- conf2 conf", "cd conf && git diff ../conf2 ."):
        assert not prints_secret(work, command)
        assert verdict(work, command) == "allow"


@pytest.mark.parametrize(
    "settings",
    ["[core]\n\trepositoryformatversion = 99\n", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfoo = bar\n",
     "HEAD"],
)  # fmt: skip
def test_where_git_takes_no_repository_two_folders_are_compared_as_they_are(work: Path, settings: str) -> None:
    (work / "conf/.env").write_text("TOPSECRET\n")
    if settings == "HEAD":
        (work / ".git/HEAD").unlink()
    else:
        (work / ".git/config").write_text(settings)
    assert prints_secret(work, "git diff conf2 conf")
    assert verdict(work, "git diff conf2 conf") == "ask"


def test_two_files_are_compared_through_a_link_as_they_are(work: Path) -> None:
    assert verdict(work, "git diff a.txt d/credentials") == "allow"
    turn_to_a_link(work)
    assert prints_secret(work, "git diff ../tree/a.txt d/credentials")
    assert verdict(work, "git diff ../tree/a.txt d/credentials") == "ask"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_git_takes_no_repository_of_somebody_else(work: Path) -> None:
    (work / "conf/.env").write_text("TOPSECRET\n")
    os.chown(work / ".git", 1234, 1234)
    os.chown(work, 1234, 1234)
    assert verdict(work, "git diff conf2 conf") == "ask"


@pytest.fixture
def tracked(work: Path) -> Path:
    """The same with secrets that git tracks, and a branch that is called like a folder."""
    for name in (".env", "conf/prod/.env"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("TOPSECRET\n")
    git(work, "add", "-f", ".")
    git(work, "commit", "-qm", "second")
    git(work, "branch", "src")
    git(work, "tag", "blob", "HEAD:.env")
    git(work, "tag", "folder", "HEAD:conf")
    (work / "later").write_text("x\n")
    git(work, "add", "later")
    git(work, "commit", "-qm", "third")
    return work


OF_TRACKED = [
    # A tag may name anything; a branch names a commit.
    "git diff blob a.txt", "git diff blob -- a.txt", "git diff 'blob^{{}}' a.txt", "git grep TOP blob -- a.txt",
    "git grep TOP blob a.txt", "git grep -h . tags/blob -- a.txt", "git grep TOP folder -- prod a.txt",
    "git diff folder HEAD -- a.txt prod", "git diff-tree -p folder HEAD -- a.txt prod", "git show blob -- a.txt",
    "git diff-index -p folder -- prod a.txt", "git cat-file -p blob", "git cat-file blob tags/blob",
    # In front of `--` stands a revision, whatever folder has its name.
    "git show src --", "git log -p src --", "git log -p -1 src --", "git diff {e} src --", "git grep . src --",
    "git grep -h T src --", "git diff-tree -p --root src --", "git show HEAD~1 src --", "git whatchanged -p src --",
    # A path limits commits, not the contents of a file, and counts from the top of a tree.
    "git diff {b} a.txt", "git show {b} -- a.txt", "git show {b} a.txt", "git grep -h . {b} -- a.txt",
    "git diff {e} HEAD:conf -- prod a.txt", "git diff HEAD:src HEAD:conf -- prod a.txt",
    "git grep . HEAD:conf -- prod a.txt",
    # Other spellings of a number.
    "git cat-file -p x-g{b}", "git cat-file -p x-1-g{s}", "git cat-file -p '{b}^{{}}^{{}}'",
    "git cat-file blob '{b}^{{blob}}^{{blob}}'", "git show x-g{b} -- a.txt", "git diff x-g{b} a.txt",
    "git grep -h . x-g{b} -- a.txt", "x={b}; git cat-file -p \"x-g$x\"",
    # Paths that mean more than they say.
    "git show src -- a.txt '.\\env'", "git grep . -- a.txt '.\\env'", "git diff {e} -- a.txt '.\\env'",
    "git --icase-pathspecs show src -- CONF a.txt", "git --icase-pathspecs grep . -- .ENV",
]  # fmt: skip


@pytest.mark.parametrize("command", OF_TRACKED)
def test_no_word_hides_a_tracked_secret_that_is_printed(tracked: Path, command: str) -> None:
    blob = git(tracked, "rev-parse", "HEAD:.env")
    command = command.format(e=EMPTY_TREE, b=blob, s=blob[:10])
    assert prints_secret(tracked, command)
    assert verdict(tracked, command) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git diff HEAD~1 -- src", "git log -p -- src", "git show HEAD -- src", "git grep x -- src",
     "git diff main src/a.py",
     "git show main -- src", "git cat-file -p main", "git diff main..src -- src",
     "git show src~1 -- src", "git diff heads -- a.txt",
     "git log -p src", "git diff HEAD:src/a.py HEAD~1:src/a.py -- src", "git log -p 1a2b3c4 -- src"],
)  # fmt: skip
def test_paths_beside_commits_limit_what_is_printed(tracked: Path, command: str) -> None:
    # The branch `src` may be meant where the text deletes the folder before.
    unsure = ":" in command or "heads" in command or command == "git log -p src"
    for packed in (False, True):
        if packed:
            git(tracked, "pack-refs", "--all")
        assert verdict(tracked, command) == ("ask" if unsure else "allow")


@pytest.mark.parametrize(
    "command", ["git log -p --follow .env.example", "git log -p --follow -- .env.example", "git log -p -- .env.example"]
)
def test_git_goes_over_to_the_file_that_another_was_copied_from(tracked: Path, command: str) -> None:
    (tracked / ".env.example").write_text("TOPSECRET\n")
    git(tracked, "add", "-f", ".env.example")
    git(tracked, "commit", "-qm", "fourth")
    if "--follow" not in command:
        assert verdict(tracked, command) == "allow"
        git(tracked, "config", "log.follow", "true")
    assert verdict(tracked, command) == "ask"


@pytest.mark.parametrize("options", ["-C -C", "--find-copies-harder", "--find-copies=1% --find-copies-harder"])
def test_a_copy_is_compared_with_a_file_that_did_not_change(tracked: Path, options: str) -> None:
    (tracked / ".env.example").write_text("TOPSECRET\nmore\n")
    git(tracked, "add", "-f", "-N", ".env.example")
    assert verdict(tracked, "git diff") == "allow"
    assert verdict(tracked, f"git diff {options}") == "ask"


@pytest.mark.parametrize("url", ["/srv/other", "./inner", "file:///srv/other", "../x"])
def test_a_partial_clone_fetches_nothing_from_this_machine(work: Path, url: str) -> None:
    git(work, "config", "remote.o.promisor", "true")
    git(work, "config", "remote.o.url", url)
    assert verdict(work, "git status") == "ask"


def test_without_an_index_it_is_not_known_what_git_tracks(tracked: Path) -> None:
    (tracked / ".git/index").unlink()
    assert prints_secret(tracked, "git log -p")
    assert verdict(tracked, "git log -p") == "ask"
    git(tracked, "pack-refs", "--all")
    assert verdict(tracked, "git log -p") == "ask"


def test_a_repository_without_commits_tracks_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert verdict(tmp_path, "git diff") == "allow"


def test_an_index_of_another_version_may_have_versions_that_were_not_merged(work: Path) -> None:
    (work / ".git/index").write_bytes(index_of(entry("d/credentials", 0o100644)))
    assert verdict(work, "git diff") == "allow"
    (work / ".git/index").write_bytes(index_of(entry("d/credentials", 0o100644), version=4))
    assert verdict(work, "git diff") == "ask"


def test_an_index_over_packs_names_none_in_another_folder(work: Path) -> None:
    git(work, "repack", "-adq")
    git(work, "multi-pack-index", "write")
    assert verdict(work, "git log -p") == "allow"
    index = work / ".git/objects/pack/multi-pack-index"
    index.chmod(0o644)
    index.write_bytes(index.read_bytes().replace(b"pack-", b"../x-"))
    assert verdict(work, "git log -p") == "ask"
    index.write_bytes(b"MIDX")
    assert verdict(work, "git log -p") == "ask"
    index.unlink()
    (work / ".git/objects/pack/multi-pack-index.d").mkdir()
    assert verdict(work, "git log -p") == "allow"
    (work / ".git/objects/pack/multi-pack-index.d/multi-pack-index-chain").write_text("x")
    assert verdict(work, "git log -p") == "ask"


@pytest.mark.parametrize("command", ["git ls-files -m", "git ls-files -t -m '*'", "git ls-files --eol d"])
def test_files_that_are_only_compared_are_not_reached_through_a_link(command: str, work: Path) -> None:
    assert decide(command, workspace=str(work)) == "allow"
    turn_to_a_link(work)
    assert decide(command, workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", ["git status", "git diff --stat", "git describe --always"])
def test_a_list_of_submodules_that_is_a_link_is_not_read(command: str, work: Path) -> None:
    assert decide(command, workspace=str(work)) == "allow"
    (work / ".gitmodules").symlink_to("../outside/credentials")
    assert decide(command, workspace=str(work)) == "ask"


@pytest.mark.parametrize("form", ["%G?", "%\tG?", "%\rGG", "% \tG?"])
def test_a_format_of_settings_that_verifies_with_a_strange_blank_asks(form: str, work: Path) -> None:
    assert decide("git log -1", workspace=str(work)) == "allow"
    git(work, "config", "format.pretty", form)
    assert decide("git log -1", workspace=str(work)) == "ask"


@pytest.mark.parametrize("key", ["allowedSignersFile", "revocationFile"])
def test_a_list_of_signers_elsewhere_asks(key: str, work: Path) -> None:
    (work / "signers").write_text("a@example.org ssh-ed25519 AAAA\n")
    git(work, "config", f"gpg.ssh.{key}", str(work / "signers"))
    assert decide("git log -1", workspace=str(work)) == "allow"
    git(work, "config", f"gpg.ssh.{key}", str(work.parent / "outside/credentials"))
    assert decide("git log -1", workspace=str(work)) == "ask"


@pytest.mark.parametrize("command", ["git status", "git diff --stat"])
def test_a_list_of_submodules_of_a_submodule_is_not_read_through_a_link(command: str, work: Path) -> None:
    inner = work / "sub"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "a")
    git(work, "add", "sub")
    assert decide(command, workspace=str(work)) == "allow"
    (inner / ".gitmodules").symlink_to("../outside/credentials")
    assert decide(command, workspace=str(work)) == "ask"
