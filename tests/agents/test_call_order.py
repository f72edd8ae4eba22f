"""Calls of one message keep its order in the chat, on cards and in the ledger, whatever each of them takes."""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from countersign.agents.drive import Drive
from countersign.agents.models.base import CallPiece, StopPiece, TextPiece, WantedCall
from countersign.gate import BadArguments
from countersign.tools.registry import BY_NAME
from countersign.tools.tool import ToolContext
from countersign.wire.history import HistoryFilter
from countersign.wire.threads import ToolCallEvent
from tests.gate.support import BOUND, make_house

CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("shell", {"command": "touch first"}),
    ("no_such_tool", {"command": "touch second"}),
    ("edit_file", {"path": "nowhere.txt", "edits": []}),
    ("shell", {"command": "touch fourth"}),
    ("shell", {}),
    ("shell", {"command": "touch sixth"}),
)


class OneMessage:
    """A model that wants these calls at once, and then says that it is done."""

    def __init__(self, calls: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:
        self._answers = iter([[*itertools.starmap(_piece, calls), StopPiece("end_turn")]])

    async def stream(self, system: str, messages: Any, tools: Any) -> Any:
        for piece in next(self._answers, [TextPiece("done"), StopPiece("end_turn")]):
            yield piece


def _piece(tool: str, arguments: Mapping[str, Any]) -> CallPiece:
    return CallPiece(WantedCall("id", tool, arguments))


@pytest.mark.parametrize("seed", range(6))
async def test_calls_of_a_message_keep_its_order_in_chat_cards_and_ledger(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Each call is prepared only after those that a shuffled order puts before it, also those that cannot be done."""
    calls = list(CALLS)
    random.Random(seed).shuffle(calls)
    reach_gate = [arguments for tool, arguments in calls if tool in BY_NAME]
    order = random.Random(seed + 100).sample(range(len(reach_gate)), len(reach_gate))
    done = [threading.Event() for _ in reach_gate]
    house = make_house()
    turn = house.turn()

    def preparing(_drive: Drive, _tool: object, wanted: WantedCall, tool_call_id: str):
        number = next(index for index, arguments in enumerate(reach_gate) if arguments is wanted.arguments)
        plain = house.preparing(str(wanted.arguments.get("command")))

        def prepare(arguments: Mapping | None):
            before = order.index(number)
            assert before == 0 or done[order[before - 1]].wait(BOUND)
            done[number].set()
            if "command" not in wanted.arguments:
                raise BadArguments("it says nothing that could be done")
            return plain(arguments)

        return prepare

    monkeypatch.setattr(Drive, "_preparing", preparing)
    drive = Drive(
        model=OneMessage(tuple(calls)),  # type: ignore[arg-type]
        system="",
        tools=BY_NAME,
        gate=house.gate,
        turn=turn,
        policy=lambda: house.policy,
        bench=lambda _call: ToolContext(house.policy, emit=lambda _text: None),
        keep=lambda _messages: None,
    )
    running = asyncio.ensure_future(drive.run([]))
    asked = [arguments["command"] for tool, arguments in calls if tool == "shell" and "command" in arguments]
    await house.desk.card(len(asked))
    assert [card.tool_call.raw_input["command"] for card in house.desk.shown] == asked
    rows = house.ledger.query(HistoryFilter(), workspace=None)
    assert [row.input["command"] for row in reversed(rows)] == asked
    for card in house.desk.shown:
        await house.answer(card, "reject_once")
    async with asyncio.timeout(BOUND):
        await running
    shown = [event for event in house.events if isinstance(event, ToolCallEvent)]
    first_shown = list(dict.fromkeys((event.tool, str(event.raw_input.get("command"))) for event in shown))
    assert first_shown == [(tool, str(arguments.get("command"))) for tool, arguments in calls]
    house.ledger.close()
