"""A request that waited on disk: what the chain says of it, compared with what was stored beside the chain.

The table of requests and the chats are outside the chain, so whoever can write the folder can change them. Nothing of
them is believed: the row that asked is in the chain and holds the digests of the call and of its arguments, and a
parked card is drawn anew from the call (``gate.py``). Whoever takes a request up asks here first.

INVARIANT (same bytes): a request is taken up only for the call that its row in the chain is about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from countersign.gate.call import ToolCall
from countersign.gate.ledger.entry import Entry, StoredRequest, again
from countersign.gate.ledger.hash_chain import chain_hash
from countersign.gate.ledger.reader import Reader
from countersign.gate.ledger.schema import row_values
from countersign.gate.plan import Plan, Prepare
from countersign.wire.approvals import ApprovalRequest
from countersign.wire.base import Json


class Tampered(Exception):
    """What is stored of a request does not agree with the chain; the message names what differs."""


@dataclass(frozen=True, slots=True)
class Question:
    """A stored request that agrees with the chain. ``asked`` is its row; ``original`` is the digest of the arguments
    as the agent gave them, ``current`` that of the arguments as a person left them."""

    stored: StoredRequest
    asked: Entry
    original: str
    current: str

    @property
    def expires_at(self) -> str | None:
        """When it expires; None for never."""
        expires = (self.asked.outcome or {}).get("expiresAt")
        return expires if isinstance(expires, str) else None

    def edited_arguments(self, arguments: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """Return the arguments as a person left them; None where they are the agent's own, which are ``arguments``.

        Raises:
            Tampered: the chain knows neither.
        """
        if arguments_digest(arguments) != self.original:
            raise Tampered("the call in the chat is not the one that was asked about")
        if self.current == self.original:
            return None
        edited = _edited(self.stored)
        if edited is None or arguments_digest(edited) != self.current:
            raise Tampered("the stored arguments are not the ones that were asked about")
        return edited

    def check_call(self, call: ToolCall) -> None:
        """Compare the call that would be asked about with the chain's row.

        Raises:
            Tampered: it is another call.
        """
        row = self.asked
        pairs = {
            "tool call": (call.tool_call_id, row.tool_call_id),
            "tool": (call.tool, row.tool),
            "chat": (call.thread_id, row.thread_id),
            "agent": ((call.agent, call.subagent), (row.agent_name, row.subagent)),
            "arguments": (arguments_digest(call.arguments), self.current),
        }
        for name, (found, recorded) in pairs.items():
            if found != recorded:
                raise Tampered(f"the {name} of the call is not what the ledger recorded")


def arguments_digest(arguments: Mapping[str, Json]) -> str:
    """SHA-256 in hex over a call's arguments, in any order of their keys."""
    text = json.dumps(dict(arguments), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def asked_entry(entry: Entry, request: ApprovalRequest, arguments: str) -> Entry:
    """Return the row that asks: with the request's id and times, and the digest of the call's arguments."""
    record: dict[str, Json] = {"argumentsDigest": arguments}
    if request.expires_at is not None:
        record["expiresAt"] = request.expires_at
    return entry._replace(approval_id=request.approval_id, at=request.created_at, outcome=record)


def blocking_question(reader: Reader, stored: StoredRequest) -> Question:
    """Find the row that asked, and compare every stored column with it.

    Raises:
        Tampered: there is none, it was changed, it was answered already, or a column differs.
        LedgerUnavailable: the ledger cannot be read.
    """
    rows = reader.rows("SELECT * FROM entries WHERE receipt_id = ? ORDER BY seq", (stored.receipt_id,))
    if not rows:
        raise Tampered("the ledger has no row of this request")
    for row in rows:
        if chain_hash(row["previous"], row["seq"], row_values(row)) != row["hash"]:
            raise Tampered(f"row {row['seq']} of the ledger was changed")
    asked = again(rows[-1])
    if asked.phase != "decided" or asked.verdict != "ask":
        raise Tampered("the request was answered already")
    columns = {
        "approval_id": asked.approval_id,
        "workspace": asked.workspace,
        "thread_id": asked.thread_id,
        "tool_call_id": asked.tool_call_id,
        "agent_name": asked.agent_name,
        "created_at": asked.at,
    }
    for name, recorded in columns.items():
        if getattr(stored, name) != recorded:
            raise Tampered(f"the stored `{name}` is not what the ledger recorded")
    digests = [digest for row in rows if isinstance(digest := _outcome(row["outcome"]).get("argumentsDigest"), str)]
    if not digests:
        raise Tampered("the ledger has no digest of the call's arguments")
    return Question(stored, asked, digests[0], digests[-1])


def blocking_restored(
    reader: Reader, stored: StoredRequest, plan: Plan, prepare: Prepare
) -> tuple[Question, Mapping[str, Json] | None, Plan]:
    """Compare a stored request and the plan of its call with the chain; return the request, the arguments that a person
    edited (None: nobody did), and the plan with them in it.

    Raises:
        Tampered: it is not the request that the chain knows.
        BadArguments: it can no longer be done.
    """
    question = blocking_question(reader, stored)
    edited = question.edited_arguments(plan.call.arguments)
    if edited is not None:
        plan = prepare(edited)
    question.check_call(plan.call)
    return question, edited, plan


def blocking_open_row(reader: Reader, stored: StoredRequest) -> Entry | None:
    """Find the row of this very request that nobody has answered yet, by its receipt or, where that was changed, by its
    id; None where the chain has none."""
    for column in ("receipt_id", "approval_id"):
        found = reader.rows(
            "SELECT * FROM entries WHERE receipt_id = (SELECT receipt_id FROM entries"
            f" WHERE {column} = ? ORDER BY seq DESC LIMIT 1) ORDER BY seq DESC LIMIT 1",
            (getattr(stored, column),),
        )
        for row in map(again, found):
            asks = (row.phase, row.verdict) == ("decided", "ask")
            if asks and (stored.approval_id == row.approval_id or not _has_request(reader, row)):
                return row
    return None


def _has_request(reader: Reader, row: Entry) -> bool:
    """Whether another stored request is the open one of this row."""
    return bool(reader.rows("SELECT 1 FROM requests WHERE approval_id = ? AND state = 'open'", (row.approval_id,)))


def _edited(stored: StoredRequest) -> Mapping[str, Json] | None:
    try:
        arguments = json.loads(stored.request or "{}")["toolCall"]["rawInput"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def _outcome(text: str | None) -> dict[str, Json]:
    outcome = json.loads(text) if text is not None else None
    return outcome if isinstance(outcome, dict) else {}
