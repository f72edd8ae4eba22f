"""Opens the session of a chat: the one that its agent kept, where the agent offers that, or a new one.

Says in the chat where the agent does not remember what stands in it. An agent that ends while it loads a session is
asked to once more, then it starts anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import replace

from countersign.agents.acp.agent_process import Link
from countersign.agents.acp.comparison import Comparison, compare
from countersign.agents.acp.earlier_words import EarlierWords
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.replay import Replay
from countersign.agents.acp.session_store import (
    DOUBTFUL,
    LONGEST_ID,
    LOST,
    SessionStore,
    StoredSession,
    agent_key,
    claim_key,
    without_secrets,
)
from countersign.agents.acp.translate import BadMessage, as_object, read_text
from countersign.gate import Turn
from countersign.settings.policy import AgentConfig
from countersign.tools.visible import as_message
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, InvalidAnswer, LoginNeeded, ModelError
from countersign.wire.threads import NoticeEvent, ThreadMemory

log = limited_logger(__name__)

Hold = Callable[[Link, str, Offered], Awaitable[None]]
"""Puts the session of this id into the mode and options in which the agent asks."""


class Opening:
    """Opens the sessions of one agent. A class because it knows which are being loaded.

    ``store`` None: no session is kept or taken up.
    """

    def __init__(
        self, config: AgentConfig, recipe: str, folder: str, workspace: str, store: SessionStore | None
    ) -> None:
        self._config = config
        self._store = store
        self.key = agent_key(config, recipe, folder, workspace)
        self.replays: dict[str, Replay] = {}

    async def take_up(
        self,
        link: Link,
        turn: Turn,
        text: str,
        params: Mapping[str, Json],
        taken: Container[str],
        hold: Hold,
        offered: Offered,
    ) -> tuple[str, Replay] | None:
        """Let the agent take up the session of this turn's chat; return its id and what was repeated of it. None: the
        agent must start anew. ``text`` is the prompt to come, ``taken`` holds the ids of open
        sessions, ``offered`` hears what the session offers.

        The caller opens the session before it awaits anything, so that no message falls between.

        Raises:
            AgentExit: the agent ended meanwhile.
            LoginNeeded: a person must log in first; nothing was taken up.
            ModelError: the chat was begun with this session, and the agent does not take it up.
        """
        found = await self._take_up(link, turn, text, params, taken, hold, offered)
        stored = self._store.find(turn.thread_id) if self._store is not None else None
        if found is None and stored is not None and stored.untold:
            raise ModelError(f"the agent {link.name} did not take up this session; begin a new chat")
        return found

    async def _take_up(
        self,
        link: Link,
        turn: Turn,
        text: str,
        params: Mapping[str, Json],
        taken: Container[str],
        hold: Hold,
        offered: Offered,
    ) -> tuple[str, Replay] | None:
        store, method = self._store, link.reopens
        stored = store.find(turn.thread_id) if store is not None else None
        if store is None or stored is None or method is None or stored.session_id in taken:
            return None
        if not stored.may_be_loaded(self.key, self._claim(link)) or store.has_another(turn.thread_id, stored):
            return None
        store.keep(turn.thread_id, replace(stored, tries=stored.tries + 1))
        earlier = EarlierWords(link.name) if stored.untold else None
        replay = self.replays[stored.session_id] = Replay(link.name, offered, earlier)
        offered.held.open_again(stored.modes)
        try:
            offered.hear_opened(as_object(await link.ask_soon(method, {**params, "sessionId": stored.session_id})))
            await hold(link, stored.session_id, offered)
            await replay.settle()
            compared = method == "session/load" and earlier is None
            said = await self._compared(turn, text, replay) if compared else None
            if link.pipe.ended.is_set():
                raise ConnectionResetError("the agent is gone")
        except LoginNeeded:
            store.keep(turn.thread_id, stored)
            raise
        except (ModelError, AgentExit, ConnectionError) as error:
            if link.pipe.ended.is_set():
                message = f"the agent {link.name} ended while it loaded this chat; the next prompt starts it again"
                raise AgentExit(message) from None
            log.warning("%s did not take up its session: %s", link.name, as_message(str(error)))
            return None
        except asyncio.CancelledError:
            store.keep(turn.thread_id, stored)
            raise
        finally:
            del self.replays[stored.session_id]
        lost = self._say(turn, said) if said is not None else False
        store.keep(turn.thread_id, replace(stored, tries=0, lost=stored.lost or lost, untold=False))
        if earlier is not None:
            await earlier.tell(turn.emit, repeats=method == "session/load")
        return stored.session_id, replay

    async def start_anew(self, link: Link, params: Mapping[str, Json], taken: Container[str], offered: Offered) -> str:
        """Let the agent open a new session; return its id. ``offered`` hears what it offers.

        Raises:
            AgentExit: it opened none.
            ModelError: it answered with an error.
        """
        return await self._opened(link, "session/new", params, taken, offered)

    async def fork(
        self,
        link: Link,
        source: str,
        thread_id: str,
        params: Mapping[str, Json],
        taken: Container[str],
        offered: Offered,
    ) -> str:
        """Let the agent open a session that goes on from the one that the chat ``source`` has; keep it with the chat
        ``thread_id`` and return its id. ``offered`` hears what it offers.

        Raises:
            InvalidAnswer: the agent does not fork, or not this chat.
            AgentExit: it opened none.
            ModelError: it answered with an error.
        """
        store = self._store
        stored = store.find(source) if store is not None else None
        if not link.forks:
            raise InvalidAnswer(f"the agent {link.name} does not fork its sessions; begin a new chat instead")
        if store is None or stored is None or not stored.may_be_loaded(self.key, self._claim(link)):
            raise InvalidAnswer(f"the agent {link.name} has no session for this chat, so there is nothing to fork")
        if store.has_another(source, stored):
            raise InvalidAnswer("another chat claims the same session, so this one cannot be forked")
        method = "session/fork"
        session_id = await self._opened(link, method, {**params, "sessionId": stored.session_id}, taken, offered)
        if session_id in store.chats_of(self.key):
            raise AgentExit(f"the agent {link.name} opened no session (`its session id is that of another chat`)")
        kept = session_id if len(session_id) <= LONGEST_ID else ""
        store.keep(thread_id, replace(stored, session_id=kept, loads=link.reopens is not None, tries=0))
        return session_id

    async def _opened(
        self, link: Link, method: str, params: Mapping[str, Json], taken: Container[str], offered: Offered
    ) -> str:
        try:
            said = as_object(await link.ask_soon(method, params))
            session_id = read_text(said, "sessionId")
            if session_id in taken:
                raise BadMessage("its session id is that of another chat")
        except (ConnectionError, BadMessage) as error:
            raise AgentExit(f"the agent {link.name} opened no session (`{error}`)") from None
        offered.hear_opened(said)
        return session_id

    async def keep_new(self, link: Link, turn: Turn, text: str, session_id: str) -> None:
        """Keep a new session with this turn's chat, and say there what the agent does not remember."""
        if (store := self._store) is None:
            return
        earlier = await asyncio.to_thread(store.blocking_prompts, turn.thread_id, text)
        before = store.find(turn.thread_id)
        lost = bool(earlier) or (before is not None and before.lost)
        if earlier:
            turn.emit(NoticeEvent(level="warning", message=LOST))
        kept = session_id if len(session_id) <= LONGEST_ID else ""
        store.keep(turn.thread_id, StoredSession(kept, self.key, self._claim(link), link.reopens is not None, lost))

    def keep_modes(self, thread_id: str, offered: Offered) -> None:
        """Keep the modes that the session of this chat was opened in, or that the person has chosen since."""
        stored = self._store.find(thread_id) if self._store is not None else None
        modes = offered.held.opening_modes()
        if self._store is not None and stored is not None and stored.modes != modes:
            self._store.keep(thread_id, replace(stored, modes=modes))

    def memory(self, stored: StoredSession) -> ThreadMemory:
        """Whether the agent, as far as is known before it is asked, can take up this session."""
        return "kept" if stored.loads and stored.agent == self.key and not stored.lost else "lost"

    def _claim(self, link: Link) -> str:
        return claim_key(self._config, link.claim.name)

    def claim_session(self, link: Link, thread_id: str, session_id: str) -> None:
        """Keep a session of the agent's own list with a new chat, which is to show what was said in it.

        Raises:
            InvalidAnswer: the agent does not take sessions up, or a chat has this one.
        """
        store = self._store
        if store is None or link.reopens is None:
            raise InvalidAnswer(f"the agent {link.name} does not take up its earlier sessions")
        if not 0 < len(session_id) <= LONGEST_ID:
            raise InvalidAnswer(f"the id of a session has 1 to {LONGEST_ID} characters")
        if session_id in store.chats_of(self.key):
            raise InvalidAnswer("a chat has this session already; open that chat")
        store.keep(thread_id, StoredSession(session_id, self.key, self._claim(link), True, untold=True))

    def chats(self) -> dict[str, str]:
        """Return the chat of each session of this agent that a chat has, by the session's id."""
        return {} if self._store is None else self._store.chats_of(self.key)

    async def _compared(self, turn: Turn, text: str, replay: Replay) -> Comparison:
        store = self._store
        assert store is not None
        prompts = await asyncio.to_thread(store.blocking_prompts, turn.thread_id, text)
        return await asyncio.to_thread(lambda: compare(prompts, without_secrets(replay.prompts)))

    def _say(self, turn: Turn, said: Comparison) -> bool:
        """Tell the chat how the agent's memory differs from it; return whether something is missing there."""
        if said.further:
            message = f"{self._config.name} also remembers prompts that do not stand in this chat: {said.further}"
            turn.emit(NoticeEvent(level="info", message=message))
        if said.missing:
            repeated = said.expected - said.missing
            message = f"{DOUBTFUL}: it repeated {repeated} of {said.expected} prompts"
            turn.emit(NoticeEvent(level="warning", message=message))
        return said.missing > 0
