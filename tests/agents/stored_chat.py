"""A chat that is stored as the server stores it, for agents whose processes come and go."""

from __future__ import annotations

import asyncio

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.host import AcpAgent
from countersign.agents.acp.session_store import SessionStore, stored_session
from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.wire.threads import DoneEvent, PromptEvent, ThreadEvent
from tests.agents.scripted_agent_fixture import Player

from .desk import BOUND, Place

LOADS = {"agentCapabilities": {"loadSession": True}}
SAY = {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "new words"}}}


class Chat:
    """One chat, stored as the server stores it, and the processes of its agent that come and go."""

    def __init__(self, place: Place, thread_id: str = "thread", transcripts: Transcripts | None = None) -> None:
        self.place, self.thread_id = place, thread_id
        self.transcripts = transcripts or Transcripts(None)
        workspace = place.policy.workspace
        self.transcripts.save_thread(ThreadRow(thread_id, workspace, "chat", "scripted", "default", 0, "now"))
        self.store = SessionStore(self.transcripts, lambda: self.place.policy.workspace)
        self.watch = ChangeWatch(workspace, place.gate.running, place.shells, others=lambda workspace, roots: False)

    async def start(self, *prompts: list, **script) -> Player:
        """A new process of the agent, as after a restart of the server; the former one has ended."""
        for agent in self.place.agents:
            await agent.close()
        given = {"greeting": LOADS, "gated": True, "remembers": True, "changes": self.watch, **script}
        return Player(self.place, *(prompts or [[SAY]]), store=self.store, **given)

    async def say(self, player: Player, text: str, mode: str = "default") -> list[ThreadEvent]:
        """One turn of a scripted agent; return its events."""
        return await self.prompt(player.agent, text, mode)

    async def prompt(self, agent: AcpAgent, text: str, mode: str = "default") -> list[ThreadEvent]:
        """One turn, as `lsp/sessions.py` carries it out; return its events."""
        self.keep(PromptEvent(text=text))
        first = len(self.place.events)
        reason = "error"
        try:
            turn = self.place.turn(agent.name, mode, thread=self.thread_id)
            async with asyncio.timeout(2 * BOUND):
                reason = await agent.prompt(text, turn)
        except asyncio.CancelledError:
            reason = "cancelled"
            raise
        finally:
            self.keep(*self.place.events[first:], DoneEvent(stop_reason=reason))  # type: ignore[arg-type]
        return self.place.events[first:]

    def keep(self, *events: ThreadEvent) -> None:
        self.transcripts.add_events(self.thread_id, 1, "now", events)

    def memory(self, player: Player) -> str:
        return self.memory_of(player.agent)

    def memory_of(self, agent: AcpAgent) -> str:
        """What `thread/open` says of the chat's memory."""
        row = self.transcripts.thread(self.thread_id)
        assert row is not None
        stored = stored_session(row)
        assert stored is not None
        return agent.memory(self.thread_id, stored)
