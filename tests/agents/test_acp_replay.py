"""What an agent repeats of a session costs no more than it says, and no message of it hides another."""

from __future__ import annotations

import time

import pytest

from countersign.agents.acp import replay
from countersign.agents.acp.comparison import Prompt, compare
from countersign.agents.acp.ndjson import TooMuch
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.replay import MOST_KEPT, Replay

THOUGHT = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "x"}}
WIDE = "\N{GRINNING FACE}"


def user(text: str) -> dict:
    return {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}


def options(**values: str | bool) -> dict:
    told = [{"id": name, "currentValue": value} for name, value in values.items()]
    return {"sessionUpdate": "config_option_update", "configOptions": told}


async def heard(*updates: dict) -> Replay:
    offered = Offered("scripted", Recipe("test", "gated", config={"auto": False}))
    offered.hear_opened({})
    made = Replay("scripted", offered)
    for update in updates:
        await made.hear(update)
    return made


ROWS = {
    "one after the other": ([options(auto=True), options(theme="dark")], ["auto"]),
    "one of several": ([options(auto=True, theme="dark"), options(theme="light")], ["auto"]),
    "nothing": ([options(auto=True), options()], ["auto"]),
    "put back by the agent": ([options(auto=True), options(auto=False)], []),
}


@pytest.mark.parametrize(("updates", "strays"), ROWS.values(), ids=ROWS)
async def test_an_option_counts_until_the_agent_says_otherwise(updates: list[dict], strays: list[str]):
    assert [stray.option_id for stray in (await heard(*updates)).offered.held.take()] == strays


async def test_a_prompt_in_many_pieces_costs_no_more_than_its_pieces():
    made = await heard(user(WIDE * (MOST_KEPT - 2000)))
    began = time.thread_time()
    for _ in range(2000):
        await made.hear(user(WIDE))
    # Each took 8 ms where the whole prompt was copied for it.
    assert time.thread_time() - began < 2.0
    assert made.prompts == [WIDE * MOST_KEPT]


async def test_pieces_join_until_something_else_is_said():
    made = await heard(user("a\r\n"), user("b\r"), THOUGHT, user("c"), user(""), user("d"))
    assert made.prompts == ["a\r\nb\r", "cd"]


async def test_the_prompts_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay, "MOST_PROMPTS", 3, raising=False)
    made = await heard(*(each for _ in range(5) for each in (user("a"), user("b"), THOUGHT)))
    assert made.prompts == ["ab"] * 3
    assert compare([Prompt("ab", True)] * 5, made.prompts).missing == 2


async def test_an_update_of_many_values_counts_whole(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay, "MOST_REPEATED", 10_000)
    with pytest.raises(TooMuch):
        await heard({**THOUGHT, "more": ["x"] * 20_000})
