"""What the status says is bounded is bounded; the reasons for a missing sandbox name the cause and a next step."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from countersign.tools import cgroups
from countersign.tools.cgroups import MOST_PROCESSES, Parents, blocking_left, blocking_parents, bounds_of
from countersign.tools.sandbox.confiner import PREFIX, Confiner
from countersign.tools.sandbox.state import why_not
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

FORKS = "import os, time\nn = 0\ntry:\n  while n < 300:\n    if not os.fork(): time.sleep(600)\n    n += 1\n"
FORKS += "except OSError: pass\nprint('BOUNDED' if n < 300 else 'FREE')"
GREEDY = "b = bytearray(256 << 20); b[::4096] = b'x' * (len(b) // 4096); print('FREE')"


@needs_sandbox
@pytest.mark.skipif(blocking_parents().processes is None, reason="no control group for processes can be made here")
async def test_processes_are_bounded_by_a_group(bench: SandboxBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "MOST_PROCESSES", 60)
    assert "BOUNDED" in await bench.output_of(f'/usr/bin/python3 -c "{FORKS}"')
    assert not blocking_left(f"{PREFIX}{os.getpid()}-")


@needs_sandbox
@pytest.mark.skipif(blocking_parents().processes is None, reason="a fork bomb is tried only where a group bounds it")
async def test_a_fork_bomb_is_bounded_and_ends_with_its_command(
    bench: SandboxBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "MOST_PROCESSES", 80)
    marked = f"bomb-{os.getpid()}"
    bomb = f"b() {{ (exec -a {marked} sleep 600) & b | b & }}; (ulimit -u unlimited; b) 2>/dev/null"
    counted = "sleep 0.5; n=0; for p in /proc/[0-9]*; do n=$((n + 1)); done; echo $n"
    output = await bench.output_of(f"/bin/bash -c '{bomb}' & {counted} 2>/dev/null; kill -9 -1")
    assert all(int(line) <= 80 for line in output.split() if line.isdigit())
    assert not _running(marked)
    assert not blocking_left(f"{PREFIX}{os.getpid()}-")
    monkeypatch.undo()
    assert (await bench.do("shell", command="true")).success


def _running(name: str) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if name in process.read_text(errors="replace"):
                found.append(process.parent.name)
    return found


@needs_sandbox
@pytest.mark.skipif(os.geteuid() == 0, reason="RLIMIT_NPROC does not bind root")
async def test_processes_of_a_user_are_bounded(bench: SandboxBench) -> None:
    assert await bench.output_of("ulimit -u") == f"{MOST_PROCESSES}\n"


@needs_sandbox
@pytest.mark.skipif(blocking_parents().memory is None, reason="no control group for memory can be made here")
async def test_memory_is_bounded_by_a_group(bench: SandboxBench, monkeypatch: pytest.MonkeyPatch) -> None:
    command = f'/usr/bin/python3 -c "{GREEDY}"'
    assert await bench.output_of(command) == "FREE\n"
    monkeypatch.setattr(cgroups, "memory_limit", lambda: 128 << 20)
    outcome = await bench.do("shell", command=command)
    assert not outcome.success
    assert "FREE" not in outcome.output
    assert not blocking_left(f"{PREFIX}{os.getpid()}-")


def test_groups_that_a_killed_server_left_are_removed(tmp_path: Path) -> None:
    if blocking_parents() == Parents():
        pytest.skip("no control group can be made here")
    gone, ours = (f"{PREFIX}{pid}-{os.urandom(4).hex()}" for pid in (2**22 + 1, os.getpid()))
    groups = [*cgroups.blocking_make_bounded(gone), *cgroups.blocking_make_bounded(ours)]
    try:
        Confiner(tmp_path).blocking_sweep()
        assert [group.name for group in groups if group.exists()] == [ours] * (len(groups) // 2)
    finally:
        cgroups.blocking_remove(tuple(groups))


@pytest.mark.parametrize(
    ("parents", "root", "words"),
    [
        (Parents(Path("/g"), Path("/g")), True, ("at most 4096 processes (control", "MiB of memory (control", "disk")),
        (Parents(), False, ("processes of this user (RLIMIT_NPROC)", "memory is not bounded", "disk space is not")),
        (Parents(), True, ("processes is not bounded", "memory is not bounded", "disk space is not bounded")),
    ],
)
def test_the_status_says_what_is_bounded(parents: Parents, root: bool, words: tuple[str, ...]) -> None:
    for said, wanted in zip(bounds_of(parents, root=root), words, strict=True):
        assert wanted in said


@pytest.mark.parametrize(
    ("failure", "restricted", "permitted", "words"),
    [
        ("bwrap: setting up uid map: Permission denied", "1", "1", "AppArmor profile with `userns`"),
        ("OSError: no user namespace: Operation not permitted", "0", "0", "kernel.unprivileged_userns_clone"),
        ("OSError: no user namespace: No space left", None, None, "user.max_user_namespaces"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "1", "1", "a container masks it"),
        ("OSError: mounting overlay: Invalid argument", "1", "1", "the try-out failed: OSError: mounting overlay"),
        ("", None, None, "it did not start"),
    ],
)
def test_the_reason_names_the_cause(
    tmp_path: Path, failure: str, restricted: str | None, permitted: str | None, words: str
) -> None:
    files = {"restricted": restricted, "permitted": permitted}
    for name, text in files.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    assert words in why_not(failure, restricted=tmp_path / "restricted", permitted=tmp_path / "permitted")
