"""The calls of one message: their cards come in the order of the message, and no race gets past the limit of writes."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import replace

import pytest

from countersign.gate.decision import Weighed
from countersign.gate.finding import Finding
from countersign.gate.permit import Permit
from countersign.gate.plan import Plan
from countersign.gate.receipt import Outcome, Ran, Refused

from .support import BOUND, WorkspaceServer, decision, make_house


@pytest.fixture
async def house():
    made = make_house()
    yield made
    await made.gate.asking.close()
    made.ledger.close()


def reads_only(house: WorkspaceServer, command: str):
    """The scripted judge's decision of a command that is known to do nothing but read."""
    found = Finding("execute", command, "read", known_read=True)
    made = decision("allow", "mode", command)
    return replace(made, weighed=(Weighed(found, "allow", made.evidence, grantable=True),))


async def test_many_writes_at_once_stay_within_the_limit(house: WorkspaceServer):
    """All forty are decided before the first of them runs: each is let in while the turn has made no write."""
    house.verdict = "allow"
    house.policy = replace(house.policy, writes_per_turn=5)
    turn = house.turn()
    async with asyncio.timeout(BOUND):
        ended = await asyncio.gather(*(house.submit(f"touch {number}", turn=turn) for number in range(40)))
    assert [type(end) for end in ended] == [Ran] * 5 + [Refused] * 35
    assert {(end.kind, end.by) for end in ended[5:]} == {("limit", "limit")}
    assert house.runs == [f"touch {number}" for number in range(5)]


async def test_writes_that_runs_lead_to_count_with_those_beside_them(house: WorkspaceServer):
    house.verdict = "allow"
    house.policy = replace(house.policy, writes_per_turn=5)
    turn = house.turn()
    turns = [turn, replace(turn, resumable=False), replace(turn, resumable=False)]
    async with asyncio.timeout(BOUND):
        ended = await asyncio.gather(*(house.submit(f"touch {number}", turn=turns[number % 3]) for number in range(30)))
    assert sum(isinstance(end, Ran) for end in ended) == len(house.runs) == 5


async def test_approved_cards_stay_within_the_limit(house: WorkspaceServer):
    house.policy = replace(house.policy, writes_per_turn=2)
    turn = house.turn()
    tasks = [house.submit(f"touch {number}", turn=turn) for number in range(6)]
    await house.desk.card(6)
    for card in house.desk.shown:
        assert await house.answer(card) == "allowed"
    async with asyncio.timeout(BOUND):
        ended = await asyncio.gather(*tasks)
    assert sorted(type(end).__name__ for end in ended) == ["Ran"] * 2 + ["Refused"] * 4
    assert len(house.runs) == 2


async def test_past_the_limit_no_card_is_shown_and_the_model_is_told(house: WorkspaceServer):
    house.policy = replace(house.policy, writes_per_turn=0)
    async with asyncio.timeout(BOUND):
        result = await house.submit()
    assert (result.kind, result.by) == ("limit", "limit")
    assert house.desk.shown == []


async def test_a_command_that_only_reads_is_no_write(house: WorkspaceServer):
    house.policy = replace(house.policy, writes_per_turn=0)
    house.judge = lambda call, *_: reads_only(house, str(call.arguments["command"]))
    async with asyncio.timeout(BOUND):
        assert isinstance(await house.submit("ls"), Ran)


async def test_a_call_that_went_stale_has_used_up_nothing(house: WorkspaceServer):
    house.verdict = "allow"
    house.policy = replace(house.policy, writes_per_turn=1)
    turn = house.turn()
    seen = []

    def judge(call, *_):
        # Each judgment before the permit prints another text, so the first permit is never made.
        seen.append(call)
        if len(seen) == 1:
            house.gate.changed()
        return replace(decision("allow", "mode", "touch made"), runs=f"touch made {min(len(seen), 2)}")

    house.judge = judge
    async with asyncio.timeout(BOUND):
        assert isinstance(await house.submit(turn=turn), Ran)
    assert turn.written.count == 1


@pytest.mark.parametrize("seed", range(8))
async def test_cards_come_in_the_order_of_the_message_however_long_each_is_prepared(house: WorkspaceServer, seed: int):
    """Every call is prepared only after those that a shuffled order puts before it."""
    count = 6
    order = list(range(count))
    random.Random(seed).shuffle(order)
    done = [threading.Event() for _ in range(count)]
    turn = house.turn()

    def preparing(number: int):
        plain = house.preparing(f"touch {number}")

        def prepare(arguments) -> Plan:
            place = order.index(number)
            assert place == 0 or done[order[place - 1]].wait(BOUND)
            done[number].set()
            return plain(arguments)

        return prepare

    tasks = [asyncio.ensure_future(house.gate.submit(preparing(number), turn)) for number in range(count)]
    await house.desk.card(count)
    assert [card.tool_call.title for card in house.desk.shown] == [f"touch {number}" for number in range(count)]
    assert [card.approval_id for card in house.gate.asking.table.views()] == [
        card.approval_id for card in house.desk.shown
    ]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_call_that_ends_early_keeps_nobody_waiting(house: WorkspaceServer):
    """The first is cancelled while it is prepared, the second cannot be done, the third is denied."""
    held, turn = threading.Event(), house.turn()
    slow = house.preparing("touch slow")

    def prepare(arguments) -> Plan:
        held.wait(BOUND)
        return slow(arguments)

    first = asyncio.ensure_future(house.gate.submit(prepare, turn))
    others = [house.submit("forbidden", turn=turn), house.submit("touch last", turn=turn)]
    await asyncio.sleep(0)
    first.cancel()
    card = await house.desk.card()
    held.set()
    assert card.tool_call.title == "touch last"
    others[1].cancel()
    await asyncio.wait([first, *others])


async def test_a_tool_that_runs_for_long_keeps_no_card_back(house: WorkspaceServer):
    house.verdict = "allow"
    turn, running, go_on = house.turn(), asyncio.Event(), asyncio.Event()

    async def run(permit: Permit) -> Outcome:
        permit.use()
        running.set()
        await go_on.wait()
        return Outcome(True, "ran")

    first = house.submit("sleep", run=run, turn=turn)
    async with asyncio.timeout(BOUND):
        await running.wait()
    house.verdict = "ask"
    second = house.submit("touch made", turn=turn)
    assert (await house.desk.card()).tool_call.title == "touch made"
    go_on.set()
    second.cancel()
    await asyncio.wait([first, second])
