"""The server's side of the approval bench, in two depths, which the thread's name chooses.

`table`: our bridge, the table of open requests, and a ledger in memory. `gate`: all that stands between question and
answer in earnest (on record before it is shown, claimed once, ended in the ledger before it is announced), with SQLite
in memory. Judging the call and carrying it out are left out of both.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, cast

from wire_request import REQUEST

from countersign import __version__
from countersign.gate.approvals.asking import Asking
from countersign.gate.approvals.pending import Pending, PendingTable, Resolution
from countersign.gate.ledger.entry import Entry, now, values_of
from countersign.gate.ledger.hash_chain import GENESIS, chain_hash
from countersign.gate.ledger.writer import Ledger
from countersign.lsp.editor import Editor
from countersign.lsp.pygls_server import Server, make_server
from countersign.wire.approvals import (
    ApprovalRequest,
    ApprovalResolved,
    ApprovalResponseParams,
    ApprovalResponseResult,
)
from countersign.wire.threads import ThreadPromptParams, ThreadPromptResult

RESOLVED = ApprovalResolved(approval_id="0", thread_id="t", state="allowed", by="user")


class Chain:
    """The ledger in memory: rows, each hashed over the one before, as the real one does."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, Entry]] = [(GENESIS, cast(Any, None))]

    def append(self, entry: Entry) -> None:
        digest = chain_hash(self.rows[-1][0], len(self.rows), values_of(entry, frozenset()))
        self.rows.append((digest, entry))


def build() -> Server:
    server, ledger = make_server("bench", __version__), Ledger(None)
    asking, table, chain = Asking(ledger, Editor(server)), PendingTable(), Chain()
    request = ApprovalRequest.model_validate(REQUEST)

    def made(number: int) -> tuple[Pending, Entry]:
        shown = request.model_copy(update={"approval_id": str(number)})
        entry = Entry(
            receipt_id=str(number), phase="decided", workspace="/workspace", owner="bench", thread_id="t",
            agent_name="Countersign", tool_call_id="c", tool="shell", digest=request.digest,
            approval_id=shown.approval_id, input=shown.tool_call.raw_input, verdict="ask", at=now(),
        )  # fmt: skip
        pending = Pending(
            request=shown, call=cast(Any, None), receipt_id=str(number), turn=cast(Any, None), prepare=cast(Any, None),
            allow_offered=True,
        )  # fmt: skip
        return pending, entry

    async def ask_table(pending: Pending, entry: Entry) -> Resolution:
        table.register(pending)
        chain.append(entry)
        server.notify("tool/approvalRequest", pending.request)
        return await pending.ended()

    async def ask_gate(pending: Pending, entry: Entry) -> Resolution:
        return await asking.ask(pending, entry, adopted=False, seconds=300, shown=lambda: None)

    async def rounds(params: ThreadPromptParams) -> ThreadPromptResult:
        times = []
        ask = {"table": ask_table, "gate": ask_gate}[params.thread_id]
        for number in range(int(params.text)):
            pending, entry = made(number)
            began = time.perf_counter()
            resolution = await ask(pending, entry)
            times.append(time.perf_counter() - began)
            assert resolution.state == "allowed"
        print("TIMES " + json.dumps(times), file=sys.stderr, flush=True)
        return ThreadPromptResult(stop_reason="end_turn")

    async def answer(params: ApprovalResponseParams) -> ApprovalResponseResult:
        owner = asking.table if len(asking.table) else table
        pending = owner.find(params.approval_id)
        assert params.digest == pending.request.digest
        assert pending.claim("user")
        if owner is table:
            chain.append(chain.rows[-1][1])
            table.settle(pending, Resolution("allowed", "user"))
            server.notify("tool/approvalResolved", RESOLVED.model_copy(update={"approval_id": params.approval_id}))
        else:
            await asking.end(pending, Resolution("allowed", "user"))
        return ApprovalResponseResult(approval_id=params.approval_id, state="allowed")

    async def farewell() -> None:
        ledger.close()

    server.handle("thread/prompt", rounds)
    server.handle("tool/approvalResponse", answer)
    server.on_shutdown(farewell)
    return server


if __name__ == "__main__":
    sys.exit(build().run())
