"""Attempts to get out of the sandbox: each of the table in one of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.sandbox.attempts import ATTEMPTS, Attempt
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="the attempts are programs of Python's"),
]


class Surroundings:
    """What an attempt tries to reach: a server, sockets and a process."""

    def __init__(self, bench: SandboxBench) -> None:
        self.process = subprocess.Popen(["sleep", "600"])
        self.server = socket.create_server(("127.0.0.1", 0))
        self.abstract, self.path, self.near = (socket.socket(socket.AF_UNIX) for _ in range(3))
        name = f"countersign-test-{os.getpid()}"
        self.abstract.bind(f"\0{name}")
        self.path.bind(str(bench.outside / "socket"))
        here = os.getcwd()
        os.chdir(bench.workspace)  # a socket's path may not be long
        try:
            self.near.bind("socket")
        finally:
            os.chdir(here)
        for listening in (self.abstract, self.path, self.near):
            listening.listen()
        self.names = {
            "outside": bench.outside,
            "home": bench.home,
            "storage": bench.storage,
            "port": self.server.getsockname()[1],
            "abstract": name,
            "socket": bench.outside / "socket",
            "pid": self.process.pid,
        }

    def close(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for each in (self.server, self.abstract, self.path, self.near):
            each.close()


@pytest.fixture
def around(bench: SandboxBench) -> Iterator[Surroundings]:
    made = Surroundings(bench)
    yield made
    made.close()


def state(bench: SandboxBench) -> dict[str, object]:
    """What no attempt may change."""
    hidden = (bench.workspace / name for name in (".env", "notes.txt", "private/key", "fixed.txt", "locked/a"))
    return {
        "outside": {path.name: path.read_bytes() for path in bench.outside.iterdir() if path.is_file()},
        "home": sorted(path.name for path in bench.home.iterdir()),
        "files": [path.read_bytes() for path in hidden],
        "git": (bench.workspace / ".git/config").read_bytes(),
        "hooks": sorted(path.name for path in (bench.workspace / ".git/hooks").iterdir()),
        "commondir": (bench.workspace / ".git/commondir").exists(),
        "top": sorted(path.name for path in bench.workspace.iterdir() if path.name.startswith(".")),
    }


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
async def test_no_attempt_gets_out(bench: SandboxBench, around: Surroundings, attempt: Attempt) -> None:
    before = state(bench)
    output = await bench.output_of(attempt.script.format(**around.names))
    assert "ESCAPED" not in output.split()
    assert "sandbox could not be made" not in output
    assert state(bench) == before
    assert around.process.poll() is None


@pytest.mark.parametrize("attempt", [each for each in ATTEMPTS if each.outside], ids=lambda attempt: attempt.name)
async def test_the_attempts_succeed_without_the_sandbox(
    bench: SandboxBench, around: Surroundings, attempt: Attempt
) -> None:
    bench.set(sandbox_mode="off")
    assert "ESCAPED" in (await bench.output_of(attempt.script.format(**around.names))).split()


def test_every_name_stands_once() -> None:
    assert len({each.name for each in ATTEMPTS}) == len(ATTEMPTS)


def test_there_are_attempts_of_every_kind() -> None:
    assert len(ATTEMPTS) >= 60
    assert sum(each.outside for each in ATTEMPTS) >= 20


def test_the_workspace_is_a_real_one(bench: SandboxBench) -> None:
    assert Path(bench.workspace, ".git/HEAD").exists()
