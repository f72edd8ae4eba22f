"""Taking back one change of a file that was allowed, while the file is still as that change left it.

Not a tool of the model: a person asks for it, from history. It acts with a Permit like everything that acts, by the
same descriptors and with the same looks as the change itself.
"""

from __future__ import annotations

import hashlib

from countersign.gate import BadArguments, FileState, Outcome, Permit, Plan, Stale, ToolCall, WritePath
from countersign.settings.policy import Policy
from countersign.tools.cancellation import to_the_end
from countersign.tools.files.change import blocking_delete, blocking_move, blocking_write
from countersign.tools.places import Place, locate
from countersign.wire.approvals import DiffPreview
from countersign.wire.base import Json
from countersign.wire.history import HistoryEntry

_CHANGES = frozenset({"create", "edit", "delete", "move"})


def plan_undo(finished: HistoryEntry, image: bytes | None, policy: Policy, *, turn_id: str) -> Plan:
    """What would take the change back; bound to the files as the change left them.

    Raises:
        BadArguments: the receipt is not of a file change, or what there is to go back to was not kept.
        Stale: a path of the change leads elsewhere now.
    """
    record = finished.outcome or {}
    operation, path, to = (_text(record, key) for key in ("operation", "path", "to"))
    before, after = _text(record, "sha256Before"), _text(record, "sha256After")
    if path is None or operation not in _CHANGES or record.get("ended") != "done":
        raise BadArguments("this is not the receipt of a file change that happened")
    place = _as_it_was(path, policy)
    target = _as_it_was(to, policy) if to is not None else None
    left = FileState(place.resolved, after)
    bound: tuple[FileState, ...] = (left,)
    if target is not None:
        left = FileState(target.resolved, after)
        bound = (left, FileState(place.resolved, None))
    elif before is not None and (image is None or hashlib.sha256(image).hexdigest() != before):
        raise BadArguments("what the file held before was not kept; it was too large or too long ago")

    async def run(permit: Permit) -> Outcome:
        permit.use()
        return await to_the_end(act)

    def act() -> Outcome:
        if target is not None:
            blocking_move(target, left, place)
        elif before is None:
            blocking_delete(place, left)
        else:
            assert image is not None
            mode = record.get("mode")
            blocking_write(place, left, image, mode=mode if isinstance(mode, int) else None)
        return Outcome(
            True,
            f"took the change of `{place.shown}` back",
            path=place.resolved,
            record={"operation": "undo", "path": place.resolved, "of": finished.receipt_id},
        )

    call = ToolCall(
        tool_call_id=undo_call_id(finished.receipt_id),
        thread_id=finished.thread_id,
        turn_id=turn_id,
        agent=finished.agent_name,
        tool="undo",
        arguments={"receiptId": finished.receipt_id, "path": path},
        kind="edit",
        category="write",
        effects=tuple(WritePath(state.path) for state in bound),
        preview=DiffPreview(path=path, operation="edit", new_text=(image or b"").decode(errors="replace")),
        cwd=policy.workspace,
        title=f"Take back the change of {place.shown}",
        bound=bound,
    )
    return Plan(call, run)


def undo_call_id(receipt_id: str) -> str:
    """The one tool call id under which this receipt's change is taken back; so history tells whether it was."""
    return f"undo-{receipt_id}"


def _as_it_was(path: str, policy: Policy) -> Place:
    """The place that a receipt names, which is resolved; a link that stands in its way by now is not followed."""
    place = locate(path, policy)
    if place.resolved != path:
        raise Stale(f"`{place.shown}` is reached by a link now")
    return place


def _text(record: dict[str, Json], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) else None
