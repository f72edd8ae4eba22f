"""Texts that a person attaches reach an agent as resources where it takes such, else in the words of the prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countersign.agents.acp.prompt_blocks import with_resources
from countersign.agents.acp.recipe import STRANGER
from countersign.wire.threads import Attachment
from tests.agents.scripted_agent_fixture import Player

from .desk import Place

TAKES = {"agentCapabilities": {"promptCapabilities": {"embeddedContext": True}}}
ATTACHED = [Attachment(path="a b.py", text="x = 1", start_line=2, end_line=3), Attachment(path="c.py")]


async def prompted(place: Place, greeting: dict) -> list[dict]:
    player = Player(place, [], greeting=greeting)
    await player.agent.prompt("look", place.turn("scripted"), (), ATTACHED)
    return next(row["params"]["prompt"] for row in player.told() if row.get("method") == "session/prompt")


async def test_an_agent_that_takes_resources_gets_each_attached_text_as_one(place: Place):
    uri = f"{place.workspace.as_uri()}/a%20b.py#L2:3"
    assert await prompted(place, TAKES) == [
        {"type": "text", "text": "look\n\nAttached: c.py"},
        {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "x = 1"}},
    ]


@pytest.mark.parametrize("greeting", [{}, {"agentCapabilities": {"promptCapabilities": {"embeddedContext": "yes"}}}])
async def test_another_agent_gets_them_in_the_words_of_the_prompt(place: Place, greeting: dict):
    words = "look\n\nAttached: a b.py, lines 2 to 3\n```\nx = 1\n```\n\nAttached: c.py"
    assert await prompted(place, greeting) == [{"type": "text", "text": words}]


async def test_an_agent_whose_model_does_not_get_resources_gets_them_in_the_words_too(place: Place):
    player = Player(place, [], greeting=TAKES, recipe=replace(STRANGER, drops_resources=True))
    await player.agent.prompt("look", place.turn("scripted"), (), ATTACHED)
    (block,) = next(row["params"]["prompt"] for row in player.told() if row.get("method") == "session/prompt")
    assert "x = 1" in block["text"]


@pytest.mark.parametrize(
    "item",
    [Attachment(text="no path"), Attachment(path="", text="x"), Attachment(path="a\0b", text="x")],
)
def test_a_text_without_a_path_stands_in_the_words(item: Attachment):
    words, resources = with_resources("look", [item], "/ws", takes_resources=True)
    assert resources == []
    assert words.endswith("x\n```") or "no path" in words


def test_of_one_line_and_of_a_whole_file_the_address_says_so():
    items = [Attachment(path="/etc/x", text="a", start_line=4), Attachment(path="../y", text="b", kind="resource")]
    _, resources = with_resources("look", items, "/ws/sub", takes_resources=True)
    assert [each["resource"]["uri"] for each in resources] == ["file:///etc/x#L4:4", "file:///ws/y"]  # type: ignore[index,call-overload]
