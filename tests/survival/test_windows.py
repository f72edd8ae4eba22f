"""Two windows on one storage folder, reloads, and servers that come back: nothing twice, nothing lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import BOUND, Peer, RpcError
from tests.survival.post_crash_checks import LOOK_EVERY, Remains, blocking_remains, broken_chain, left_open, unrecorded

Json = Any
CARDS = 3


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "work", tmp_path / "storage"


def token(number: int) -> str:
    return f"tok-window-0-{number}-end"


async def cards_of(desk: Desk, numbers: range) -> list[Json]:
    """Chats that wait, each for one card."""
    cards: list[Json] = []
    for number in numbers:
        turn = desk.prompt(await desk.thread(), f"run echo {token(number)} >> log.txt")
        turn.add_done_callback(lambda done: done.cancelled() or done.exception())
        cards.append(await desk.card(token(number)))
    return cards


async def pending(desk: Desk) -> set[str]:
    return {card["approvalId"] for card in (await desk.peer.request("tool/pendingApprovals", {}))["approvals"]}


async def settled(places: tuple[Path, Path], enough) -> Remains:
    """What there is once it is enough, or has had its time to become so."""
    loop = asyncio.get_running_loop()
    until = loop.time() + BOUND
    while not enough(remains := blocking_remains(*places)) and loop.time() < until:  # noqa: ASYNC110 stands on disk only
        await asyncio.sleep(LOOK_EVERY)
    return remains


@asynccontextmanager
async def two_at_once(workspace: Path, storage: Path) -> AsyncIterator[tuple[Desk, Desk]]:
    """Two windows whose servers hear at the same moment that they may look at what is left."""
    async with AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(Peer.python("-m", "countersign", "serve")) for _ in range(2)]
        options = {"trusted": True, "storage": str(storage)}
        params = {
            "processId": None,
            "capabilities": {},
            "rootUri": workspace.as_uri(),
            "initializationOptions": options,
        }
        await asyncio.gather(*(peer.request("initialize", params) for peer in peers))
        for peer in peers:
            peer.notify("initialized", {})
        first, second = (Desk(peer, workspace, storage) for peer in peers)
        yield first, second
        for peer in peers:
            assert await peer.shut_down() == 0


def endings(remains: Remains) -> Counter[str]:
    """How often each call was ended by a restart."""
    return Counter(row["receiptId"] for row in remains.rows if row["by"] == "restart")


async def test_two_windows_never_touch_each_others_requests(places) -> None:
    async with open_desk(*places) as left, open_desk(*places) as right:
        (mine,), (theirs,) = await cards_of(left, range(1)), await cards_of(right, range(1, 2))
        assert (await pending(left), await pending(right)) == ({mine["approvalId"]}, {theirs["approvalId"]})
        with pytest.raises(RpcError) as told:
            await right.answer(mine)
        assert told.value.kind == "unknownApproval"
        left.peer.kill()
        await left.peer.exit_code()
        # The window comes back: it ends what was its own, and the other one's card can still be answered.
        async with open_desk(*places) as again:
            assert (await again.ended(mine))["by"] == "restart"
            assert await right.answer(theirs) == "allowed"
            remains = await settled(places, lambda now: now.effects and not [*left_open(now)])
    assert remains.effects == Counter({token(1): 1})
    assert [*unrecorded(remains), *broken_chain(places[1])] == []
    assert right.peer.seen("tool/approvalResolved")[-1]["by"] == "user"


async def test_after_a_crash_two_windows_at_once_end_each_open_request_once(places) -> None:
    async with open_desk(*places) as first:
        cards = await cards_of(first, range(CARDS))
        running = first.prompt(await first.thread(), "run echo begun >> log.txt; sleep 60")
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        await first.answer(await first.card("sleep 60"))
        await first.peer.wait_for("shell/update")
        first.peer.kill()
        await first.peer.exit_code()
    async with two_at_once(*places) as both:
        remains = await settled(places, lambda now: not [*left_open(now)])
        assert [await pending(desk) for desk in both] == [set(), set()]
    remains = blocking_remains(*places)
    assert [*unrecorded(remains), *left_open(remains), *broken_chain(places[1])] == []
    assert set(endings(remains).values()) == {1}
    assert len(endings(remains)) == CARDS + 1
    told = Counter(notice["approvalId"] for desk in both for notice in desk.peer.seen("tool/approvalResolved"))
    assert told == Counter(card["approvalId"] for card in cards)


async def test_after_a_reload_two_windows_at_once_offer_each_request_in_one_of_them(places) -> None:
    async with open_desk(*places) as first:
        cards = await cards_of(first, range(CARDS))
    async with two_at_once(*places) as both:
        for card in cards:
            shown = [asyncio.ensure_future(desk.card(card["toolCall"]["rawInput"]["command"])) for desk in both]
            done, _ = await asyncio.wait(shown, return_when=asyncio.FIRST_COMPLETED)
            for task in shown:
                task.cancel()
            await both[shown.index(done.pop())].answer(card)
        remains = await settled(places, lambda now: len(now.effects) == CARDS and not [*left_open(now)])
        assert [await pending(desk) for desk in both] == [set(), set()]
    assert remains.effects == Counter({token(number): 1 for number in range(CARDS)})
    offered = Counter(card["approvalId"] for desk in both for card in desk.peer.seen("tool/approvalRequest"))
    assert offered == Counter(card["approvalId"] for card in cards)


async def test_a_request_that_was_taken_up_after_a_reload_ends_with_the_crash_of_its_new_server(places) -> None:
    async with open_desk(*places) as first:
        (card,) = await cards_of(first, range(1))
    async with open_desk(*places) as second:
        assert (await second.card())["approvalId"] == card["approvalId"]
        second.peer.kill()
        await second.peer.exit_code()
    async with open_desk(*places) as third:
        notice = await third.ended(card)
        assert (notice["state"], notice["by"]) == ("interrupted", "restart")
        assert await pending(third) == set()
    remains = blocking_remains(*places)
    assert ([*left_open(remains)], remains.effects) == ([], Counter())
