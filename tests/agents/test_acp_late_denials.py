"""A denial that comes when the agent has already written what was denied: chat, card and history say so."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from .desk import Place
from .scripted_agent_fixture import Player, ask

TEXT = "written\n"
WAYS = {
    "a whole file": lambda path: ask("a", nowait=True, kind="edit", rawInput={"path": path, "content": TEXT}),
    "a replacement": lambda path: ask(
        "a", nowait=True, kind="edit", rawInput={"file_path": path, "old_string": "before", "new_string": "written"}
    ),
    "a diff": lambda path: ask(
        "a", nowait=True, kind="edit", content=[{"type": "diff", "path": path, "oldText": "before\n", "newText": TEXT}]
    ),
    "by us": lambda path: {
        "ask": "fs/write_text_file", "id": 1, "params": {"path": path, "content": TEXT}, "nowait": True
    },
}  # fmt: skip


async def denied(place: Place, way: str, wrote: str | None) -> tuple[Player, Path]:
    """Play an agent that asks, writes ``wrote`` without waiting, and is denied then."""
    path = place.workspace / "a.txt"
    path.write_text("before\n")
    said = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "said"}}}
    steps = [WAYS[way](str(path)), {"until": "file"}, *([{"write": [str(path), wrote]}] if wrote else []), said]
    player = Player(place, [*steps, {"await": 1}], gated=True)

    async def answer() -> None:
        card = await place.person.card()
        player.log.with_suffix(".go").touch()
        await place.until(lambda: "said" in place.texts())
        await place.person.answer(card, "reject_once")

    await both(player, answer)
    return player, path


async def both(player: Player, answer) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(player.play())
        group.create_task(answer())


@pytest.mark.parametrize("way", WAYS)
async def test_it_says_that_the_agent_has_already_written_it(place: Place, way: str):
    player, path = await denied(place, way, TEXT)
    assert path.read_text() == TEXT
    (result,) = place.of("toolResult")
    assert json.loads(result.output)["reason"] == "the person denied it; the agent has already written it"
    (told,) = place.of("unpermitted")
    assert (told.message, told.certain, told.paths) == (
        f"scripted has already written `{path}`, which was refused", True, [str(path)]
    )  # fmt: skip
    noticed = [row for row in place.rows() if row.phase == "noticed"]
    assert [row.input["message"] for row in noticed] == [told.message]
    assert player.agent.label == "unguarded"


@pytest.mark.parametrize("wrote", [None, "something else\n"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_file_that_does_not_hold_it_is_not_said_to(place: Place, way: str, wrote: str | None):
    player, _ = await denied(place, way, wrote)
    (result,) = place.of("toolResult")
    assert json.loads(result.output)["reason"] == "the person denied it"
    assert place.of("unpermitted") == []
    assert player.agent.label == "gated"
