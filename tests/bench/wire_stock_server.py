"""The same rounds with pygls as it comes, and a future in a dict for a table: what the approval bench compares with."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from pygls.lsp.server import LanguageServer
from wire_request import REQUEST

server = LanguageServer("stock", "1")
waiting: dict[str, asyncio.Future[str]] = {}


@server.feature("thread/prompt")
async def rounds(params: Any) -> Any:
    times = []
    for number in range(int(params.text)):
        began = time.perf_counter()
        waiting[str(number)] = asyncio.get_running_loop().create_future()
        server.protocol.notify("tool/approvalRequest", REQUEST | {"approvalId": str(number)})
        await waiting[str(number)]
        times.append(time.perf_counter() - began)
    print("TIMES " + json.dumps(times), file=sys.stderr, flush=True)
    return {"stopReason": "end_turn"}


@server.feature("tool/approvalResponse")
async def answer(params: Any) -> Any:
    waiting.pop(params.approvalId).set_result("allowed")
    resolved = {"approvalId": params.approvalId, "threadId": "t", "state": "allowed", "by": "user"}
    server.protocol.notify("tool/approvalResolved", resolved)
    return {"approvalId": params.approvalId, "state": "allowed"}


if __name__ == "__main__":
    server.start_io()
