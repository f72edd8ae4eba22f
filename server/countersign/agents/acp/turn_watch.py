"""The watch over the workspace for one prompt: it begins before the agent opens a session, or with the turn."""

from __future__ import annotations

from collections.abc import Callable

from countersign.agents.acp.change_watch import ChangeWatch, Listener, Say


class TurnWatch:
    """One prompt's place at the watcher. A class because it begins and ends once, whoever is to be told meanwhile.

    ``changes`` None watches nothing. ``root`` is the agent's process, ``chat`` the thread.
    """

    def __init__(self, changes: ChangeWatch | None, agent: str, chat: str, root: Callable[[], int | None]) -> None:
        self._changes = changes
        self._agent = agent
        self._chat = chat
        self._root = root
        self._say: Say | None = None
        self._listener: Listener | None = None

    async def begin(self, say: Say) -> None:
        """Look at what changes from now on, and tell ``say`` of it, instead of whoever was told before."""
        self._say = say
        if self._changes is not None and self._listener is None:
            self._listener = Listener(self._agent, self._root, self._tell, self._chat)
            await self._changes.begin(self._listener)

    async def end(self) -> None:
        """The prompt is over; changes are looked for a little longer."""
        if self._changes is not None and self._listener is not None:
            await self._changes.end(self._listener)

    async def _tell(self, paths: list[str], certain: bool) -> None:
        if self._say is not None:
            await self._say(paths, certain)
