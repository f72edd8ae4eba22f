"""What an agent repeats of a session that a person chose from its own list, as events of the chat that takes it up.

Such a chat has no transcript of its own, so it shows the agent's account: prompts, answers and thoughts. Calls are only
counted, because the gate never saw them; nothing of this reaches the gate or the label (``replay.py``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

from countersign.agents.acp.translate import LONGEST_NAME, ChatNews, Raw, ToolNews, as_object, read_update
from countersign.agents.pace import Pace, parts
from countersign.wire.threads import DoneEvent, NoticeEvent, PromptEvent, TextEvent, ThinkingEvent, ThreadEvent

MOST_SHOWN = 4 << 20
"""Characters that are shown; of a longer session the end."""
MOST_PIECES = 20_000
"""Runs of words of one speaker that are shown; of a session with more the end."""
MOST_CALLS = 10_000
"""Calls that are counted."""


class EarlierWords:
    """What was said in one session before. A class because it is told chunk by chunk."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._pieces: deque[tuple[str, list[str], int]] = deque()
        self._characters = 0
        self._cut = False
        self._calls: set[str] = set()
        self._joins = False

    def hear(self, raw: Raw) -> None:
        """Take a ``session/update``."""
        if raw.get("sessionUpdate") == "user_message_chunk":
            text = as_object(raw.get("content")).get("text")
            self._add("prompt", text if isinstance(text, str) else "")
            return
        match read_update(dict(raw)):
            case ChatNews(events=events):
                for event in events:
                    if isinstance(event, TextEvent | ThinkingEvent):
                        self._add(event.type, event.text)
            case ToolNews(call_id=call_id):
                if len(self._calls) < MOST_CALLS:
                    self._calls.add(call_id[:LONGEST_NAME])
                self._joins = False
            case _:
                pass

    def _add(self, kind: str, text: str) -> None:
        if not text:
            return
        text = text[-MOST_SHOWN:]
        if self._joins and self._pieces and self._pieces[-1][0] == kind:
            _, texts, characters = self._pieces.pop()
        else:
            texts, characters = [], 0
        texts.append(text)
        self._pieces.append((kind, texts, characters + len(text)))
        self._joins = True
        self._characters += len(text)
        while len(self._pieces) > 1 and (self._characters > MOST_SHOWN or len(self._pieces) > MOST_PIECES):
            self._characters -= self._pieces.popleft()[2]
            self._cut = True

    async def tell(self, emit: Callable[[ThreadEvent], None], *, repeats: bool) -> None:
        """Put it into the chat. ``repeats``: the agent offers to repeat its sessions."""
        emit(NoticeEvent(level="info", message=self._head(repeats=repeats)))
        pace = Pace()
        for event in self._events():
            emit(event)
            await pace.said(len(getattr(event, "text", "")))
        await asyncio.sleep(0)

    def _head(self, *, repeats: bool) -> str:
        if not repeats:
            return f"this chat goes on with a session of {self._agent}, which does not repeat what was said in it"
        said = [f"what follows is what {self._agent} repeated of its session; Countersign saw none of it"]
        if self._cut:
            said.append("only the end of it is shown")
        if self._calls:
            count = f"{len(self._calls)}" + (" or more" if len(self._calls) == MOST_CALLS else "")
            said.append(f"tool calls that are not shown: {count}")
        return "; ".join(said)

    def _events(self) -> Iterator[ThreadEvent]:
        answered = False
        for kind, texts, _ in self._pieces:
            text = "".join(texts)
            if kind == "prompt":
                if answered:
                    yield DoneEvent(stop_reason="end_turn")
                yield PromptEvent(text=text)
            else:
                for part in parts(text):
                    yield TextEvent(text=part) if kind == "text" else ThinkingEvent(text=part)
            answered = True
        if answered:
            yield DoneEvent(stop_reason="end_turn")
