"""Reading with git where `.git` is a file: in worktrees that git itself linked and in submodules, and in no other."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .asked import decide

READING = ("git status", "git diff", "git log -p -1", "git show HEAD:a.txt", "git blame a.txt", "git branch -a")
ENVIRONMENT = {
    **{f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
    "PATH": os.environ["PATH"],
    "HOME": "/nowhere",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *words],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def a_repository(folder: Path) -> Path:
    (folder / "held").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "held/x").write_text("held\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder with a repository ``main`` and its linked worktree ``ws``."""
    a_repository(tmp_path / "main")
    git(tmp_path / "main", "worktree", "add", "-q", "-b", "topic", str(tmp_path / "ws"))
    return tmp_path


def asked(folder: Path, command: str = "git status", **more: Any) -> str:
    return decide(command, workspace=str(folder), home="/nowhere/home", **more)


@pytest.mark.parametrize("command", READING)
def test_reading_in_a_linked_worktree_needs_no_rule(command: str, top: Path) -> None:
    git(top / "ws", *command.split()[1:])
    assert asked(top / "ws", command) == "allow"
    (top / "ws/sub").mkdir()
    assert asked(top / "ws", f"cd sub && {command.replace(' a.txt', ' ../a.txt')}") == "allow"


def test_git_writes_the_path_in_several_forms(top: Path) -> None:
    own = top / "main/.git/worktrees/ws"
    for named, back in (
        (f"{own}\n", f"{top}/ws/.git\n"),
        (f"{own}\r\n\n", f"{top}/ws/.git"),
        ("../main/.git/worktrees/ws", "../../../../ws/.git\n"),  # worktree.useRelativePaths
    ):
        (top / "ws/.git").write_text(f"gitdir: {named}")
        (own / "gitdir").write_text(back)
        assert git(top / "ws", "status") != ""
        assert asked(top / "ws") == "allow"


def test_a_worktree_inside_the_workspace_of_its_repository(tmp_path: Path) -> None:
    main = a_repository(tmp_path / "main")
    git(main, "worktree", "add", "-q", "-b", "topic", "trees/x")
    for command in READING:
        assert asked(main, f"cd trees/x && {command}") == "allow"
    assert asked(main, "cd trees/x && git show HEAD:held/x") == "allow"
    assert asked(main, "cd trees/x && git show HEAD:held/x", deny=["Read(./held/**)"]) != "allow"


def test_a_worktree_in_the_workspace_may_belong_to_a_repository_outside(top: Path) -> None:
    git(top / "main", "worktree", "add", "-q", "-b", "other", str(top / "work/x"))
    assert asked(top / "work", "cd x && git log -p") == "allow"


@pytest.mark.parametrize("rule", ["Read(held/**)", "Read(./held/**)", "Read(held/x)"])
@pytest.mark.parametrize(
    "command", ["git show HEAD:held/x", "git diff", "git log -p", "git show main", "git cat-file -p HEAD:held/x"]
)
def test_rules_for_reading_hold_for_tracked_files(rule: str, command: str, top: Path) -> None:
    assert asked(top / "ws", command, deny=[rule]) == asked(top / "main", command, deny=[rule]) != "allow"
    assert asked(top / "ws", "git status", deny=[rule]) == "allow"
    assert asked(top / "ws", "git show HEAD:a.txt", deny=[rule]) == "allow"


@pytest.mark.parametrize("rule", ["Read(//{top}/main/**)", "Read(//{top}/main/.git/**)", "Read(//{top}/**/objects/**)"])
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_rule_about_the_repository_itself_holds(rule: str, kind: str, top: Path) -> None:
    text = rule.replace("{top}", str(top).strip("/"))
    assert asked(top / "ws", "git status", **{kind: [text]}) == "ask"
    assert (
        asked(top / "ws", "git status", **{kind: [text.replace("main", "elsewhere").replace("**/o", "x/o")]}) == "allow"
    )


def test_a_repository_among_the_secrets_of_the_home_asks(tmp_path: Path) -> None:
    main = a_repository(tmp_path / "home/.ssh/main")
    git(main, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "ws"))
    assert decide("git status", workspace=str(tmp_path / "ws"), home=str(tmp_path / "home")) == "ask"


def test_a_tracked_secret_asks_by_the_index_of_the_worktree(top: Path) -> None:
    (top / "ws/key.pem").write_text("x")
    assert asked(top / "ws", "git diff HEAD") == "allow"
    git(top / "ws", "add", "-f", "key.pem")
    assert asked(top / "ws", "git diff HEAD") == "ask"
    assert asked(top / "ws", "git diff --stat HEAD") == "allow"
    assert asked(top / "main", "git diff HEAD") == "allow"


def _fake(folder: Path, settings: str = "") -> Path:
    """A folder that git takes for a repository, made by hand."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(f"[core]\n\tbare = false\n{settings}")
    return folder


def _points(top: Path, target: str) -> None:
    (top / "ws/.git").write_text(f"gitdir: {target}\n")


def _folder_of_the_workspace(top: Path) -> None:
    _fake(top / "ws/fake.git", "\tfsmonitor = sh evil\n")
    _points(top, "fake.git")


def _harmless_folder_of_the_workspace(top: Path) -> None:
    _fake(top / "ws/fake.git", f"\tworktree = {top}/ws\n")
    _points(top, "fake.git")


def _pair_in_the_workspace(top: Path) -> None:
    own = _fake(top / "ws/fake") / "worktrees/ws"
    own.mkdir(parents=True)
    shutil.copy(top / "ws/fake/HEAD", own)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{top}/ws/.git\n")
    _points(top, str(own))


def _pair_outside_that_an_agent_may_write(top: Path) -> None:
    shutil.move(top / "main/.git", top / "bare")
    _points(top, f"{top}/bare/worktrees/ws")


def _among_programs_of_packages(top: Path) -> None:
    own = _fake(top / "ws/node_modules/.bin/fake") / "worktrees/ws"
    own.mkdir(parents=True)
    shutil.copy(top / "ws/node_modules/.bin/fake/HEAD", own)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{top}/ws/.git\n")
    _points(top, str(own))


def _another_repository(top: Path) -> None:
    a_repository(top / "private")
    _points(top, f"{top}/private/.git")


def _worktree_of_another_folder(top: Path) -> None:
    git(a_repository(top / "private"), "worktree", "add", "-q", "-b", "topic", str(top / "other"))
    _points(top, f"{top}/private/.git/worktrees/other")


def _main_repository_itself(top: Path) -> None:
    _points(top, f"{top}/main/.git")


def _commondir_elsewhere(top: Path) -> None:
    a_repository(top / "private")
    (top / "main/.git/worktrees/ws/commondir").write_text("../../../../private/.git\n")


def _commondir_is_a_link(top: Path) -> None:
    path = top / "main/.git/worktrees/ws/commondir"
    path.rename(top / "commondir")
    path.symlink_to(top / "commondir")


def _no_back_pointer(top: Path) -> None:
    (top / "main/.git/worktrees/ws/gitdir").unlink()


def _back_pointer_of_two_lines(top: Path) -> None:
    (top / "main/.git/worktrees/ws/gitdir").write_text(f"{top}/ws/.git\nx\n")


def _by_a_link_on_the_way(top: Path) -> None:
    (top / "way").symlink_to(top / "main/.git/worktrees")
    _points(top, f"{top}/way/ws")


def _by_a_link_and_back(top: Path) -> None:
    """The text leads to the genuine folder, the kernel to another one."""
    a_repository(top / "private")
    (top / "ws/way").symlink_to(top / "private/.git/refs")
    _points(top, "way/../../main/.git/worktrees/ws")


def _the_file_is_a_link(top: Path) -> None:
    (top / "ws/.git").rename(top / "git")
    (top / "ws/.git").symlink_to(top / "git")


def _text_behind_it(top: Path) -> None:
    with (top / "ws/.git").open("a") as file:
        file.write("x\n")


def _spaces_in_front(top: Path) -> None:
    _points(top, f" {top}/main/.git/worktrees/ws")


def _long_file(top: Path) -> None:
    with (top / "ws/.git").open("a") as file:
        file.write("\n" * 6_000)


def _pipe(top: Path) -> None:
    (top / "ws/.git").unlink()
    os.mkfifo(top / "ws/.git")


def _nested_commondir(top: Path) -> None:
    (top / "main/.git/commondir").write_text("../../private/.git\n")


def _alternates(top: Path) -> None:
    a_repository(top / "private")
    (top / "main/.git/objects/info/alternates").write_text(f"{top}/private/.git/objects\n")


def _objects_by_a_link(top: Path) -> None:
    shutil.move(top / "main/.git/objects", top / "objects")
    (top / "main/.git/objects").symlink_to(top / "objects")


def _link_to_a_text(top: Path) -> None:
    (top / "main/.git/worktrees/ws/shallow").symlink_to("/etc/hosts")


def _link_in_the_shared_folder(top: Path) -> None:
    (top / "main/.git/shallow").symlink_to("/etc/hosts")


def _program_in_the_shared_settings(top: Path) -> None:
    git(top / "main", "config", "core.fsmonitor", "sh tools/x")


def _program_in_the_settings_of_the_worktree(top: Path) -> None:
    git(top / "main", "config", "extensions.worktreeConfig", "true")
    git(top / "ws", "config", "--worktree", "core.fsmonitor", "sh tools/x")


def _settings_from_the_work_tree(top: Path) -> None:
    git(top / "main", "config", "include.path", f"{top}/ws/more")


def _hook(top: Path) -> None:
    hook = top / "main/.git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


def _hooks_of_the_work_tree(top: Path) -> None:
    git(top / "main", "config", "core.hooksPath", "tools")
    (top / "ws/tools").mkdir()
    (top / "ws/tools/post-index-change").write_text("#!/bin/sh\n")
    (top / "ws/tools/post-index-change").chmod(0o755)


def _another_work_tree(top: Path) -> None:
    git(top / "main", "config", "extensions.worktreeConfig", "true")
    git(top / "ws", "config", "--worktree", "core.worktree", str(top / "main"))


def _partial(top: Path) -> None:
    git(top / "main", "config", "remote.x.promisor", "true")


HOSTILE = [
    _folder_of_the_workspace, _harmless_folder_of_the_workspace, _pair_in_the_workspace, _another_repository,
    _pair_outside_that_an_agent_may_write, _among_programs_of_packages, _worktree_of_another_folder,
    _main_repository_itself, _commondir_elsewhere, _commondir_is_a_link, _no_back_pointer, _back_pointer_of_two_lines,
    _by_a_link_on_the_way, _by_a_link_and_back, _the_file_is_a_link, _text_behind_it, _spaces_in_front, _long_file,
    _pipe, _nested_commondir, _alternates, _objects_by_a_link, _link_to_a_text, _link_in_the_shared_folder,
    _program_in_the_shared_settings, _program_in_the_settings_of_the_worktree, _settings_from_the_work_tree, _hook,
    _hooks_of_the_work_tree, _another_work_tree, _partial,
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE)
def test_whatever_git_did_not_link_asks(change: Callable[[Path], None], top: Path) -> None:
    assert asked(top / "ws", "git show HEAD") == "allow"
    change(top)
    for mode in ("default", "acceptEdits"):
        assert asked(top / "ws", "git show HEAD", mode=mode) == "ask"
        assert asked(top / "ws", "cd held && git status", mode=mode) == "ask"


@pytest.mark.parametrize(
    "path", [".git", "./.GIT", "../main/.git/hooks/pre-commit", "../main/.git/worktrees/ws/gitdir"]
)
def test_what_links_a_worktree_is_protected(path: str, top: Path) -> None:
    for command in (f"echo x > {path}", f"cp a.txt {path}", f"rm {path}", f"sed -i s/a/b/ {path}"):
        assert asked(top / "ws", command, mode="auto", allow=["Bash", "Edit"]) == "ask"


def test_a_workspace_below_the_top_of_a_worktree_asks_as_in_a_plain_repository(top: Path) -> None:
    for tree in ("main", "ws"):
        assert asked(top / tree / "held") == "ask"


@pytest.fixture
def super_project(tmp_path: Path) -> Path:
    a_repository(tmp_path / "lib")
    project = a_repository(tmp_path / "super")
    git(project, "submodule", "add", "-q", str(tmp_path / "lib"), "vendor/lib")
    git(project, "commit", "-qm", "lib")
    return project


def test_reading_in_a_submodule_needs_no_rule(super_project: Path) -> None:
    for command in READING:
        assert asked(super_project, command) == "allow"
        assert asked(super_project, f"cd vendor/lib && {command}") == "allow"
        assert asked(super_project / "vendor/lib", command) == "allow"  # its repository lies outside this workspace


def test_a_submodule_that_another_repository_stands_in_for_asks(super_project: Path) -> None:
    submodule = super_project / "vendor/lib"
    genuine = (submodule / ".git").read_text()
    a_repository(super_project.parent / "private")
    for target in ("../../../private/.git", "../../.git", "../../../lib/.git"):
        (submodule / ".git").write_text(f"gitdir: {target}\n")
        assert asked(super_project, "cd vendor/lib && git log") == "ask"
        assert asked(submodule, "git log") == "ask"
    (submodule / ".git").write_text(genuine)
    settings = super_project / ".git/modules/vendor/lib/config"
    text = settings.read_text()
    for changed in (
        text.replace("worktree = ", "#worktree = "),
        text.replace("/vendor/lib", "/vendor/x"),
        text.replace("vendor/lib\n", "vendor/lib # x\n"),
        f"{text}[core]\n\tworktree = ../../../../x\n",
        f"{text}[core]\n\tfsmonitor = sh x\n",
    ):
        assert changed != text
        settings.write_text(changed)
        assert asked(super_project, "cd vendor/lib && git log") == "ask"
        assert asked(submodule, "git log") == "ask"
    settings.write_text(text)
    assert asked(submodule, "git log") == "allow"


def test_a_submodule_of_a_linked_worktree(super_project: Path) -> None:
    tree = super_project.parent / "tree"
    git(super_project, "worktree", "add", "-q", "-b", "topic", str(tree))
    assert asked(tree) == "allow"
    git(tree, "submodule", "update", "-q", "--init")
    assert "worktrees/tree/modules" in (tree / "vendor/lib/.git").read_text()
    for command in ("git status", "cd vendor/lib && git log -p"):
        assert asked(tree, command) == "allow"
    git(tree / "vendor/lib", "config", "core.fsmonitor", "sh x")
    for command in ("git status", "cd vendor/lib && git log -p"):
        assert asked(tree, command) == "ask"


def test_a_folder_of_git_that_names_no_work_tree_asks(tmp_path: Path) -> None:
    for name in ("ws", "kept"):
        (tmp_path / name).mkdir()
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept/.git"), str(tmp_path / "ws"))
    assert asked(tmp_path / "ws") == "ask"


def test_the_addresses_of_remotes_are_those_of_the_shared_settings(top: Path) -> None:
    git(top / "main", "remote", "add", "other", "ext::evil x")
    git(top / "main", "remote", "add", "fine", "https://example.org/x")
    deny = ["Bash(evil:*)"]
    assert asked(top / "ws", "git fetch other", deny=deny, mode="auto") == "ask"
    assert asked(top / "ws", "git fetch fine", deny=deny, mode="auto") == "allow"


def test_a_link_on_the_way_to_the_repository_of_a_submodule_asks(super_project: Path) -> None:
    private = a_repository(super_project.parent / "private")
    (private / "held/deep").mkdir()
    shutil.copytree(super_project / ".git/modules", private / ".git/modules")
    git(private, "config", "--file", ".git/modules/vendor/lib/config", "core.fsmonitor", "sh x")
    (super_project / "vendor/way").symlink_to(private / "held/deep")
    # By its text this is the folder in `super`, for the system the one in `private`.
    (super_project / "vendor/lib/.git").write_text("gitdir: ../way/../../.git/modules/vendor/lib\n")
    assert asked(super_project) == "ask"
