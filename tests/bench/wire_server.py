"""The server's side of the approval bench: our bridge and the table of open requests, with its ledger in memory.

Everything stands between question and answer that stands there in earnest (durable before shown, claimed once, ended in
the ledger before anybody is told), but for judging the call and carrying it out.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any, cast

from wire_request import REQUEST

from countersign import __version__
from countersign.gate.asking import Asking
from countersign.gate.entry import Entry
from countersign.gate.ledger import Ledger
from countersign.gate.pending import Pending, Resolution
from countersign.lsp.bridge import Server, make_server
from countersign.lsp.editor import Editor
from countersign.wire.approvals import ApprovalRequest, ApprovalResponseParams, ApprovalResponseResult
from countersign.wire.threads import ThreadPromptParams, ThreadPromptResult


def report(times: list[float]) -> None:
    """Seconds of each round, where the bench reads them."""
    print("TIMES " + json.dumps(times), file=sys.stderr, flush=True)


def build() -> Server:
    server, ledger = make_server("bench", __version__), Ledger(None)
    asking = Asking(ledger, Editor(server))
    request = ApprovalRequest.model_validate(REQUEST)

    async def ask_once(number: int) -> None:
        shown = request.model_copy(update={"approval_id": str(number)})
        entry = Entry(
            receipt_id=str(number), phase="decided", workspace="/workspace", owner="bench", thread_id="t",
            agent_name="Countersign", tool_call_id="c", tool="shell", digest=request.digest,
            approval_id=shown.approval_id, input=shown.tool_call.raw_input, verdict="ask",
        )  # fmt: skip
        pending = Pending(
            request=shown, call=cast(Any, None), receipt_id=str(number), turn=cast(Any, None), prepare=cast(Any, None),
            allow_offered=True, settled=asyncio.get_running_loop().create_future(),
        )  # fmt: skip
        resolution = await asking.ask(pending, entry, adopted=False, seconds=300, shown=lambda: None)
        assert resolution.state == "allowed"

    async def rounds(params: ThreadPromptParams) -> ThreadPromptResult:
        times = []
        for number in range(int(params.text)):
            began = time.perf_counter()
            await ask_once(number)
            times.append(time.perf_counter() - began)
        report(times)
        return ThreadPromptResult(stop_reason="end_turn")

    async def answer(params: ApprovalResponseParams) -> ApprovalResponseResult:
        pending = asking.table.find(params.approval_id)
        assert params.digest == pending.request.digest
        assert pending.claim("user")
        ended = await asking.own(asking.end(pending, Resolution("allowed", "user")), "answer")
        return ApprovalResponseResult(approval_id=params.approval_id, state=ended.state)

    async def farewell() -> None:
        ledger.close()

    server.handle("thread/prompt", rounds)
    server.handle("tool/approvalResponse", answer)
    server.on_shutdown(farewell)
    return server


if __name__ == "__main__":
    sys.exit(build().run())
