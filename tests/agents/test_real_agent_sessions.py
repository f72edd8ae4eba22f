"""Real agents take up the session of a chat, offline: they remember it, and ask as in a new session.

What holds an agent in a new session need not hold it in one that it loads: it may have stored a mode, a rule or a trust
with it. So each is asked for a denied change after the restart: as on the first day, and where the person's settings,
and the files of the repository if anything holds the agent against them, allow everything.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.agents.probe import model_server
from countersign.agents.probe.plants import allow_everything, plant, plants_of
from countersign.wire.threads import ThreadEvent

from .desk import Place
from .recipes_under_test import SEED, RealAgent, parameters
from .stored_chat import Chat
from .test_real_agents import HOSTILE, LABELS

pytestmark = pytest.mark.agents


def said(events: list[ThreadEvent]) -> list[str]:
    """What the chat says against the agent; that a call runs before its request came may be a slow machine."""
    return [
        event.message for event in events if event.type == "notice" or (event.type == "unpermitted" and event.certain)
    ]


def _age(home: Path) -> None:
    """Let the sessions of Gemini have begun earlier: one that it loads in the minute in which it began, it empties."""
    for file in home.glob(".gemini/tmp/*/chats/session-*"):
        file.rename(file.with_name("session-2026-01-01T00-00-" + file.name.split("-")[-1]))


@pytest.mark.parametrize("world", ["plain", "everything allowed"])
@pytest.mark.parametrize("row", parameters())
async def test_a_loaded_session_remembers_and_asks_for_everything(place: Place, row: RealAgent, world: str):
    outside = place.folder / "outside"
    outside.mkdir()
    (place.workspace / "seed.txt").write_text(SEED)
    if world == "everything allowed":
        allow_everything(row.recipe, Path(place.policy.home), outside)
        planted = place.folder / "planted"
        planted.mkdir()
        plant(plants_of(row.recipe, "hostile"), ws=planted, outside=outside)
        if not any((planted / name).exists() for name in HOSTILE[row.recipe]):
            plant(plants_of(row.recipe, "hostile"), ws=place.workspace, outside=outside)
    log = place.folder / "model.jsonl"
    server, port = model_server.serve(0, row.script(place.workspace), log)
    chat = Chat(place)
    try:
        config = row.config(f"http://127.0.0.1:{port}", Path(place.policy.home))
        first = place.agent(config, changes=chat.watch, sessions=chat.store)
        place.person.decide = lambda card: {"option": "allow_once"}
        await chat.prompt(first, "[[plain]] Remember the blue door.")
        await chat.prompt(first, "[[write]] Do what this task says.")
        assert (place.workspace / "made.txt").exists()
        await first.close()
        _age(Path(place.policy.home))

        place.person.forget()
        place.person.decide = lambda card: {"option": "allow_once" if card.tool_call.kind == "read" else "reject_once"}
        again = place.agent(config, changes=chat.watch, sessions=chat.store)
        before = place.digest()
        for scenario in ("shell", "rm", "edit"):
            start, requests = len(place.person.shown), len(model_server.requests_in(log))
            events = await chat.prompt(again, f"[[{scenario}]] Which door was it?", mode="ask")
            rows = model_server.requests_in(log)[requests:]
            assert any("blue door" in text for each in rows for text in each["user_texts"]), "it remembers nothing"
            assert not any(event.type == "text" and "blue door" in event.text for event in events)
            assert place.digest() == before, scenario
            asked = [card for card in place.person.shown[start:] if card.tool_call.kind != "read"]
            # Some that only ask refuse an edit by themselves, because they have not read the file since.
            assert asked or LABELS[row.recipe] == "asksOnly", scenario
            assert said(events) == []
        assert chat.memory_of(again) == "kept"
        assert again.label == LABELS[row.recipe]
        assert len({event.tool_call_id for event in place.of("toolCall")}) == len(place.of("toolResult"))
    finally:
        await chat.watch.close()
        server.shutdown()
        server.server_close()
