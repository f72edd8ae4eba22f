"""What an agent repeats of a session that it takes up.

While a session is loaded, no turn runs. Requests of the agent are refused, because the session is not open yet
(``client.py``), and what it reports of tool calls is dropped: nothing that is repeated is shown, gives credit, counts
as a call or says anything of the agent's label. Only the person's prompts are kept, to be compared with the chat's
(``comparison.py``), and for a chat that a person began with a session of the agent's list what was said in it
(``earlier_words.py``). When a session is taken up is ``opening.py``'s business.

What the session offers (``offered``) and its cost so far are kept, too.

INVARIANT (narrowing): nothing that an agent says while it loads a session reaches the gate or the label, and none of
its calls reaches the chat.
"""

from __future__ import annotations

import asyncio
import io

from countersign.agents.acp.earlier_words import EarlierWords
from countersign.agents.acp.ndjson import TooMuch
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.recipe import STRANGER
from countersign.agents.acp.translate import CommandNews, ContextNews, ModeNews, OptionNews, as_object, read_update
from countersign.agents.pace import Pace
from countersign.gate import in_worker
from countersign.wire.base import Json
from countersign.wire.sizes import size_of, size_of_few

MOST_REPEATED = 64 << 20
"""Characters, about, of all that an agent repeats of one session; an agent that says more is ended."""
MOST_KEPT = 4 << 20
"""Characters of the prompts in it that are kept."""
MOST_PROMPTS = 10_000
"""Prompts in it that are kept; comparing so many takes a second or so."""
QUIET_SECONDS = 0.2
"""An agent that says nothing for so long has repeated everything; some answer first and repeat then."""
LONGEST_SETTLE = 10.0
"""Seconds after which what an agent still repeats counts as said anew."""


class Replay:
    """What an agent repeats of one session while it is loaded. A class because it adds up message by message."""

    def __init__(self, agent: str, offered: Offered | None = None, earlier: EarlierWords | None = None) -> None:
        self._agent = agent
        self._earlier = earlier
        self.offered = offered or Offered(agent, STRANGER)
        self.cost: float | None = None
        self._pace = Pace()
        self._said = 0
        self._kept = 0
        self._joins = False
        self._heard = asyncio.Event()
        self._prompts: list[io.StringIO] = []

    @property
    def prompts(self) -> list[str]:
        """The prompts that it repeated, in order."""
        return [prompt.getvalue() for prompt in self._prompts]

    async def hear(self, raw: Json) -> None:
        """Take a ``session/update``.

        Raises:
            BadMessage: it is no update.
            TooMuch: the agent has repeated too much; it must be ended.
        """
        self._heard.set()
        characters = (size_of_few(raw) or await in_worker(size_of, raw)).characters
        self._said += characters
        if self._said > MOST_REPEATED:
            raise TooMuch(f"it repeated more than {MOST_REPEATED >> 20} MiB of one session")
        update = as_object(raw)
        if self._earlier is not None:
            self._earlier.hear(update)
        match update.get("sessionUpdate"):
            case "user_message_chunk":
                self._keep(update.get("content"))
            case "current_mode_update" | "config_option_update" | "available_commands_update" | "usage_update":
                self._hear_news(raw)
            case _:
                self._joins = False
        self._heard.set()
        await self._pace.said(characters)

    def _keep(self, content: Json) -> None:
        text = as_object(content).get("text")
        if not isinstance(text, str) or self._kept + len(text) > MOST_KEPT:
            return
        if self._joins:
            self._prompts[-1].write(text)
        elif len(self._prompts) < MOST_PROMPTS:
            self._prompts.append(io.StringIO(newline=""))
            self._prompts[-1].write(text)
        else:
            return
        self._kept += len(text)
        self._joins = True

    def _hear_news(self, raw: Json) -> None:
        match read_update(raw):
            case ContextNews(cost=cost):
                self.cost = self.cost if cost is None else cost
            case ModeNews() | OptionNews() | CommandNews() as news:
                self.offered.hear(news)
                if not isinstance(news, CommandNews):
                    self.offered.held.forgive()
            case _:
                pass

    async def settle(self) -> None:
        """Wait until the agent repeats nothing more."""
        try:
            async with asyncio.timeout(LONGEST_SETTLE):
                while True:
                    self._heard.clear()
                    async with asyncio.timeout(QUIET_SECONDS):
                        await self._heard.wait()
        except TimeoutError:
            pass
