"""A link that a command makes in a git folder leads git outside the sandbox to no file elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox

WRITTEN = ("logs/HEAD", "logs/refs/heads/main", "refs/tags", "refs/heads/topic", "objects/info/commit-graph")
COMMIT = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "outside")


def git_writes(bench: SandboxBench, repository: Path) -> None:
    bench.git("-C", str(repository), *COMMIT)
    bench.git("-C", str(repository), "tag", "mine")
    bench.git("-C", str(repository), "commit-graph", "write", "--reachable")


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("name", [*WRITTEN, "COMMIT_EDITMSG"])
async def test_git_outside_writes_through_no_link(name: str, *, linked: bool, bench: SandboxBench) -> None:
    git_dir = bench.workspace / ".git"
    if linked:
        main = bench.workspace.parent / "main"
        bench.workspace.rename(main)
        bench.workspace.mkdir()
        bench.git("-C", str(main), "worktree", "add", "-q", "-b", "topic", str(bench.workspace))
        git_dir = main / ".git/worktrees/workspace" if name in ("logs/HEAD", "COMMIT_EDITMSG") else main / ".git"
    repository = bench.workspace if linked and "worktrees" in git_dir.parts else git_dir.parent
    victims = bench.workspace.parent / "victims"
    victims.mkdir()
    (victims / "file").write_text("as it was\n")
    target = victims if name == "refs/tags" else victims / "file"
    place = git_dir / name
    command = f"rm -rf {place}; mkdir -p {place.parent}; ln -s {target} {place}; ls -l {place}"
    output = await bench.output_of(command)
    assert f"-> {target}" in output
    assert not (git_dir / name).is_symlink()
    if name != "refs/heads/topic":
        git_writes(bench, repository)
    assert [path.name for path in victims.iterdir()] == ["file"]
    assert (victims / "file").read_text() == "as it was\n"


async def test_links_that_were_there_and_links_within_stay(bench: SandboxBench) -> None:
    git_dir = bench.workspace / ".git"
    (bench.workspace.parent / "elsewhere").write_text("")
    (git_dir / "description").unlink()
    (git_dir / "description").symlink_to(bench.workspace.parent / "elsewhere")
    await bench.output_of("ln -s main .git/refs/heads/same")
    assert (git_dir / "description").is_symlink()
    assert (git_dir / "refs/heads/same").is_symlink()
