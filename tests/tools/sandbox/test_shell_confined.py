"""The shell tool and the sandbox: what its card says, and who lets a command run outside."""

from __future__ import annotations

import pytest

from countersign.gate import RunCommand
from countersign.settings.policy import RuleText
from countersign.tools.sandbox.boundary import Network
from countersign.wire.approvals import CommandPreview, SandboxPreview
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox
REASON = "it needs the network"


def shown(bench: SandboxBench, **arguments: str) -> SandboxPreview | None:
    preview = bench.prepare("shell", command="true", **arguments).preview
    assert isinstance(preview, CommandPreview)
    return preview.sandbox


def test_the_card_says_that_it_runs_in_the_sandbox(bench: SandboxBench) -> None:
    assert shown(bench) == SandboxPreview(mode="commands", network="none", hosts=[])
    bench.set(sandbox_gaps=("a rule",))
    assert shown(bench) == SandboxPreview(mode="commands", network="none", hosts=[], gaps=["a rule"])
    assert shown(bench, outside_sandbox=REASON) is None
    bench.set(sandbox_available=False)
    assert shown(bench) is None
    bench.set(sandbox_mode="off", sandbox_available=True)
    assert shown(bench) is None


def test_the_gate_hears_that_it_asks_to_run_outside(bench: SandboxBench) -> None:
    (effect,) = bench.prepare("shell", command="true", outside_sandbox=REASON).effects
    assert isinstance(effect, RunCommand)
    assert effect.outside == REASON


async def test_outside_runs_only_what_a_person_let_run(bench: SandboxBench) -> None:
    command = f"echo x >{bench.outside}/made"
    prepared = bench.prepare("shell", command=command, outside_sandbox=REASON)
    refused = await bench.run("shell", prepared, runs=command)
    assert refused.output == "the sandbox is on; only a person can let a command run outside it"
    assert not (bench.outside / "made").exists()
    assert (await bench.run("shell", prepared)).success
    assert (bench.outside / "made").exists()


async def test_a_card_that_showed_the_sandbox_runs_nothing_outside(bench: SandboxBench) -> None:
    prepared = bench.prepare("shell", command=f"echo x >{bench.outside}/made; echo ran")
    bench.set(sandbox_available=False)
    assert "ran" in (await bench.run("shell", prepared)).output
    assert not (bench.outside / "made").exists(), "it ran in the sandbox that its card showed"


async def test_a_failure_says_how_to_ask(bench: SandboxBench) -> None:
    assert "call shell again with outside_sandbox and the reason" in await bench.output_of("exit 3")
    assert "the sandbox refused `.env`: it is a secret" in await bench.output_of("cat .env")
    assert "outside_sandbox" not in await bench.output_of("true")


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("none", "it ran in the sandbox: no network, writes only in"),
        ("hosts", "network only by its proxy (`HTTPS_PROXY`) to hosts that are allowed, writes only in"),
        ("all", "network only by its proxy (`HTTPS_PROXY`), writes only in"),
    ],
)
async def test_a_failure_names_the_network_that_it_had(bench: SandboxBench, network: Network, words: str) -> None:
    bench.set(sandbox_network=network)
    said = await bench.output_of("exit 3")
    assert words in said
    assert ("no network" in said) == (network == "none")


async def test_the_record_says_what_confined_it(bench: SandboxBench) -> None:
    sandbox = (await bench.do("shell", command="true")).record["sandbox"]
    assert isinstance(sandbox, dict)
    assert (sandbox["backend"], sandbox["network"]) == ("bubblewrap", "none")
    assert sandbox["writable"] == [str(bench.workspace)]


@pytest.mark.parametrize("available", [True, False])
async def test_without_the_mode_nothing_is_confined(bench: SandboxBench, available: bool) -> None:
    bench.set(sandbox_mode="off", sandbox_available=available)
    assert (await bench.do("shell", command=f"echo x >{bench.outside}/made")).success
    assert (bench.outside / "made").exists()


async def test_the_temporary_folder_of_the_chat_is_there(bench: SandboxBench) -> None:
    base = bench.outside / "base"
    base.mkdir(mode=0o700)
    bench.set(temporary_base=str(base))
    root = bench.policy.temporary_root("thread")
    assert root is not None
    assert (await bench.output_of('echo a > "$TMPDIR/x"; echo "$TMPDIR"')).strip() == root
    assert (await bench.output_of('cat "$TMPDIR/x"')).strip() == "a"
    assert "x" not in await bench.output_of(f"ls {base}/..")


async def test_a_temporary_folder_that_a_rule_hides_is_one_in_memory(bench: SandboxBench) -> None:
    base = bench.outside / "base"
    base.mkdir(mode=0o700)
    bench.set(temporary_base=str(base), rules=(RuleText("deny", f"Read(/{base}/**)"),))
    assert (await bench.output_of('echo a > "$TMPDIR/x"; cat "$TMPDIR/x"; echo "$TMPDIR"')).split() == ["a", "/tmp"]
