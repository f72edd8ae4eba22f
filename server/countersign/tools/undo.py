"""Taking back one change of a file that was allowed, while the file is still as that change left it.

Not a tool of the model: a person asks for it, from history. It acts with a Permit like everything that acts.
"""

from __future__ import annotations

from countersign.gate.call import BadArguments, FileState, ToolCall, WritePath
from countersign.gate.permit import Permit
from countersign.gate.plan import Plan
from countersign.gate.receipt import Outcome
from countersign.settings.policy import Policy
from countersign.wire.approvals import DiffPreview
from countersign.wire.base import Json
from countersign.wire.desk import HistoryEntry

from .change import blocking_delete, blocking_move, blocking_write
from .places import locate


def plan_undo(finished: HistoryEntry, image: bytes | None, policy: Policy, *, turn_id: str) -> Plan:
    """What would take the change back. The states of its files are looked at when it runs.

    Raises:
        BadArguments: the receipt is not of a file change, or nothing was kept to go back to.
    """
    record = finished.outcome or {}
    operation, path, to = (_text(record, key) for key in ("operation", "path", "to"))
    before, after = _text(record, "sha256Before"), _text(record, "sha256After")
    if path is None or operation is None or record.get("ended") != "done":
        raise BadArguments("this is not the receipt of a file change that happened")
    if before is not None and image is None and operation != "move":
        raise BadArguments("what the file held before was not kept; it was too large or too long ago")
    place = locate(path, policy)
    target = locate(to, policy) if to is not None else None

    async def run(permit: Permit) -> Outcome:
        permit.use()
        if target is not None:
            blocking_move(target, FileState(target.resolved, after), place)
        elif before is None:
            blocking_delete(place, FileState(place.resolved, after))
        else:
            assert image is not None
            blocking_write(place, FileState(place.resolved, after), image)
        return Outcome(
            True,
            f"took the change of `{place.shown}` back",
            path=place.resolved,
            record={"operation": "undo", "path": place.resolved, "of": finished.receipt_id},
        )

    call = ToolCall(
        tool_call_id=f"undo-{finished.receipt_id}",
        thread_id=finished.thread_id,
        turn_id=turn_id,
        agent=finished.agent_name,
        tool="undo",
        arguments={"receiptId": finished.receipt_id, "path": path},
        kind="edit",
        category="write",
        effects=(WritePath(path),),
        preview=DiffPreview(path=path, operation="edit", new_text=(image or b"").decode(errors="replace")),
        cwd=policy.workspace,
        title=f"Take back the change of {place.shown}",
    )
    return Plan(call, run)


def _text(record: dict[str, Json], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) else None
