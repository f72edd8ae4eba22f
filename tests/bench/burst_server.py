"""Our side of the burst: everything that stands between question and answer in earnest, and nothing else.

A thousand requests are open at once. Each is registered, on record before it is shown, answered through
``gate/approvals/answering.py`` with all its checks, and ended in the ledger before it is announced. Judging a call and
carrying it out are left out. The ledger lies in the folder that is named, or in memory without one.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

from wire_request import REQUEST

from countersign import __version__
from countersign.cli import settle_collector
from countersign.gate.approvals.answering import Answering
from countersign.gate.approvals.asking import Asking
from countersign.gate.approvals.grants import GrantBook
from countersign.gate.approvals.pending import Pending
from countersign.gate.call import ToolCall
from countersign.gate.ledger.entry import Entry, now
from countersign.gate.ledger.reader import LEDGER_FILE
from countersign.gate.ledger.writer import Ledger
from countersign.gate.turn import Turn
from countersign.lsp.editor import Editor
from countersign.lsp.pygls_server import Server, make_server
from countersign.settings.policy import Policy
from countersign.wire.approvals import ApprovalRequest, ApprovalResponseParams, ApprovalResponseResult
from countersign.wire.threads import ThreadPromptParams, ThreadPromptResult


def build(folder: Path | None) -> Server:
    server, ledger = make_server("bench", __version__), Ledger(folder / LEDGER_FILE if folder else None)
    asking = Asking(ledger, Editor(server))
    answering = Answering(
        asking=asking, ledger=ledger, grants=GrantBook(), keeper=cast(Any, None),
        policy=lambda: Policy("/workspace", "/home/me", trusted=True), judge=cast(Any, None), covers=cast(Any, None),
        changed=lambda: None,
    )  # fmt: skip
    request = ApprovalRequest.model_validate(REQUEST)
    turn = Turn("t", "turn", "Countersign", ["default"], emit=lambda _event: None)
    call = ToolCall(
        tool_call_id="c", thread_id="t", turn_id="turn", agent="Countersign", tool="shell",
        arguments=cast(Any, request.tool_call.raw_input), kind="execute", category="execute", effects=(),
        preview=request.preview, cwd="/workspace", title="npm run test",
    )  # fmt: skip
    asked = 0

    async def ask() -> None:
        nonlocal asked
        asked += 1
        shown = request.model_copy(update={"approval_id": str(asked)})
        entry = Entry(
            receipt_id=str(asked), phase="decided", workspace="/workspace", owner="bench", thread_id="t",
            agent_name="Countersign", tool_call_id="c", tool="shell", digest=request.digest,
            approval_id=shown.approval_id, input=shown.tool_call.raw_input, verdict="ask", at=now(),
        )  # fmt: skip
        pending = Pending(
            request=shown, call=call, receipt_id=str(asked), turn=turn, prepare=cast(Any, None), allow_offered=True,
        )  # fmt: skip
        resolution = await asking.ask(pending, entry, adopted=False, seconds=300, shown=lambda: None)
        assert resolution.state == "allowed"

    async def burst(params: ThreadPromptParams) -> ThreadPromptResult:
        await asyncio.gather(*(ask() for _ in range(int(params.text))))
        return ThreadPromptResult(stop_reason="end_turn")

    async def answer(params: ApprovalResponseParams) -> ApprovalResponseResult:
        return ApprovalResponseResult(approval_id=params.approval_id, state=await answering.answer(params))

    async def farewell() -> None:
        ledger.close()

    server.handle("thread/prompt", burst)
    server.handle("tool/approvalResponse", answer)
    server.on_shutdown(farewell)
    return server


if __name__ == "__main__":
    settle_collector()  # as `countersign serve` does
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else None).run())
