"""The fork server starts supervisors and nothing depends on it afterwards; what it starts has nothing of it."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from countersign.tools.shell import fork_client
from countersign.tools.shell.fork_client import fork_server
from countersign.tools.shell.supervised import Supervised, spawn_supervised

from .test_supervisor import all_end, read_lines, to_the_end, watched
from .workbench import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no fork server on this system")

ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    fork_server.blocking_end()
    yield
    fork_server.blocking_end()
    fork_server.usable = True


async def run(*argv: str, cwd: str = "/", env: dict[str, str] = ENVIRONMENT, pass_fds: tuple[int, ...] = ()) -> str:
    async with asyncio.timeout(PATIENCE):
        process = await spawn_supervised(argv, env=env, cwd=cwd, stderr=asyncio.subprocess.STDOUT, pass_fds=pass_fds)
        assert process.stdout is not None
        output = await process.stdout.read()
        assert await process.wait() == 0, output
        return output.decode()


def pid_of_fork_server() -> int:
    assert fork_server._process is not None
    return fork_server._process.pid


def children() -> set[int]:
    """Our children, zombies too."""
    return {
        int(process)
        for thread in os.listdir("/proc/self/task")
        for process in Path(f"/proc/self/task/{thread}/children").read_text().split()
    }


def command_of(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


async def test_a_supervisor_is_our_child_and_was_forked_by_one_server_for_all() -> None:
    supervisors = [await spawn_supervised(["cat"], env=ENVIRONMENT, cwd="/", stdin=-1) for _ in range(2)]
    try:
        first = pid_of_fork_server()
        assert {parent_of(process.pid) for process in supervisors} == {os.getpid()}
        # It is in our session: who is not is taken for an orphan of a supervisor.
        assert os.getsid(first) == os.getsid(0)
        assert {os.getsid(process.pid) for process in supervisors} == {process.pid for process in supervisors}
        assert command_of(supervisors[0].pid) == command_of(first)
    finally:
        for process in supervisors:
            process.kill()
            await to_the_end(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
async def test_programs_outlive_the_fork_server_and_the_next_start_has_another(number: signal.Signals) -> None:
    process = await spawn_supervised(
        ["bash", "-c", "echo $$; read go; echo $go; exit 3"], env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE
    )
    await read_lines(process.stdout, 1)
    first = pid_of_fork_server()
    with watched([first]) as ended:
        os.kill(first, number)
        assert await asyncio.to_thread(all_end, ended)
    assert await run("echo", "started") == "started\n"
    assert pid_of_fork_server() != first
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"on\n")
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.read() == b"on\n"
        assert await process.wait() == 3


async def test_a_fork_server_that_was_stopped_goes_on() -> None:
    await run("true")
    first = pid_of_fork_server()
    os.kill(first, signal.SIGSTOP)
    assert await run("echo", "started") == "started\n"
    assert pid_of_fork_server() == first


async def test_a_fork_server_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that is asked and stands still is ended, and the program started by the next one, once."""
    _use_script_once(monkeypatch, tmp_path, "while True: signal.pause()")
    monkeypatch.setattr(fork_client, "START_PATIENCE", 3.0)
    await run("bash", "-c", "echo x >> started", cwd=str(tmp_path))
    assert (tmp_path / "started").read_text() == "x\n"


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "channel.close(); signal.pause()"])
async def test_a_request_during_which_it_ends_is_sent_to_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: str
) -> None:
    _use_script_once(monkeypatch, tmp_path, f"channel.recv(1); {end}")
    await run("bash", "-c", "echo x >> started", cwd=str(tmp_path))
    assert (tmp_path / "started").read_text() == "x\n"


async def test_if_the_next_ends_as_well_the_start_fails_and_nothing_was_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await run("true")
    fork_server.blocking_end()
    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(fork_client, "SCRIPT", _script(tmp_path, "channel.recv(1)"))
    with pytest.raises(OSError, match="nothing was started"):
        await run("bash", "-c", "echo x >> started", cwd=str(tmp_path))
    assert not (tmp_path / "started").exists()
    fork_server.blocking_end()
    assert set(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
async def test_where_the_kernel_refuses_the_supervisor_is_a_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    monkeypatch.setattr(fork_client, "SCRIPT", _script(tmp_path, REFUSAL.format(number)))
    assert await run("echo", "started") == "started\n"
    assert not fork_server.usable


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE, errno.ENOMEM])
async def test_what_the_fork_server_cannot_do_now_fails_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    monkeypatch.setattr(fork_client, "SCRIPT", _script(tmp_path, REFUSAL.format(number)))
    with pytest.raises(OSError, match=os.strerror(number)):
        await run("true")
    assert fork_server.usable


REFUSAL = """
(_level, _kind, carried), *_ = channel.recvmsg(1, 999)[1]
os.write(memoryview(carried).cast("i")[1], b"E{:011}")
"""


def _script(folder: Path, body: str) -> str:
    """A fork server that does this instead."""
    path = folder / "other_server.py"
    path.write_text(f"import os, signal, socket, sys\nchannel = socket.socket(fileno=int(sys.argv[1]))\n{body}\n")
    return str(path)


def _use_script_once(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    scripts = iter([_script(folder, body)])
    original, start = fork_client.SCRIPT, subprocess.Popen

    def popen(words: list[str], **options: object) -> subprocess.Popen[bytes]:
        replaced = [next(scripts, original) if word == original else word for word in words]
        return start(replaced, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(fork_client.subprocess, "Popen", popen)


def test_kill_9_of_the_server_ends_the_fork_server() -> None:
    script = """
import asyncio, os
from countersign.tools.shell.fork_client import fork_server
from countersign.tools.shell.supervised import spawn_supervised

async def main():
    await (await spawn_supervised(["true"], env=dict(os.environ), cwd="/")).wait()
    print(fork_server._process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        with watched([int(server.stdout.readline())]) as ended:
            server.kill()
            assert all_end(ended)


async def test_inherited_descriptors_keep_their_numbers_and_no_other_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    opened = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        for number in (3, 9, 200):
            saved = os.dup(number) if str(number) in os.listdir("/proc/self/fd") else -1
            os.dup2(opened, number)
            try:
                output = await run("bash", "-c", f"ls /proc/$$/fd; cat <&{number}; true", pass_fds=(number,))
            finally:
                os.close(number)
                if saved >= 0:
                    os.dup2(saved, number, inheritable=False)
                    os.close(saved)
                os.lseek(opened, 0, os.SEEK_SET)
            assert output.split() == [*sorted(["0", "1", "2", str(number)]), "content"]
    finally:
        os.close(opened)


async def test_a_large_environment_and_command_arrive_whole() -> None:
    env = ENVIRONMENT | {f"LARGE_{number}": "x" * 100_000 for number in range(10)}
    text = "y" * 100_000
    assert await run("bash", "-c", "echo ${#LARGE_7} ${#1}", "bash", text, env=env) == "100000 100000\n"


@pytest.mark.parametrize(("name", "error"), [("missing", FileNotFoundError), ("file", NotADirectoryError)])
async def test_a_working_directory_that_cannot_be_entered_fails_the_start(
    tmp_path: Path, name: str, error: type[OSError]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(error):
        await run("true", cwd=str(tmp_path / name))


async def test_starts_at_the_same_time_do_not_mix() -> None:
    outputs = await asyncio.gather(*(run("echo", str(number)) for number in range(30)))
    assert outputs == [f"{number}\n" for number in range(30)]


async def test_starts_leave_neither_descriptors_nor_children() -> None:
    await run("true")
    before = len(os.listdir("/proc/self/fd")), children()
    for _ in range(10):
        await run("true")
    assert (len(os.listdir("/proc/self/fd")), children()) == before


async def test_a_start_that_is_cancelled_at_any_step_leaves_nobody_and_nothing(tmp_path: Path) -> None:
    await run("true")
    before = len(os.listdir("/proc/self/fd")), children()
    finished = False
    for steps in range(200):
        task = asyncio.create_task(spawn_supervised(["sleep", "1000"], env=ENVIRONMENT, cwd=str(tmp_path)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(PATIENCE):
            try:
                process: Supervised = await task
            except asyncio.CancelledError:
                pass
            else:
                finished = True
                process.kill()
                await to_the_end(process)
        assert (len(os.listdir("/proc/self/fd")), children()) == before
        if finished:
            break


async def test_a_supervisor_keeps_its_line_and_no_other_socket() -> None:
    process = await spawn_supervised(["cat"], env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"started\n")
        assert await process.stdout.readline() == b"started\n"  # from here on it opens and closes nothing
        held = [os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")]
        assert len([target for target in held if target.startswith("socket:")]) == 1, held
    finally:
        process.kill()
        await to_the_end(process)
