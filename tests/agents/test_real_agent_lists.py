"""Real agents, offline: what they list of their sessions becomes a chat, a fork goes on, and attached texts arrive."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from countersign.agents.acp.host import AcpAgent
from countersign.agents.probe import model_server
from countersign.wire.threads import Attachment
from tests.patience import PATIENCE

from .desk import Place
from .recipes_under_test import SEED, RealAgent, parameters
from .stored_chat import Chat

pytestmark = pytest.mark.agents


def second(chat: Chat, thread_id: str) -> Chat:
    return Chat(chat.place, thread_id, chat.transcripts)


@pytest.mark.parametrize("row", parameters())
async def test_a_listed_session_becomes_a_chat_and_a_fork_remembers(place: Place, row: RealAgent):
    (place.workspace / "seed.txt").write_text(SEED)
    place.person.decide = lambda card: {"option": "reject_once"}
    log = place.folder / "model.jsonl"
    server, port = model_server.serve(0, row.script(place.workspace), log)
    chat = Chat(place)
    others: list[Chat] = []
    try:
        config = row.config(f"http://127.0.0.1:{port}", Path(place.policy.home))
        first = place.agent(config, changes=chat.watch, sessions=chat.store)
        selection = Attachment(path="seed.txt", text="the orange bridge", start_line=1, end_line=1)
        async with asyncio.timeout(PATIENCE):
            await first.prompt("[[plain]] Remember the blue door.", place.turn(row.name), (), [selection])
        assert "orange bridge" in _said(log)
        if first.forks:
            others.append(second(chat, "fork"))
            await first.fork(place.turn(row.name, thread="fork"), "thread")
            await _remembers(place, first, log, "fork")
        if not first.lists_sessions:
            pytest.skip(f"{row.name} lists no sessions; forks: {first.forks}")
        await first.close()
        chat.transcripts.delete_thread("thread")
        again = place.agent(config, changes=chat.watch, sessions=chat.store)
        sessions, _ = await again.list_sessions()
        assert sessions, "it lists none of this folder"
        open_ones = [each for each in sessions if each.thread_id is None]
        others.append(second(chat, "opened"))
        before = len(place.events)
        await again.begin_with(place.turn(row.name, thread="opened"), open_ones[-1].session_id)
        said = [event.text for event in place.events[before:] if event.type in ("prompt", "text")]  # type: ignore[union-attr]
        assert any("blue door" in text for text in said), place.events[before:]
        await _remembers(place, again, log, "opened")
        assert again.label != "unguarded", again.detail
    finally:
        for each in (chat, *others):
            await each.watch.close()
        server.shutdown()
        server.server_close()


def _said(log: Path) -> str:
    return log.read_text()


async def _remembers(place: Place, agent: AcpAgent, log: Path, thread: str) -> None:
    before = len(_said(log))
    async with asyncio.timeout(PATIENCE):
        await agent.prompt("[[plain]] Which door was it?", place.turn(agent.name, thread=thread))
    assert "blue door" in _said(log)[before:], f"the chat `{thread}` remembers nothing"
