"""The control group of a program: who is in it ends with it, also if the program ended supervisor and server first."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.tools import cgroups
from countersign.tools.shell.supervised import spawn_supervised
from tests.patience import PATIENCE

FOLDER = cgroups.blocking_groups().folder
needs_groups = pytest.mark.skipif(FOLDER is None, reason=f"no cgroup: {cgroups.blocking_groups().reason}")
ENVIRONMENT = {"PATH": os.environ["PATH"]}
SERVER = """
import asyncio, os, sys
from countersign.tools.shell.supervised import spawn_supervised
async def main():
    script = f"(setsid env -i sleep 1000 >&2 & echo $!); read go && kill -9 {os.getpid()} $PPID"
    process = await spawn_supervised(["bash", "-c", script], env={"PATH": os.environ["PATH"]}, cwd="/",
                                     stdin=asyncio.subprocess.PIPE, stderr=None)
    print(os.getpid(), (await process.stdout.readline()).decode().strip(), flush=True)
    if sys.argv[1] == "both":
        process.stdin.write(b"go\\n")
        process.stdin.close()
    await process.wait()
asyncio.run(main())
"""


def ours(pid: int) -> list[str]:
    assert FOLDER is not None
    return [name for name in os.listdir(FOLDER) if name.startswith(f"countersign-{pid}-")]


def until_gone(pid: int) -> bool:
    """Whether the process ends, bounded; a zombie has ended."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if " Z " in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:4]:
                return True
        except OSError:
            return True
    return False


@pytest.fixture
def tried_anew() -> Iterator[None]:
    cgroups.blocking_groups.cache_clear()
    yield
    cgroups.blocking_groups.cache_clear()


@needs_groups
async def test_a_program_runs_in_a_group_of_its_own_that_ends_with_it() -> None:
    process = await spawn_supervised(["cat", "/proc/self/cgroup"], env=ENVIRONMENT, cwd="/")
    assert process.stdout is not None
    text = (await process.stdout.read()).decode()
    group = text.rstrip().rpartition("/")[2]
    assert group.startswith(f"countersign-{os.getpid()}-")
    async with asyncio.timeout(PATIENCE):
        await process.wait()
    assert group not in ours(os.getpid())


@needs_groups
async def test_the_program_gets_no_descriptor_of_its_group() -> None:
    process = await spawn_supervised(["ls", "-l", "/proc/self/fd"], env=ENVIRONMENT, cwd="/")
    assert process.stdout is not None
    assert b"cgroup" not in await process.stdout.read()
    await process.wait()


@needs_groups
def test_who_outlives_supervisor_and_server_is_ended_by_the_next_server(tried_anew: None) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, "both"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdout is not None
    pid, left = map(int, server.stdout.readline().split())
    server.wait(PATIENCE)
    server.stdout.close()
    assert server.returncode == -9
    assert Path(f"/proc/{left}").exists()
    assert len(ours(pid)) == 1
    assert cgroups.blocking_groups().folder == FOLDER
    assert until_gone(left)
    assert ours(pid) == []


@needs_groups
def test_the_groups_of_a_server_that_runs_are_left_alone(tried_anew: None) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, "none"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        pid, left = map(int, server.stdout.readline().split())
        assert cgroups.blocking_groups().folder == FOLDER
        assert Path(f"/proc/{left}").exists()
        assert len(ours(pid)) == 1
        server.kill()
    assert until_gone(left)
    cgroups.blocking_groups.cache_clear()
    assert cgroups.blocking_groups().folder == FOLDER
    assert ours(pid) == []


def test_where_no_group_can_be_made_a_program_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "blocking_groups", lambda: cgroups.Groups(None, "tests forbid it"))

    async def run() -> bytes:
        process = await spawn_supervised(["echo", "ran"], env=ENVIRONMENT, cwd="/")
        assert process.stdout is not None
        said = await process.stdout.read()
        await process.wait()
        return said

    assert asyncio.run(run()) == b"ran\n"


@pytest.mark.parametrize("fault", [PermissionError(13, "no"), OSError(30, "read-only"), FileNotFoundError(2, "none")])
def test_why_there_are_no_groups_is_said(fault: OSError, monkeypatch: pytest.MonkeyPatch, tried_anew: None) -> None:
    def fail() -> Path:
        raise fault

    monkeypatch.setattr(cgroups, "_own_group", fail)
    found = cgroups.blocking_groups()
    assert found.folder is None
    assert "cgroups cannot be made here" in found.reason


@pytest.mark.parametrize("name", ["countersign-99999999999999999999-0", "countersign-9999999999-a", "countersign-x-0"])
def test_a_group_whose_name_another_program_chose_is_left_alone(name: str, tmp_path: Path) -> None:
    """A number that is no process must not keep every command from being started."""
    (tmp_path / name).mkdir()
    cgroups._blocking_sweep(tmp_path)
    assert (tmp_path / name).exists()
