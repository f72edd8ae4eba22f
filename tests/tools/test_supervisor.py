"""INVARIANT (a clean child): nobody outlives the server, and the program does not see its supervisor."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from countersign.tools.shell.fork_client import fork_server
from countersign.tools.shell.supervised import MARK, Supervised, spawn_supervised

from .workbench import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches processes by pidfd and reads /proc")

ENVIRONMENT = {"PATH": os.environ["PATH"]}

FAMILY = """
trap '' TERM
echo $$
(echo $BASHPID; exec sleep 1000) &
setsid bash -c 'trap "" TERM HUP; echo $$; sleep 1000; true' &
(setsid bash -c '(trap "" TERM HUP; echo $BASHPID; sleep 1000; true) &' &)
echo ready >&2
wait
"""
"""A child, one in a session of its own, and one that was forked twice and has lost its parents. None heeds TERM."""
MEMBERS = 4

PARENT = """
import asyncio, os, sys
from countersign.tools.shell.fork_client import fork_server
from countersign.tools.shell.supervised import spawn_supervised

fork_server.usable = sys.argv[2] == "True"

async def main():
    family = ["bash", "-c", sys.argv[1]]
    running = await spawn_supervised(family, env=dict(os.environ), cwd="/", stdout=None, stderr=None)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True, params=["forked", "script"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to start a supervisor keep each promise."""
    monkeypatch.setattr(fork_server, "usable", request.param == "forked")


@contextmanager
def watched(processes: list[int]) -> Iterator[list[int]]:
    """Descriptors that become readable when these processes end."""
    with ExitStack() as held:
        descriptors = [os.pidfd_open(process) for process in processes]
        for descriptor in descriptors:
            held.callback(os.close, descriptor)
        yield descriptors


def all_end(descriptors: list[int]) -> bool:
    """Wait for all of them, five seconds at most."""
    waiting = set(descriptors)
    loop = asyncio.new_event_loop()
    deadline = loop.time() + PATIENCE
    while waiting and (left := deadline - loop.time()) > 0:
        ended, _, _ = select.select(list(waiting), [], [], left)
        waiting -= set(ended)
    loop.close()
    return not waiting


async def read_lines(stream: asyncio.StreamReader | None, count: int) -> list[int]:
    assert stream is not None
    async with asyncio.timeout(PATIENCE):
        return [int(await stream.readline()) for _ in range(count)]


async def to_the_end(process: Supervised | asyncio.subprocess.Process) -> None:
    """Wait for it and for the end of its streams: a transport that is still open is a warning, and so a failure."""
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            await stream.read()
    await process.wait()


@pytest.fixture
async def started() -> AsyncIterator[list[Supervised]]:
    """Whatever a test puts in here is ended with it."""
    processes: list[Supervised] = []
    yield processes
    for process in processes:
        process.kill()
        await to_the_end(process)


async def run(script: str, *, env: dict[str, str] | None = None, cwd: str | int = "/") -> tuple[int, str]:
    async with asyncio.timeout(PATIENCE):
        process = await spawn_supervised(
            ["bash", "-c", script], env=env or ENVIRONMENT, cwd=cwd, stderr=asyncio.subprocess.STDOUT
        )
        assert process.stdout is not None
        output = await process.stdout.read()
        return await process.wait(), output.decode()


async def test_kill_9_of_the_server_ends_everybody_however_they_were_started() -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, FAMILY, str(fork_server.usable),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with watched(await read_lines(server.stdout, MEMBERS)) as descriptors:
            server.kill()
            assert await asyncio.to_thread(all_end, descriptors)
    finally:
        if server.returncode is None:
            server.kill()
        await to_the_end(server)


async def test_kill_ends_everybody_at_once(started: list[Supervised]) -> None:
    process = await spawn_supervised(["bash", "-c", FAMILY], env=ENVIRONMENT, cwd="/")
    started.append(process)
    with watched(await read_lines(process.stdout, MEMBERS)) as descriptors:
        process.kill()
        assert await asyncio.to_thread(all_end, descriptors)
    assert await process.wait() == -signal.SIGKILL


async def test_stop_kills_those_who_do_not_heed_term(started: list[Supervised]) -> None:
    process = await spawn_supervised(["bash", "-c", FAMILY], env=ENVIRONMENT, cwd="/")
    started.append(process)
    with watched(await read_lines(process.stdout, MEMBERS)) as descriptors:
        async with asyncio.timeout(PATIENCE):
            assert await process.stop() == -signal.SIGKILL
        assert await asyncio.to_thread(all_end, descriptors)


async def test_who_heeds_term_may_say_goodbye(started: list[Supervised]) -> None:
    process = await spawn_supervised(
        ["bash", "-c", "trap 'echo bye; exit 7' TERM; echo $$; sleep 1000 & wait"],
        env=ENVIRONMENT,
        cwd="/",
    )
    started.append(process)
    await read_lines(process.stdout, 1)
    async with asyncio.timeout(PATIENCE):
        assert await process.stop() == 7
    assert process.stdout is not None
    assert await process.stdout.read() == b"bye\n"


async def test_a_program_that_is_stopped_as_it_starts_heeds_term() -> None:
    for _ in range(5):
        process = await spawn_supervised(["sleep", "1000"], env=ENVIRONMENT, cwd="/", stdout=None, stderr=None)
        async with asyncio.timeout(PATIENCE):
            assert await process.stop() == -signal.SIGTERM


async def test_what_a_program_leaves_behind_ends_with_it() -> None:
    returncode, output = await run("setsid sleep 1000 & echo $!; exit 3")
    assert returncode == 3
    assert output.strip() not in os.listdir("/proc")


async def test_a_stopped_program_is_ended_too(started: list[Supervised]) -> None:
    process = await spawn_supervised(["bash", "-c", "echo $$; kill -STOP $$"], env=ENVIRONMENT, cwd="/")
    started.append(process)
    await read_lines(process.stdout, 1)
    async with asyncio.timeout(PATIENCE):
        assert await process.stop() == -signal.SIGTERM


async def test_a_program_cannot_stop_its_supervisor_for_good(started: list[Supervised]) -> None:
    process = await spawn_supervised(
        ["bash", "-c", "kill -STOP $PPID; echo $$; sleep 1000; true"], env=ENVIRONMENT, cwd="/"
    )
    started.append(process)
    with watched(await read_lines(process.stdout, 1)) as descriptors:
        async with asyncio.timeout(PATIENCE):
            await process.stop()
        assert await asyncio.to_thread(all_end, descriptors)


async def test_a_program_that_kills_its_supervisor_goes_with_it(started: list[Supervised]) -> None:
    script = f"{FAMILY.replace('wait', 'read go; kill -9 $PPID; wait')}"
    process = await spawn_supervised(["bash", "-c", script], env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE)
    started.append(process)
    assert process.stdin is not None
    with watched(await read_lines(process.stdout, MEMBERS)) as descriptors:
        process.stdin.write(b"\n")
        assert await asyncio.to_thread(all_end, descriptors)
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == -signal.SIGKILL


ESCAPES = {
    "a session and an environment of its own": "(setsid env -i sleep 1000 & echo $!)",
    "a session of a session": "(setsid setsid env -i bash -c 'sleep 1000 & echo $!; wait' &)",
    "a daemon": "(env -i setsid bash -c '(cd /; exec sleep 1000 <&- 2>&-) & echo $!' &)",
    "one that ignores every signal": "(trap '' TERM HUP INT; setsid env -i sleep 1000 & echo $!)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sub-reapers")
@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
async def test_who_leaves_session_and_environment_does_not_survive_the_supervisor(
    started: list[Supervised], escape: str
) -> None:
    script = f"{escape}; read go; kill -9 $PPID; sleep 1000"
    process = await spawn_supervised(["bash", "-c", script], env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE)
    other = await spawn_supervised(["bash", "-c", "echo $$; sleep 1000"], env=ENVIRONMENT, cwd="/")
    started += [process, other]
    await read_lines(other.stdout, 1)
    assert process.stdin is not None
    with watched(await read_lines(process.stdout, 1)) as descriptors:
        process.stdin.write(b"\n")
        assert await asyncio.to_thread(all_end, descriptors)
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == -signal.SIGKILL
    assert other.returncode is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sub-reapers")
async def test_programs_that_are_just_started_survive_the_end_of_what_another_left(started: list[Supervised]) -> None:
    process = await spawn_supervised(
        ["bash", "-c", "(setsid env -i sleep 1000 & echo $!); read go; kill -9 $PPID"],
        env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE,
    )  # fmt: skip
    started.append(process)
    assert process.stdin is not None
    with watched(await read_lines(process.stdout, 1)) as descriptors:
        process.stdin.write(b"\n")
        others = await asyncio.gather(
            *(spawn_supervised(["bash", "-c", "echo $$; read go"], env=ENVIRONMENT, cwd="/",
                               stdin=asyncio.subprocess.PIPE) for _ in range(4))
        )  # fmt: skip
        started += others
        assert await asyncio.to_thread(all_end, descriptors)
    async with asyncio.timeout(PATIENCE):
        await process.wait()
    for other in others:
        await read_lines(other.stdout, 1)
        assert other.stdin is not None
        other.stdin.write(b"\n")
        async with asyncio.timeout(PATIENCE):
            assert await other.wait() == 0


async def test_a_fork_bomb_is_ended(started: list[Supervised]) -> None:
    script = "echo $$; n=0; f() { (( n++ < 5 )) && { f & f & wait; } || sleep 1000; }; f"
    process = await spawn_supervised(["bash", "-c", script], env=ENVIRONMENT, cwd="/")
    started.append(process)
    await read_lines(process.stdout, 1)
    process.kill()
    async with asyncio.timeout(PATIENCE):
        await process.wait()
    assert not [name for name in os.listdir("/proc") if _is_child_of(name, process.pid)]


def _is_child_of(name: str, parent: int) -> bool:
    try:
        return name.isdigit() and f"PPid:\t{parent}\n" in Path(f"/proc/{name}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("script", "returncode"),
    [
        ("exit 0", 0), ("exit 1", 1), ("exit 255", 255), ("kill -TERM $$", -15), ("kill -KILL $$", -9),
        ("kill -SEGV $$", -11), ("kill -PIPE $$", -13), ("kill -INT $$", -2),
    ],
)  # fmt: skip
async def test_the_programs_end_is_told_as_it_was(script: str, returncode: int) -> None:
    assert await run(script) == (returncode, "")


@pytest.mark.parametrize(
    "env",
    [
        {"PATH": os.environ["PATH"], "A": "1", "E": "2", "PYTHONPATH": "/nowhere", "LD_PRELOAD": "/nowhere.so"},
        {"PATH": os.environ["PATH"], "LC_CTYPE": "C", "ODD": "\udcff line\nline"},
        {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONHOME": "/nowhere"},
    ],
)
async def test_the_program_gets_exactly_the_environment_it_was_given(env: dict[str, str]) -> None:
    process = await spawn_supervised(["/usr/bin/env", "-0"], env=env, cwd="/", stderr=asyncio.subprocess.DEVNULL)
    assert process.stdout is not None
    output = await process.stdout.read()
    assert await process.wait() == 0
    pairs = [entry.split(b"=", 1) for entry in output.split(b"\0") if entry]
    given = {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}
    assert len(given.pop(MARK)) == 32
    assert given == env


async def test_the_program_gets_no_descriptor_but_its_streams(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    try:
        assert await run("pwd; ls /proc/$$/fd; true", cwd=folder) == (0, f"{tmp_path}\n0\n1\n2\n")
    finally:
        os.close(folder)


async def test_the_program_runs_in_its_own_session_with_signals_as_usual() -> None:
    # What started the server may have ignored some of them.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGQUIT, signal.SIGUSR1)}
    try:
        returncode, output = await run("ps -o pid=,pgid=,sid= -p $$; grep -E 'Sig(Ign|Blk)' /proc/$$/status")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert returncode == 0
    first, *masks = output.splitlines()
    assert len(set(first.split())) == 1
    # Signals from 32 on are the C library's own; a shell that starts jobs may leave one of them ignored.
    assert [int(mask.split()[1], 16) & 0x7FFFFFFF for mask in masks] == [0, 0]


async def test_a_program_that_is_not_there_is_told_before_anything_starts() -> None:
    with pytest.raises(FileNotFoundError):
        await spawn_supervised(["no-such-program"], env=ENVIRONMENT, cwd="/")


async def test_input_reaches_the_program(started: list[Supervised]) -> None:
    process = await spawn_supervised(["cat"], env=ENVIRONMENT, cwd="/", stdin=asyncio.subprocess.PIPE)
    started.append(process)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"hello")
    process.stdin.close()
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.read() == b"hello"
        assert await process.wait() == 0


async def test_a_start_that_is_cancelled_leaves_nobody(tmp_path: Path) -> None:
    await run("true")  # what is opened once for all programs is there
    before = set(os.listdir("/proc/self/fd"))
    starting = asyncio.create_task(spawn_supervised(["sleep", "1000"], env=ENVIRONMENT, cwd=str(tmp_path)))
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert set(os.listdir("/proc/self/fd")) <= before
