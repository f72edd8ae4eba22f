"""Repositories in the workspace that are not its own: git obeys their settings when somebody works in them later."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox

PLANT = (
    "mkdir -p {0}/objects {0}/refs && echo 'ref: refs/heads/main' >{0}/HEAD && "
    "printf '[core]\\n\\tbare = false\\n' >{0}/config"
)


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.mark.parametrize("folder", ["src", "src/deep/er", "."])
async def test_settings_of_a_bare_repository_that_a_command_makes_are_moved_away(
    bench: SandboxBench, folder: str
) -> None:
    """A folder of these names is a repository to git, whatever it is called; its settings may name programs."""
    output = await bench.output_of(f"{PLANT.format(folder)}; mkdir {folder}/hooks; touch {folder}/commondir")
    for name in ("config", "commondir"):
        shown = str(Path(folder, name))
        assert not is_there(bench.workspace / folder / name)
        assert f"`{shown}` may not be made in the sandbox and was moved to" in output
    assert is_there(bench.workspace / folder / "HEAD")


async def test_a_clone_can_be_made_and_used_in_one_command(bench: SandboxBench) -> None:
    made = "git clone -q --bare . src/r.git && git push -q src/r.git main"
    output = await bench.output_of(f"{made} 2>/dev/null; git --git-dir=src/r.git log --oneline")
    assert "first" in output
    assert not is_there(bench.workspace / "src/r.git/config")


async def test_repositories_that_are_there_are_locked_as_the_workspaces_own(bench: SandboxBench) -> None:
    bench.git("clone", "-q", "--bare", "--no-hardlinks", ".", str(bench.workspace / "lib/r.git"))
    bench.git("clone", "-q", "--no-hardlinks", ".", str(bench.workspace / "lib/nested"))
    before = bench.content()
    nested = (bench.workspace / "lib/nested/.git/config").read_bytes()
    for place in ("lib/r.git", "lib/nested/.git"):
        tried = (
            f"echo x >>{place}/config; git -C {place} config core.fsmonitor evil; echo x >{place}/hooks/post-update",
            f"echo y >{place}/commondir; echo x >{place}/c && mv -f {place}/c {place}/config; rm -f {place}/c",
            f"echo x >{place}/config.worktree; mv {place}/hooks {place}/h; mkdir -p {place}/hooks; >{place}/hooks/y",
        )
        assert "moved" not in await bench.output_of("; ".join(tried))
    assert bench.content() == before
    assert (bench.workspace / "lib/nested/.git/config").read_bytes() == nested
    assert not is_there(bench.workspace / "lib/nested/.git/commondir")
    commit = "git -c user.name=A -c user.email=a@example.org commit -qam second"
    work = f"cd lib/nested && echo new >src/a.txt && {commit} && git push -q ../r.git HEAD:other"
    outcome = await bench.do("shell", command=work)
    assert outcome.success, outcome.output
    assert "other" in bench.git("--git-dir", "lib/r.git", "branch")


async def test_pipes_in_the_place_of_what_git_keeps_hold_up_no_later_command(bench: SandboxBench) -> None:
    """A command makes them; the look at the folders before the next one would wait for a writer for ever."""
    for folder, name in (("modules/x", "config"), ("worktrees/y", "gitdir")):
        made = bench.workspace / ".git" / folder
        made.mkdir(parents=True)
        (made / "HEAD").write_text("ref: refs/heads/main\n")
        os.mkfifo(made / name)
    assert "first" in await bench.output_of("git log --oneline")
