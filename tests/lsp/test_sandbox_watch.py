"""The policy and the state of the sandbox: it is not available until the probe has ended."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.lsp.sandbox_watch import TRYING, SandboxWatch
from countersign.settings.policy import Policy, RuleText
from countersign.tools.sandbox.confiner import Confiner, SandboxState
from tests.patience import PATIENCE

HELD = SandboxState("bubblewrap", None, ("all",))
NONE = SandboxState("none", "bubblewrap is not installed")


class SlowConfiner(Confiner):
    """A confiner whose probe waits for ``may`` and then returns the given state."""

    def __init__(self, folder: Path, found: SandboxState) -> None:
        super().__init__(folder)
        self.found, self.may, self.tries = found, threading.Event(), 0

    def _blocking_try(self, policy: Policy) -> SandboxState:
        assert self.may.wait(PATIENCE)
        self.tries += 1
        return self.found


@pytest.mark.parametrize("found", [HELD, NONE])
def test_there_is_a_sandbox_only_once_it_was_tried_out(tmp_path: Path, found: SandboxState) -> None:
    live = Policy(workspace=str(tmp_path), home="/h", sandbox_mode="commands", rules=(RuleText("deny", "Edit(*.x)"),))
    confiner, tried = SlowConfiner(tmp_path, found), threading.Event()
    watch = SandboxWatch(confiner, lambda: live, tried.set)
    before = watch.policy()
    assert (before.sandbox_available, before.sandbox_reason) == (False, TRYING.reason)
    assert watch.policy() is before
    confiner.may.set()
    assert tried.wait(PATIENCE)
    after = watch.policy()
    assert (after.sandbox_available, after.sandbox_reason) == (found.available, found.reason)
    assert len(after.sandbox_gaps) == 1
    assert watch.policy() is after, "the gate keeps decisions by the policy's identity"
    assert confiner.tries == 1


def test_the_policy_of_other_folders_waits_for_a_try_out_of_its_own(tmp_path: Path) -> None:
    policies = [Policy(workspace=str(tmp_path), home="/h", sandbox_mode="commands")]
    confiner, tried = SlowConfiner(tmp_path, HELD), threading.Event()
    watch = SandboxWatch(confiner, lambda: policies[-1], tried.set)
    confiner.may.set()
    watch.policy()
    assert tried.wait(PATIENCE)
    assert watch.policy().sandbox_available
    confiner.may.clear()
    policies.append(replace(policies[-1], sandbox_writable=("/other",)))
    assert not watch.policy().sandbox_available
    policies.append(replace(policies[0], sandbox_mode="off"))
    assert watch.policy() is policies[-1], "where it is off, nothing is tried out"
    confiner.may.set()


@pytest.mark.parametrize("asked_before", [False, True])
async def test_who_waits_for_the_try_out_gets_the_policy_with_its_result(tmp_path: Path, asked_before: bool) -> None:
    live = Policy(workspace=str(tmp_path), home="/h", sandbox_mode="commands")
    confiner = SlowConfiner(tmp_path, HELD)
    watch = SandboxWatch(confiner, lambda: live, lambda: None)
    if asked_before:
        watch.policy()
    waiting = asyncio.create_task(watch.tried())
    await asyncio.sleep(0)
    assert not waiting.done()
    confiner.may.set()
    async with asyncio.timeout(PATIENCE):
        await waiting
    assert watch.policy().sandbox_available
    assert confiner.tries == 1


async def test_nobody_waits_where_it_is_off_or_was_tried_out(tmp_path: Path) -> None:
    policies = [Policy(workspace=str(tmp_path), home="/h")]
    confiner = SlowConfiner(tmp_path, HELD)
    watch = SandboxWatch(confiner, lambda: policies[-1], lambda: None)
    await watch.tried()
    assert confiner.tries == 0
    policies.append(replace(policies[-1], sandbox_mode="commands"))
    confiner.may.set()
    await watch.tried()
    await watch.tried()
    assert confiner.tries == 1
