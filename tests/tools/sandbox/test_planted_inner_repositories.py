"""A command cannot plant the git folder of a submodule or a worktree, which git outside would then obey."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.sandbox.support import SandboxBench, needs_sandbox
from tests.tools.sandbox.test_reads_confined import read

pytestmark = needs_sandbox

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


@pytest.fixture
def clone(bench: SandboxBench) -> Path:
    """The workspace: a clone whose submodule ``lib`` is not checked out yet, ``had`` is."""
    library, folder = bench.workspace.parent / "library", bench.workspace.parent / "clone"
    bench.git("init", "-q", str(library))
    (library / "f").write_text("f\n")
    bench.git("-C", str(library), "add", "f")
    bench.git("-C", str(library), *IDENTITY, "commit", "-qm", "library")
    for name in ("lib", "had"):
        bench.git(*IDENTITY, "submodule", "add", "-q", str(library), name)
    bench.git(*IDENTITY, "commit", "-qm", "submodules")
    bench.git("clone", "-q", str(bench.workspace), str(folder))
    bench.workspace = folder
    bench.set(workspace=str(folder))
    return folder


PLANT = """
mkdir -p {inner}; cp -r .git {inner}/lib; cp -r .git/objects .git/refs .git/HEAD {inner}/lib
mkdir -p {inner}/lib/hooks; printf '#!/bin/sh\\ntouch {mark}\\n' >{inner}/lib/hooks/post-checkout
chmod +x {inner}/lib/hooks/post-checkout
rmdir {inner}; ln -s ../planted {inner}; mv {inner} {inner}-gone; ln -s ../planted {inner}
"""


@pytest.mark.parametrize("present", [True, False])
@pytest.mark.parametrize("inner", [".git/modules", ".git/worktrees"])
async def test_no_inner_repository_can_be_planted(
    *, inner: str, present: bool, bench: SandboxBench, clone: Path
) -> None:
    mark = clone.parent / "mark"
    if present:
        bench.git(*IDENTITY, "submodule", "update", "-q", "--init", "had")
        bench.git("worktree", "add", "-q", "-b", "near", "near")
    before = sorted((clone / inner).iterdir()) if present else []
    await bench.output_of(PLANT.format(inner=inner, mark=mark))
    assert not (clone / inner).is_symlink()
    assert (sorted((clone / inner).iterdir()) if (clone / inner).exists() else []) == before
    bench.git(*IDENTITY, "submodule", "update", "-q", "--init")
    assert not mark.exists()
    assert (clone / "lib/f").exists()


async def test_commits_in_submodules_and_worktrees_work(bench: SandboxBench, clone: Path) -> None:
    bench.git(*IDENTITY, "submodule", "update", "-q", "--init", "had")
    bench.git("worktree", "add", "-q", "-b", "near", "near")
    commit = "git -c user.name=A -c user.email=a@example.org commit -qam more"
    for folder, file in (("had", "f"), ("near", "src/a.txt")):
        outcome = await bench.do(
            "shell", command=f"cd {folder} && echo more >>{file} && {commit} && git status --short"
        )
        assert outcome.success, outcome.output
        assert bench.git("-C", folder, "log", "-1", "--format=%s") == "more\n"
        assert bench.git("-C", folder, "status", "--short") == ""
    assert not any(path.name.endswith(".lock") for path in (clone / ".git").rglob("*"))
    bench.git("fsck")  # raises for what is broken


async def test_nothing_is_left_of_what_stands_in_for_them(bench: SandboxBench, clone: Path) -> None:
    await bench.output_of("git status")
    assert not {"modules", "worktrees"} & {path.name for path in (clone / ".git").iterdir()}
    bench.git("worktree", "add", "-q", "-b", "near", "near")
    assert "near" in bench.git("worktree", "list")


@pytest.mark.parametrize("only_reads", [False, True])
async def test_an_inner_repository_stays_as_it_is_where_nothing_around_it_can_be_changed(
    *, only_reads: bool, bench: SandboxBench, clone: Path
) -> None:
    bench.git(*IDENTITY, "submodule", "update", "-q", "--init", "had")
    bench.git(*IDENTITY, "clone", "-q", str(clone), "locked/clone")
    bench.git("-C", "locked/clone", *IDENTITY, "submodule", "update", "-q", "--init", "had")
    had = clone / ("" if only_reads else "locked/clone") / ".git/modules/had"
    before = (sorted(had.rglob("*")), (had / "HEAD").read_bytes())
    command = f"cd {had.relative_to(clone)} && ls HEAD && touch new || printf x >>HEAD || mkdir objects/new"
    outcome = await (read(bench, command) if only_reads else bench.do("shell", command=command))
    assert "HEAD" in outcome.output
    assert "Read-only file system" in outcome.output
    assert (sorted(had.rglob("*")), (had / "HEAD").read_bytes()) == before
