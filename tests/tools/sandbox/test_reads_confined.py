"""The second line behind the parser: a command that only reads can do nothing else, whatever the parser overlooked."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.permit import _issue
from countersign.gate.receipt import Outcome
from countersign.tools.registry import BY_NAME
from countersign.tools.sandbox import confiner as confiner_module
from countersign.tools.shell import processes
from tests.tools.sandbox.support import SECRET, SandboxBench, needs_sandbox

pytestmark = needs_sandbox


async def read(bench: SandboxBench, command: str, *, only_reads: bool = True, mode: str = "off") -> Outcome:
    """Run a command with the permit of one that nobody allowed but the table of what reads."""
    bench.set(sandbox_mode=mode, sandbox_available=mode != "off")
    prepared = bench.prepare("shell", command=command)
    call = bench.permit("shell", prepared, runs=command, arguments={"command": command}).call
    permit = _issue(call, "mode", runs=command, only_reads=only_reads)
    return await BY_NAME["shell"].run(permit, prepared, bench.bench)


OVERLOOKED = {
    "a write": "echo x >src/new; test -e src/new && echo ESCAPED",
    "a write to a file": "echo x >>src/a.txt && echo ESCAPED",
    "a removal": "rm src/a.txt && echo ESCAPED",
    "a secret": f"grep -q {SECRET} .env && echo ESCAPED",
    "a denied file": f"grep -q {SECRET} notes.txt && echo ESCAPED",
    "a file outside": f"grep -rq {SECRET} ../outside && echo ESCAPED",
    "git's index": "git add notes.txt && echo ESCAPED",
    "the network": "test \"$(cat /proc/net/dev | wc -l)\" -gt 3 && echo ESCAPED",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["off", "commands"])
@pytest.mark.parametrize("name", OVERLOOKED)
async def test_what_the_parser_overlooked_does_not_happen(bench: SandboxBench, name: str, mode: str) -> None:
    before = bench.content()
    bench.set(sandbox_network="all")
    outcome = await read(bench, OVERLOOKED[name], mode=mode)
    assert "ESCAPED" not in outcome.output
    assert bench.content() == before
    assert outcome.record["sandbox"]["mode"] == "readOnly"  # type: ignore[index,call-overload]


async def test_what_reads_reads(bench: SandboxBench) -> None:
    assert (await read(bench, "cat src/a.txt; ls src; git log --format=%s")).output == "a\na.txt\nhard\nfirst\n"
    missing = await read(bench, "grep nothing src/a.txt")
    assert missing.output == "[exit code 1]", "a search that finds nothing is no failure of the sandbox"
    assert "host name of its own" in (await read(bench, "hostname")).output


async def test_what_somebody_allowed_runs_as_before(bench: SandboxBench) -> None:
    outcome = await read(bench, "echo x >src/new", only_reads=False)
    assert outcome.success
    assert (bench.workspace / "src/new").exists()
    assert "sandbox" not in outcome.record


@pytest.mark.parametrize("why", ["no bubblewrap", "too large"])
async def test_where_there_is_none_it_runs_as_before_while_nobody_asked_for_one(
    bench: SandboxBench, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def absent(policy: object) -> str:
        raise confiner_module.NoSandbox("bubblewrap is not installed")

    if why == "too large":
        monkeypatch.setattr(processes, "MOST_READ", 3)
    else:
        monkeypatch.setattr(confiner_module, "_bubblewrap", absent)
    outcome = await read(bench, "cat src/a.txt")
    assert outcome.output == "a\n"
    assert "sandbox" not in outcome.record
    if why == "no bubblewrap":
        assert "no sandbox for it" in (await read(bench, "cat src/a.txt", mode="commands")).output


async def test_a_background_command_is_confined_too(bench: SandboxBench, tmp_path: Path) -> None:
    bench.set(sandbox_mode="off")
    prepared = bench.prepare("shell", command="touch src/new; echo done", background=True)
    call = bench.permit("shell", prepared, runs="x").call
    await BY_NAME["shell"].run(_issue(call, "mode", only_reads=True), prepared, bench.bench)
    await bench.desk.find("shell-1").ended.wait()
    assert not (bench.workspace / "src/new").exists()
