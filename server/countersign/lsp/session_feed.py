"""Tells the editor what the agents of chats offer and how they title them, at most once in a while for each chat.

What is offered is the agent's business (``agents/acp/offered.py``); events of a chat are ``event_feed.py``'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from countersign.agents.transcript import Transcripts
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.threads import AgentCommand, ThreadOption, ThreadSession, ThreadTitled

if TYPE_CHECKING:
    from countersign.lsp.pygls_server import Server

log = logging.getLogger(__name__)
PAUSE = 0.05
"""Seconds in which changes become one message: an agent may tell options and commands one after the other."""

Offers = tuple[list[ThreadOption], list[AgentCommand]]


class SessionFeed:
    """News of sessions on their way to the editor. A class because news of a chat wait for each other.

    ``offers`` gives what the agent of a chat offers now; None where it has no session."""

    def __init__(self, server: Server, transcripts: Transcripts, offers: Callable[[str], Offers | None]) -> None:
        self._server = server
        self._transcripts = transcripts
        self._offers = offers
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._titles: dict[str, str] = {}
        self._changed: set[str] = set()

    def offered(self, thread_id: str) -> None:
        """The agent of a chat offers something else."""
        self._changed.add(thread_id)
        self._soon(thread_id)

    def titled(self, thread_id: str, title: str) -> None:
        """The agent of a chat gave it a title."""
        if title:
            self._titles[thread_id] = title
            self._soon(thread_id)

    def close(self) -> None:
        """Tell nothing more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _soon(self, thread_id: str) -> None:
        if thread_id not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[thread_id] = loop.call_later(PAUSE, partial(self._tell, thread_id))

    def _tell(self, thread_id: str) -> None:
        self._timers.pop(thread_id, None)
        if thread_id in self._changed:
            self._changed.discard(thread_id)
            options, commands = self._offers(thread_id) or ([], [])
            self._server.notify(
                "thread/session", ThreadSession(thread_id=thread_id, options=options, commands=commands)
            )
        title = self._titles.pop(thread_id, None)
        if title is None:
            return
        try:
            kept = self._transcripts.title_thread(thread_id, title)
        except LedgerUnavailable:  # the disk is full: the chat goes on under the title that it has
            log.exception("the title of %s is not kept", thread_id)
            return
        if kept is not None:
            self._server.notify("thread/titled", ThreadTitled(thread_id=thread_id, title=kept))
