"""What an open request costs when many are open, and how often streamed text is sent."""

from __future__ import annotations

import asyncio
import statistics
import time

from tests.gate.support import make_house

from countersign.agents.transcript import ThreadRow, Transcripts
from countersign.lsp.event_feed import Feed
from countersign.wire.threads import TextEvent, ThreadUpdate

LIMITS = {"pending: one of 10,000 to one of 1,000": 1.2, "stream: text messages a second": 65}


async def _each(number: int) -> float:
    """Seconds for each of ``number`` requests that are all open at once, from the ask to the answer."""
    house = make_house()
    began = time.perf_counter()
    tasks = [house.submit(f"touch {n}") for n in range(number)]
    while len(house.desk.shown) < number:
        house.desk.news.clear()
        await house.desk.news.wait()
    for card in house.desk.shown:
        await house.answer(card)
    await asyncio.gather(*tasks)
    took = time.perf_counter() - began
    house.ledger.close()
    return took / number


async def _messages_a_second(seconds: float = 2.0) -> float:
    sent: list[ThreadUpdate] = []
    transcripts = Transcripts(None)
    transcripts.save_thread(ThreadRow("thread", "/ws", "chat", "Countersign", "default", 0, "2026-11-20"))
    feed = Feed(transcripts, sent.append, lambda _thread: 0)
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        feed.emit("thread", TextEvent(text="word "))
        await asyncio.sleep(0)
    feed.close()
    return len(sent) / (time.perf_counter() - began)


def run() -> dict[str, float]:
    """Ratios in one run: the cost of one of 10,000 open requests to one of 1,000, and text messages a second."""
    asyncio.run(_each(1_000))
    rounds = [(asyncio.run(_each(1_000)), asyncio.run(_each(10_000))) for _ in range(3)]
    return {
        "pending: one of 10,000 to one of 1,000": statistics.median(many / few for few, many in rounds),
        "pending: milliseconds each at 10,000": statistics.median(many for _, many in rounds) * 1000,
        "stream: text messages a second": asyncio.run(_messages_a_second()),
    }
