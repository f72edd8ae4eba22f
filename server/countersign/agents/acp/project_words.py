"""Instructions of the project for an agent whose recipe keeps it from reading them itself.

A recipe that switches an agent's settings in the project off may switch its CLAUDE.md, AGENTS.md or GEMINI.md off with
them. The text then goes along with the first prompt of each new session, from trusted workspaces only, and the chat
says so. A session that is taken up has it already.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

from countersign.agents.instructions import blocking_instructions_named, words_of
from countersign.settings.policy import Policy
from countersign.tools.visible import as_title
from countersign.wire.threads import NoticeEvent, ThreadEvent

MOST_TOKENS = 16_000
"""Tokens, about, of instructions that go along."""


class ProjectWords:
    """What is handed to the sessions of one agent. A class because each session gets it once."""

    def __init__(self, agent: str, names: Sequence[str], policy: Callable[[], Policy]) -> None:
        self._agent = agent
        self._names = tuple(names)
        self._policy = policy
        self._due: set[str] = set()
        self._sent: dict[str, str] = {}

    def begin(self, session_id: str) -> None:
        """A session is new, so nothing was handed to it."""
        if self._names:
            self._due.add(session_id)

    async def words_due(self, session_id: str) -> list[str] | None:
        """Return the words for the next prompt of a session; None where it has them, or the workspace is not trusted.
        They stay due until ``accepted``, so that a prompt that is sent again brings them again."""
        policy = self._policy()
        if session_id not in self._due or not policy.trusted:
            return None
        self._sent.pop(session_id, None)
        found = await asyncio.to_thread(blocking_instructions_named, policy, self._names, MOST_TOKENS)
        if not found:
            return []
        self._sent[session_id] = ", ".join(f"`{as_title(os.path.basename(each.path))}`" for each in found)
        return [words_of(found)]

    def accepted(self, session_id: str, emit: Callable[[ThreadEvent], None]) -> None:
        """The agent answered the prompt that brought the words, and not with an error; the chat says so."""
        self._due.discard(session_id)
        if names := self._sent.pop(session_id, None):
            message = f"Countersign gave {self._agent} this project's instructions: {names}"
            emit(NoticeEvent(level="info", message=message))
