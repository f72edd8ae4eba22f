"""What runs of a command: the printed tree without a person's yes, the bytes that were shown with it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from countersign.gate.call import ToolCall
from countersign.gate.decision import Decision
from countersign.gate.permit import Permit
from countersign.gate.receipt import Outcome
from countersign.settings.policy import Policy, RuleText
from countersign.wire.history import HistoryFilter
from countersign.wire.verdicts import Mode

from .support import BOUND, WorkspaceServer, make_house

PRINTED = "'touch' 'made'"
RAN = {"ran": PRINTED, "ranDigest": hashlib.sha256(PRINTED.encode()).hexdigest()}


@pytest.fixture
async def house():
    made = make_house()
    judge = made.judge

    def judge_and_print(call: ToolCall, policy: Policy, modes: Sequence[Mode], grants: Sequence[RuleText]) -> Decision:
        found = judge(call, policy, modes, grants)
        return replace(found, runs=PRINTED) if found.verdict == "allow" else found

    made.judge = judge_and_print
    yield made
    await made.gate.asking.close()
    made.ledger.close()


async def run_of(house: WorkspaceServer, until_card=None) -> str | None:
    """Submit a command; return what its permit says runs in place of its text."""
    seen: list[str | None] = []

    async def run(permit: Permit) -> Outcome:
        permit.use()
        seen.append(permit.runs)
        return Outcome(True, "ran", record={"exitCode": 0})

    task = house.submit(run=run)
    async with asyncio.timeout(BOUND):
        if until_card is not None:
            await until_card()
        await task
    return seen[0]


def outcomes(house: WorkspaceServer) -> list[tuple[str, dict]]:
    entries = reversed(house.ledger.query(HistoryFilter(), workspace=None))
    return [
        (entry.phase, {key: value for key, value in (entry.outcome or {}).items() if key.startswith("ran")})
        for entry in entries
    ]


async def test_what_a_mode_allows_runs_printed_and_both_texts_are_in_the_ledger(house: WorkspaceServer):
    house.verdict = "allow"
    assert await run_of(house) == PRINTED
    assert outcomes(house) == [("decided", {}), ("started", RAN), ("finished", RAN)]


async def test_what_a_person_allows_runs_as_it_was_shown(house: WorkspaceServer):
    async def approve():
        await house.answer(await house.desk.card())

    assert await run_of(house, approve) is None
    assert all(said == {} for _, said in outcomes(house))


async def test_what_a_rule_lifts_while_it_waits_runs_printed(house: WorkspaceServer):
    async def allow():
        await house.desk.card()
        house.policy = replace(house.policy, rules=(RuleText("allow", "Bash(touch made)"),))
        house.gate.changed()

    assert await run_of(house, allow) == PRINTED
    assert ("started", RAN) in outcomes(house)
