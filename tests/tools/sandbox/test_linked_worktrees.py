"""The sandbox in a linked worktree: git works, the settings and hooks of its repository cannot be changed, and a `.git`
file that git did not make opens nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from countersign.settings.policy import RuleText
from countersign.tools.sandbox.compile_boundary import blocking_boundary
from countersign.tools.sandbox.refusals import refusals_in
from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox
from tests.tools.sandbox.test_reads_confined import read

pytestmark = needs_sandbox


@pytest.fixture
def main(bench: SandboxBench) -> Path:
    """The repository outside; the workspace becomes a linked worktree of it."""
    main = bench.workspace.parent / "main"
    bench.workspace.rename(main)
    bench.workspace.mkdir()
    bench.git("-C", str(main), "config", "--unset", "core.hooksPath")
    bench.git("-C", str(main), "worktree", "add", "-q", "-b", "topic", str(bench.workspace))
    bench.git("worktree", "add", "-q", "-b", "other", str(main.parent / "other"))
    return main


async def done(bench: SandboxBench, command: str) -> str:
    outcome = await bench.do("shell", command=command)
    assert outcome.success, outcome.output
    return outcome.output


WORK = (
    "git status --short",
    "echo b >src/a.txt && git commit -qam second && git log --oneline | wc -l",
    "echo c >src/a.txt && git stash -q && git stash pop -q && git commit -qam third",
    "git switch -qc further && echo d >new.txt && git add new.txt && git commit -qm fourth && git switch -q topic"
    " && git merge -q further && git rebase -q HEAD~1 && git reset -q --hard HEAD~1",
    "git tag v1 && git branch third HEAD && git worktree list",
)


@pytest.mark.parametrize("command", WORK)
async def test_git_works_in_a_linked_worktree(command: str, bench: SandboxBench, main: Path) -> None:
    await done(bench, command)
    assert bench.git("fsck", "--strict") == ""
    assert bench.git("-C", str(main), "rev-parse", "--abbrev-ref", "HEAD") == "main\n"


async def test_commits_are_there_afterwards(bench: SandboxBench, main: Path) -> None:
    output = await done(bench, "echo b >src/a.txt && git commit -qam second && git rev-parse HEAD")
    assert bench.git("-C", str(main), "rev-parse", "topic").strip() in output
    assert bench.git("status", "--short", "-uno") == ""


LOCKED = (
    "config", "hooks/pre-commit", "commondir", "index", "HEAD", "packed-refs", "info/attributes", "config.worktree",
    "worktrees/workspace/commondir", "worktrees/workspace/gitdir", "worktrees/workspace/config.worktree",
    "worktrees/other/HEAD", "worktrees/other/commondir", "worktrees/other/config.worktree", "worktrees/new/x",
)  # fmt: skip


async def test_what_git_obeys_and_other_worktrees_cannot_be_changed(bench: SandboxBench, main: Path) -> None:
    git_dir = main / ".git"

    def content() -> dict[str, bytes]:
        paths = sorted(path for path in git_dir.rglob("*") if path.is_file() and "objects" not in path.parts)
        return {str(path): path.read_bytes() for path in paths}

    before = content()
    for name in LOCKED:
        tries = f"mkdir -p $(dirname {git_dir}/{name}); echo x >>{git_dir}/{name}; rm -f {git_dir}/{name}; echo y >y; "
        await bench.output_of(f"{tries} mv -f y {git_dir}/{name}; rm -f y")
        assert content() == before, name
    await bench.output_of(f"cd {git_dir}/worktrees && mv workspace gone; mv other gone; rm -rf other; rm -rf workspace")
    assert {name: text for name, text in content().items() if "/workspace/" not in name} == {
        name: text for name, text in before.items() if "/workspace/" not in name
    }
    assert {"commondir", "gitdir"} <= {path.name for path in (git_dir / "worktrees/workspace").iterdir()}


async def test_of_the_other_work_tree_only_its_repository_is_seen(bench: SandboxBench, main: Path) -> None:
    assert (await done(bench, f"ls -A {main}")).split() == [".git"]
    assert SECRET not in await bench.output_of(f"cat {main}/.env {main}/notes.txt")
    assert (main / ".env").exists()


async def test_what_fails_names_the_reason(bench: SandboxBench, main: Path) -> None:
    outcome = await bench.do("shell", command="git config user.name B")
    assert not outcome.success
    bench.git("pack-refs", "--all")
    outcome = await bench.do("shell", command="git branch -D other third; git update-ref -d refs/heads/main")
    assert not outcome.success
    assert "of a repository outside the workspace, commands" in outcome.output
    assert "main" in bench.git("branch")


async def test_a_file_that_git_did_not_make_opens_nothing(bench: SandboxBench, main: Path) -> None:
    (bench.workspace / ".git").write_text(f"gitdir: {main}/.git\n")
    outcome = await bench.do("shell", command="git status")
    assert not outcome.success
    boundary = blocking_boundary(bench.policy)
    said = refusals_in("fatal: not a git repository: /home/a/.git/worktrees/x", boundary, str(bench.workspace))
    assert said == ("`/home/a/.git/worktrees/x`: the sandbox shows the workspace, granted folders and programs only",)
    assert "No such file" in await bench.output_of(f"ls {main}/.git")


async def test_a_rule_about_the_repository_keeps_it_out(bench: SandboxBench, main: Path) -> None:
    bench.set(rules=(RuleText("deny", f"Read(/{main}/.git/**)"),))
    assert not (await bench.do("shell", command="git status")).success


@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize("rule", ["Edit(/{main}/**)", "Edit(/{main}/.git/refs/**)"])
async def test_a_rule_for_editing_keeps_the_repository_as_it_is(
    kind: Any, rule: str, bench: SandboxBench, main: Path
) -> None:
    bench.set(rules=(RuleText(kind, rule.format(main=main)),))
    outcome = await bench.do("shell", command="git log --format=%s && git status --short")
    assert outcome.success
    assert not (await bench.do("shell", command="git commit --allow-empty -qm second")).success
    assert "second" not in bench.git("log", "--all", "--format=%s")


async def test_links_of_worktrees_are_locked_in_the_main_repository(bench: SandboxBench) -> None:
    """What a linked worktree outside takes its settings from cannot be named by a command in the main one."""
    bench.git("worktree", "add", "-q", "-b", "other", str(bench.workspace.parent / "other"))
    own = bench.workspace / ".git/worktrees/other"
    before = {path.name: path.read_bytes() for path in own.iterdir() if path.is_file()}
    await bench.output_of("cd .git/worktrees/other && echo /x >commondir; echo /x >gitdir; echo x >config.worktree")
    await bench.output_of("cd .git/worktrees && mv other x; mkdir other && echo /x >other/commondir")
    await bench.output_of("cd .git/worktrees/other && echo /x >y; mv -f y commondir; rm -f y commondir gitdir")
    assert {path.name: path.read_bytes() for path in own.iterdir() if path.is_file()} == before


async def test_a_worktree_elsewhere_is_not_taken_for_removed(bench: SandboxBench) -> None:
    other, near = bench.workspace.parent / "other", bench.workspace / "trees/near"
    bench.git("worktree", "add", "-q", "-b", "other", str(other))
    bench.git("worktree", "add", "-q", "-b", "near", str(near))
    assert str(other) in await bench.output_of("git worktree prune -v --expire now; git worktree list")
    assert bench.git("-C", str(other), "status", "--short") == ""
    outcome = await bench.do("shell", command="cd trees/near && echo b >src/a.txt && git commit -qam second")
    assert outcome.success, outcome.output
    assert "second" in bench.git("log", "-1", "--format=%s", "near")


async def test_a_known_reader_reads_in_a_linked_worktree(bench: SandboxBench, main: Path) -> None:
    for mode in ("off", "commands"):
        outcome = await read(bench, "git log --format=%s; git status --short -uno; git tag x", mode=mode)
        assert "first" in outcome.output
        assert "Read-only file system" in outcome.output
    assert bench.git("tag") == ""


async def test_the_file_that_links_it_cannot_be_changed(bench: SandboxBench, main: Path) -> None:
    before = (bench.workspace / ".git").read_text()
    await bench.output_of("echo x >.git; rm -f .git; echo 'gitdir: /x' >y; mv -f y .git; mv .git z; rm -f y")
    assert (bench.workspace / ".git").read_text() == before


async def test_git_works_in_a_submodule_that_is_the_workspace(bench: SandboxBench) -> None:
    above = bench.workspace.parent / "super"
    library = bench.workspace.parent / "library"
    bench.workspace.rename(library)
    bench.workspace.mkdir()
    bench.git("init", "-q", str(above))
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    bench.git("-C", str(above), *add)
    submodule = above / "lib"
    bench.workspace.rmdir()
    bench.workspace = submodule
    bench.set(workspace=str(submodule))
    git_dir = above / ".git/modules/lib"
    before = (git_dir / "config").read_bytes()
    commit = "git -c user.name=A -c user.email=a@example.org commit -qam second"
    outcome = await bench.do("shell", command=f"git status --short && echo b >src/a.txt && {commit}")
    assert outcome.success, outcome.output
    assert "second" in bench.git("log", "-1", "--format=%s")
    hook = f"mkdir -p {git_dir}/hooks; echo x >{git_dir}/hooks/post-commit; git config a.b c"
    await bench.output_of(
        f"{hook}; echo x >>{git_dir}/config; echo /x >{git_dir}/commondir; echo x >{above}/.git/config"
    )
    assert (git_dir / "config").read_bytes() == before
    assert not (git_dir / "hooks/post-commit").exists()
    assert not (git_dir / "commondir").exists()
    assert "x" not in (above / ".git/config").read_text().split()
