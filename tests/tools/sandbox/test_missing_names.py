"""Protected names that are missing at the top of a folder: nobody in the sandbox can make them, and no tool notices."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from countersign.gate import protected_names
from countersign.gate.paths.sensitive_paths import PROTECTED
from countersign.tools.sandbox.survey import READ_AT_EVERY_RUN
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox

WAYS = (
    "echo x >{0}", "mkdir -p {0} && echo x >{0}/x", "echo x >f && mv -f f {0}", "mkdir d && echo x >d/x && mv -T d {0}",
    "ln -sfn src {0}", "ln -f src/a.txt {0}", "rm -rf {0} && echo x >{0}", "mv {0} other && mkdir {0}",
    "cp -rT src {0}", "python3 -c 'import os; os.mkfifo(\"{0}\")'",
)  # fmt: skip


MADE_BY_TOOLS = {
    "site-packages", "pyvenv.cfg", ".pnp.cjs", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
    "lefthook-local.yml", ".aider.conf.yml", "crush.json", ".crush.json", ".opencode.json",
}  # fmt: skip


def test_every_protected_name_that_no_tool_makes_has_a_stand_in() -> None:
    named = {names[0] for names in PROTECTED if len(names) == 1} - MADE_BY_TOOLS
    assert set(protected_names()) == named
    assert {".git", ".windsurf", ".npmrc", "mise.toml", ".devcontainer.json", ".gitmodules"} <= named
    assert named >= READ_AT_EVERY_RUN


async def test_a_protected_name_that_is_missing_cannot_be_made(bench: SandboxBench) -> None:
    for name in protected_names():
        there = bench.workspace / name
        if is_there(there):
            (shutil.rmtree if there.is_dir() else os.unlink)(there)
    before = bench.content()
    tried = [way.format(name) for name in protected_names() for way in WAYS]
    bench.file("tries", "".join(f"({one}) 2>/dev/null; rm -rf f d other\n" for one in tried))
    output = await bench.output_of("bash tries")
    (bench.workspace / "tries").unlink()
    assert not [name for name in protected_names() if is_there(bench.workspace / name)]
    assert bench.content() == before
    assert "moved" not in output


def is_there(path: Path) -> bool:
    return os.path.lexists(path)


async def test_tools_take_no_notice_of_what_stands_in(bench: SandboxBench) -> None:
    outside = [line for line in bench.git("status", "--short").splitlines() if "private" not in line]  # is hidden
    inside = await bench.output_of("git status --short 2>/dev/null")
    assert inside.splitlines() == outside
    assert "gitmodules" not in (await bench.do("shell", command="git status 2>&1; git submodule status 2>&1")).output
    everything = "git add -A 2>&1; git ls-files; cat .npmrc .yarnrc.yml mise.toml .gitmodules"
    listed = (await bench.output_of(everything)).splitlines()
    assert READ_AT_EVERY_RUN.isdisjoint(listed)
    shown = await bench.output_of("npm config get registry && npm install --offline 2>&1")
    assert "EISDIR" not in shown
    assert "WARN" not in shown
