"""A server that floods its client with updates of a chat and feels its own pulse meanwhile.

``thread/prompt`` starts the flood: as many updates in each step of the loop as ``text`` says, until ``LIMIT`` bytes
wait that nobody reads, then nothing more for a while. The greatest lateness of a beat goes to stderr as seconds.
"""

from __future__ import annotations

import asyncio
import sys
import time

from countersign import __version__
from countersign.lsp.pygls_server import Server, make_server
from countersign.lsp.transport import BACKLOG
from countersign.wire.threads import TextEvent, ThreadPromptParams, ThreadPromptResult, ThreadUpdate

LIMIT = BACKLOG * 3 // 4
BEAT = 0.01
TEXT = "words that a model might say, " * 32


def build() -> Server:
    server = make_server("bench", __version__)

    async def flood(params: ThreadPromptParams) -> ThreadPromptResult:
        worst = 0.0

        async def beat() -> None:
            nonlocal worst
            while True:
                due = time.perf_counter() + BEAT
                await asyncio.sleep(BEAT)
                worst = max(worst, time.perf_counter() - due)

        beating = asyncio.ensure_future(beat())
        sent = 0
        while sent < LIMIT:
            for _ in range(int(params.text)):
                sent += len(TEXT)
                update = ThreadUpdate(thread_id="t", seq=sent, events=[TextEvent(text=TEXT)])
                server.notify("thread/update", update)
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        beating.cancel()
        print(f"LATE {worst}", file=sys.stderr, flush=True)
        return ThreadPromptResult(stop_reason="end_turn")

    server.handle("thread/prompt", flood)
    return server


if __name__ == "__main__":
    sys.exit(build().run())
