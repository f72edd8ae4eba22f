"""Commands: run, timed, moved to the background, typed into, ended."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from pathlib import Path

import pytest

from countersign.gate.call import BadArguments, FileState, RunCommand
from countersign.gate.permit import Stale, _issue
from countersign.gate.receipt import Outcome
from countersign.tools.clip import MOST_OUTPUT
from countersign.tools.registry import BY_NAME
from countersign.tools.shell import processes
from countersign.tools.shell.command_line import shell_line
from countersign.wire.approvals import CommandPreview
from countersign.wire.errors import InvalidAnswer, UnknownShell

from .workbench import PATIENCE, Workbench


def gone(process: str | int) -> bool:
    return not Path(f"/proc/{process}").exists()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo hi", (True, "hi\n")),
        ("printf hi", (True, "hi")),
        ("true", (True, "[no output]")),
        ("exit 3", (False, "[exit code 3]")),
        ("printf hi; false", (False, "hi\n[exit code 1]")),
        ("echo out; echo err >&2; echo out", (True, "out\nerr\nout\n")),
        ("kill -9 $$", (False, "[exit code 137]")),
        ("cat", (True, "[no output]")),
        ("printf 'caf\\xe9'", (True, "caf\ufffd")),
        ("no-such-command 2>/dev/null", (False, "[exit code 127]")),
        ("-x 2>/dev/null", (False, "[exit code 127]")),
        ("pwd; echo $PWD", (True, "{0}\n{0}\n")),
        ("shopt -q login_shell || echo plain; echo $-", (True, "plain\nhBc\n")),
    ],
)
async def test_a_command_says_what_it_put_out_and_how_it_ended(
    bench: Workbench, command: str, expected: tuple[bool, str]
) -> None:
    outcome = await bench.do("shell", command=command)
    assert (outcome.success, outcome.output) == (expected[0], expected[1].format(bench.workspace))


async def test_a_permit_says_what_runs_in_place_of_the_text(bench: Workbench) -> None:
    prepared = bench.prepare("shell", command="echo asked for")
    assert (await bench.run("shell", prepared, runs="'echo' 'printed'")).output == "printed\n"
    assert (await bench.run("shell", prepared)).output == "asked for\n"


def test_the_card_shows_what_will_run(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.file("src/a")
    prepared = bench.prepare("shell", command="make\nmake test", cwd="src", timeout=5)
    folder = str(bench.workspace / "src")
    assert prepared.effects == (RunCommand("make\nmake test", folder),)
    assert prepared.preview == CommandPreview(command="make\nmake test", cwd=folder, parts=[], timeout=5)
    assert prepared.title == "make\\nmake test"


@pytest.mark.parametrize("shell", ["sh", "dash"])
async def test_another_shell_is_run_but_never_counts_as_understood(bench: Workbench, shell: str) -> None:
    prepared = bench.prepare("shell", command="echo hi", shell=shell)
    assert prepared.effects == (RunCommand("echo hi", str(bench.workspace), understood=False),)
    assert (await bench.run("shell", prepared)).output == "hi\n"


@pytest.mark.parametrize(
    "arguments", [{"command": " "}, {"command": "a\0b"}, {"command": "\udc80"}, {"command": "x", "shell": "python"}]
)
async def test_what_no_shell_could_run_is_refused(bench: Workbench, arguments: dict[str, str]) -> None:
    with pytest.raises(BadArguments):
        bench.prepare("shell", **arguments)


async def test_a_shell_from_the_workspace_is_never_used(bench: Workbench) -> None:
    fake = bench.file("bin/bash", "#!/bin/sh\necho fake\n")
    fake.chmod(0o755)
    bench.environment["PATH"] = f"{bench.workspace}/bin:{bench.environment['PATH']}"
    assert (await bench.do("shell", command="echo real")).output == "real\n"


def test_no_startup_file_is_read(tmp_path: Path) -> None:
    """Bash reads ~/.bashrc even for -c when its input is a socket and it is the outermost shell."""
    (tmp_path / ".bashrc").write_text("echo startup\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = shell_line("bash", "echo real", environment, str(tmp_path))
        done = subprocess.run(line, stdin=theirs, env=environment, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"real\n"


async def test_a_missing_working_directory_is_told(bench: Workbench) -> None:
    outcome = await bench.do("shell", command="echo hi", cwd="missing")
    assert outcome.output == "the command could not be started: `missing` does not exist"


async def test_time_counts_from_the_start_of_the_command(bench: Workbench) -> None:
    outcome = await bench.do("shell", command="echo begun; sleep 1000 & echo $!; wait", timeout=3)
    begun, child, told = outcome.output.split("\n")
    assert (outcome.success, begun, told) == (False, "begun", "[the command timed out after 3 s and was ended]")
    assert outcome.record["timedOut"] is True
    assert gone(child)


async def test_the_default_time_limit_is_the_settings(bench: Workbench) -> None:
    bench.set(shell_timeout=0.2)
    prepared = bench.prepare("shell", command="sleep 1000")
    assert isinstance(prepared.preview, CommandPreview)
    assert prepared.preview.timeout == 0.2
    assert "timed out after 0.2 s" in (await bench.run("shell", prepared)).output


async def test_output_streams_while_the_command_runs(bench: Workbench) -> None:
    os.mkfifo(bench.workspace / "go")
    async with asyncio.timeout(PATIENCE):
        running = asyncio.create_task(bench.do("shell", command="echo first; read x <go; echo second"))
        await bench.until(lambda: bench.emitted == "first\n")
        (bench.workspace / "go").write_text("\n")
        assert (await running).output == "first\nsecond\n"
    assert bench.emitted == "first\nsecond\n"


async def test_a_flood_is_cut_for_the_chat_and_the_model_and_can_be_read_on(bench: Workbench) -> None:
    outcome = await bench.do("shell", command="seq 1 400000")
    whole = "".join(f"{number}\n" for number in range(1, 400_001))
    assert len(outcome.output.encode()) <= MOST_OUTPUT
    assert outcome.output.startswith("1\n2\n")
    assert outcome.output.endswith("399999\n400000\n")
    start = int(outcome.output.split(" from ")[1].split(" ")[0])
    assert whole.startswith(outcome.output.split("\n[…")[0])
    read = await bench.do("shell_output", shell_id="shell-1", **{"from": start})
    assert read.output.startswith(whole[start : start + 100])
    assert len(bench.emitted) < 400_000
    assert "[more output follows" in bench.emitted
    kept = bench.desk.output("shell-1")
    assert kept.truncated
    assert kept.next == len(whole) == outcome.record["bytes"]
    assert kept.text.startswith(whole[:1000])
    assert kept.text.endswith(whole[-1000:])


async def test_cancelling_ends_the_whole_family_and_says_how_far_it_got(bench: Workbench) -> None:
    async with asyncio.timeout(PATIENCE):
        running = asyncio.create_task(
            bench.do("shell", command="setsid sleep 1000 & sleep 1000 & echo $! $(jobs -p); wait")
        )
        await bench.until(lambda: bench.emitted.endswith("\n"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await running
    assert all(gone(process) for process in bench.emitted.split())
    outcome: Outcome | None = getattr(caught.value, "outcome", None)
    assert outcome is not None
    assert outcome.output == f"{bench.emitted}[the command was stopped]"
    assert outcome.record["state"] == "killed"


async def test_a_command_is_moved_to_the_background_while_somebody_waits(bench: Workbench) -> None:
    async with asyncio.timeout(PATIENCE):
        prepared = bench.prepare("shell", command="echo begun; sleep 1000", timeout=1000)
        running = asyncio.create_task(bench.run("shell", prepared, tool_call_id="mine"))
        await bench.until(lambda: bench.emitted == "begun\n")
        with pytest.raises(UnknownShell):
            bench.desk.to_background("another")
        assert bench.desk.to_background("mine") == "shell-1"
        outcome = await running
        assert bench.desk.to_background("mine") == "shell-1"
    assert outcome.success
    assert outcome.output.startswith("begun\n[running in the background as shell-1")
    assert [(view.state, view.background) for view in bench.changes] == [("running", False), ("running", True)]
    assert await bench.desk.kill("shell-1") == "killed"
    assert bench.changes[-1].state == "killed"
    with pytest.raises(UnknownShell):
        bench.desk.to_background("mine")


async def test_a_background_command_is_read_on_typed_into_and_ended(bench: Workbench) -> None:
    outcome = await bench.do("shell", command="read x; echo got $x; exec sleep 1000", background=True)
    assert outcome.output.startswith("[running in the background as shell-1")
    assert (await bench.do("shell_output", shell_id="shell-1")).output == "[next 0; running]"
    assert (await bench.do("shell_input", shell_id="shell-1", text="this\n")).success
    await bench.until_output("shell-1", len("got this\n"))
    assert (await bench.do("shell_output", shell_id="shell-1", **{"from": 4})).output == "this\n[next 9; running]"
    assert (await bench.do("shell_kill", shell_id="shell-1")).output == "ended shell-1"
    assert (await bench.do("shell_output", shell_id="shell-1")).output == "got this\n[next 9; killed]"
    assert not (await bench.do("shell_input", shell_id="shell-1", text="more")).success
    assert not (await bench.do("shell_kill", shell_id="shell-1")).success


async def test_a_permit_can_send_a_command_to_the_background(bench: Workbench) -> None:
    prepared = bench.prepare("shell", command="sleep 1000", timeout=0.01)
    outcome = await bench.run("shell", prepared, background=True)
    assert outcome.record["background"] is True
    await bench.until(lambda: bench.desk.list()[0].state == "killed")


async def test_typing_into_a_command_counts_as_a_command_that_nobody_understands(bench: Workbench) -> None:
    prepared = bench.prepare("shell_input", shell_id="shell-1", text="rm -rf /\n")
    assert prepared.effects == (RunCommand("rm -rf /\n", str(bench.workspace), understood=False),)


async def test_a_command_of_another_chat_is_not_there(bench: Workbench) -> None:
    await bench.do("shell", command="sleep 1000", background=True)
    for name, more in (("shell_output", {}), ("shell_input", {"text": "x"}), ("shell_kill", {})):
        prepared = bench.prepare(name, shell_id="shell-1", **more)
        outcome = await bench.run(name, prepared, thread_id="another")
        assert (outcome.success, outcome.output) == (False, "there is no shell `shell-1`")
    assert bench.desk.list()[0].state == "running"


async def test_a_foreground_command_takes_no_input(bench: Workbench) -> None:
    async with asyncio.timeout(PATIENCE):
        running = asyncio.create_task(bench.do("shell", command="echo begun; sleep 1000"))
        await bench.until(lambda: bench.emitted)
        with pytest.raises(InvalidAnswer, match="takes no input"):
            await bench.desk.write("shell-1", "x")
        await bench.desk.kill("shell-1")
        assert (await running).output == "begun\n[the command was killed by the person]"


async def test_only_so_many_run_in_the_background(bench: Workbench) -> None:
    bench.set(shell_max_background=2)
    prepared = [bench.prepare("shell", command="sleep 1000", background=True) for _ in range(4)]
    async with asyncio.timeout(PATIENCE):
        outcomes: list[Outcome] = await asyncio.gather(*(bench.run("shell", each) for each in prepared))
        assert [outcome.success for outcome in outcomes].count(True) == 2
        running = asyncio.create_task(
            bench.run("shell", bench.prepare("shell", command="echo begun; sleep 1000"), tool_call_id="mine")
        )
        await bench.until(lambda: bench.emitted)
        with pytest.raises(InvalidAnswer, match="2 commands run in the background already"):
            bench.desk.to_background("mine")
        await bench.desk.kill("shell-1")
        assert bench.desk.to_background("mine")
        await running


async def test_a_script_that_changed_after_it_was_judged_is_not_run(bench: Workbench) -> None:
    script = bench.file("run.sh", "echo harmless")
    prepared = bench.prepare("shell", command="bash run.sh")
    with pytest.raises(Stale):
        await bench.run("shell", prepared, bound=(FileState(str(script), "0" * 64),))
    assert bench.desk.list() == []


async def test_closing_ends_everything_and_starts_nothing(bench: Workbench) -> None:
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):
            await bench.do("shell", command="trap '' TERM; sleep 1000; true", background=True)
        await bench.desk.close()
        assert [view.state for view in bench.desk.list()] == ["killed"] * 3
        assert (await bench.do("shell", command="touch made")).output == "the server is ending; nothing new is started"
    assert not (bench.workspace / "made").exists()


async def test_the_sandbox_is_not_left_out_where_it_is_missing(bench: Workbench) -> None:
    bench.set(sandbox_mode="commands")
    refused = await bench.run("shell", bench.prepare("shell", command="touch made"), runs="touch made")
    assert refused.output == "the sandbox is on; only a person can let a command run outside it"
    assert not (bench.workspace / "made").exists()
    assert (await bench.do("shell", command="touch made")).success
    assert (bench.workspace / "made").exists()


async def test_old_commands_are_forgotten(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_ENDED", 2)
    for _ in range(4):
        await bench.do("shell", command=":")
    assert [view.shell_id for view in bench.desk.list()] == ["shell-3", "shell-4"]
    with pytest.raises(UnknownShell):
        bench.desk.output("shell-1")


REPOSITORY = """
set -e
git init -q . && git config user.email a@b && git config user.name n
echo a >file && git add file && git commit -qm first && echo b >file
printf '#!/bin/sh\\ntouch ran\\n' >.git/program && chmod +x .git/program
git config {key} "$PWD/.git/program"
{command}
"""


@pytest.mark.parametrize(
    ("key", "command", "runs"),
    [
        ("core.fsmonitor", "git status --short", False),
        ("core.pager", "git -p log", False),
        # Nothing in the environment can keep git from these; the gate must not take such a `git diff` for a mere
        # reading. Pinned here, so that whoever finds a way is told.
        ("diff.external", "git diff", True),
    ],
)
async def test_git_runs_no_program_of_the_repository(bench: Workbench, key: str, command: str, runs: bool) -> None:
    await bench.do("shell", command=REPOSITORY.format(key=key, command=command))
    assert (bench.workspace / "ran").exists() is runs


PARTIAL = """
set -e
git init -q full && cd full && git config user.email a@b && git config user.name n
git config uploadpack.allowFilter true && git config uploadpack.allowAnySHA1InWant true
echo a >file && git add file && git commit -qm first && cd ..
git clone -q --no-checkout --filter=tree:0 "file://$PWD/full" partial
printf '#!/bin/sh\\ntouch "%s/ran"\\nexec git-upload-pack "$@"\\n' "$PWD" >program && chmod +x program
git -C partial config remote.origin.uploadpack "$PWD/program"
"""


@pytest.mark.parametrize("only_reads", [True, False])
async def test_git_fetches_nothing_for_a_command_that_only_reads(bench: Workbench, *, only_reads: bool) -> None:
    assert (await bench.do("shell", command=PARTIAL)).success
    prepared = bench.prepare("shell", command="git -C partial status")
    call = bench.permit("shell", prepared, runs="git -C partial status").call
    permit = _issue(call, "mode", runs="git -C partial status", only_reads=only_reads)
    outcome = await BY_NAME["shell"].run(permit, prepared, bench.bench)
    assert (bench.workspace / "ran").exists() is not only_reads, outcome.output
    assert outcome.success is not only_reads


async def test_a_folder_that_looks_like_a_repository_is_not_one(bench: Workbench) -> None:
    script = "git init -q --bare inner && cd inner && git status; true"
    assert "cannot use bare repository" in (await bench.do("shell", command=script)).output


async def test_a_withheld_variable_that_a_command_speaks_of_is_named_and_its_value_is_not(bench: Workbench) -> None:
    bench.environment |= {"MYAPP_PASS": "hunter2-hunter2", "OTHER_TOKEN": "hunter3-hunter3"}
    outcome = await bench.do("shell", command='echo "MYAPP_PASS is ${MYAPP_PASS-unset}"')
    assert "MYAPP_PASS is unset" in outcome.output
    assert "withheld because they look like secrets: MYAPP_PASS;" in outcome.output
    assert outcome.record["withheld"] == ["MYAPP_PASS"]
    assert "hunter" not in outcome.output
    assert "withheld" not in (await bench.do("shell", command="echo nothing")).output
