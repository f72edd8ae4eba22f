"""How late the event loop's beat comes while a chat of 8 Mi characters is opened."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import closing
from pathlib import Path

from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.gate import now
from countersign.lsp.encoded_chat import EncodedChat
from countersign.wire.threads import TextEvent, ThinkingEvent, ThreadOpenResult

TURNS = 3
FRAMES = 20_000
BEAT = 0.005

LIMITS = {"open: seconds that the event loop is late, a chat of 8 MiB": 0.05}


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, closing(Transcripts(Path(folder) / "chats.db")) as chats:
        chats.save_thread(ThreadRow("t", "/ws", "chat", "Countersign", "default", 0, now()))
        for number in range(FRAMES):
            kind = TextEvent if number % 100 else ThinkingEvent
            chats.add_events("t", number, now(), [kind(text="words " * 60)])
        chats.add_events("t", FRAMES, now(), [TextEvent(text="x" * (1 << 20))])
        late, seconds = min(asyncio.run(_opened(chats)) for _ in range(TURNS))
    return {
        "open: seconds that the event loop is late, a chat of 8 MiB": late,
        "open: seconds until that chat is encoded": seconds,
    }


async def _opened(chats: Transcripts) -> tuple[float, float]:
    late = 0.0

    async def beat() -> None:
        nonlocal late
        while True:
            due = time.perf_counter() + BEAT
            await asyncio.sleep(BEAT)
            late = max(late, time.perf_counter() - due)

    beating = asyncio.ensure_future(beat())
    await asyncio.sleep(0)
    began = time.perf_counter()
    chat = EncodedChat(chats, "t", list)
    await chat.catch_up()
    head = ThreadOpenResult(thread_id="t", agent_name="a", mode="ask", seq=1, events=[], approvals=[], running=False)
    chat.finish(head)
    seconds = time.perf_counter() - began
    await asyncio.sleep(BEAT)
    beating.cancel()
    return late, seconds
