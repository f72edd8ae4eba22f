"""A card of one chat holds up no other: the same agent's other chats and other agents play to their ends beside it."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.agents.scripted_agent_fixture import Player, ask, done, report
from tests.agents.test_acp_hooks import RECIPE, RUN, hook

from .desk import BOUND, Place

READ = {"kind": "read", "rawInput": {"path": "{ws}/seed.txt"}}
WAYS = {
    "request": [ask("a", **RUN)],
    "hook": [report("a", **RUN), hook("bash", {"command": "make"})],
    "file": [{"ask": "fs/write_text_file", "id": 1, "params": {"path": "{ws}/a.txt", "content": "x"}}],
    "terminal": [{"ask": "terminal/create", "id": 1, "params": {"command": "make", "args": []}}],
    "several at once": [ask(f"a{number}", number, nowait=True, **RUN) for number in range(1, 21)] + [{"await": 20}],
}
OTHER = [ask("b", 100, **READ), done("b"), {"update": {"sessionUpdate": "agent_message_chunk",
                                                       "content": {"type": "text", "text": "other"}}}]  # fmt: skip


def filled(place: Place, steps: list) -> list:
    return json.loads(json.dumps(steps).replace("{ws}", str(place.workspace)))


@pytest.mark.parametrize("way", WAYS)
async def test_another_chat_and_another_agent_play_to_their_end_while_a_card_is_open(place: Place, way: str):
    (place.workspace / "seed.txt").write_text("x")
    player = Player(place, *filled(place, [WAYS[way], OTHER, OTHER]), recipe=RECIPE, gated=True, remembers=True)
    other = Player(place, filled(place, OTHER), name="other")
    asking = asyncio.ensure_future(player.agent.prompt("go", place.turn(player.name, thread="first")))
    first = await place.person.card()
    async with asyncio.timeout(BOUND):
        # In turn and at once: each ends before anybody has answered the card.
        assert await player.agent.prompt("go", place.turn(player.name, thread="second")) == "end_turn"
        ends = await asyncio.gather(
            player.agent.prompt("go", place.turn(player.name, thread="third")),
            other.agent.prompt("go", place.turn(other.name, thread="fourth")),
        )
    assert ends == ["end_turn", "end_turn"]
    assert place.texts() == "other" * 3
    assert (asking.done(), place.person.ended) == (False, [])
    cards = list(place.person.shown)
    assert first in cards
    for card in cards:
        await place.person.answer(card, "reject_once")
    assert await asking == "end_turn"
