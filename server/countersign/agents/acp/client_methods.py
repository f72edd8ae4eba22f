"""The doors that an agent may act through (files, terminals): each use that no approval covers is a call of its own.

Here is what the two have in common: the call for the gate, sending it there, and the ways in which it fails.
"""

from __future__ import annotations

import asyncio
from typing import Any

from countersign.agents.acp.requests import Entry
from countersign.agents.acp.session import Session
from countersign.gate import BadArguments, Outcome, Prepare, Refused, ToolCall, Turn
from countersign.tools.tool import Prepared
from countersign.wire.approvals import ToolKind
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

NO_TURN = "no turn is running"
OVER = "the turn ended before this was done"


class Denied(Exception):
    """The gate said no; the message is why."""


class Failed(Exception):
    """It could not be done; the message is why."""


class Missing(Failed):
    """There is no such file."""


def running_turn(session: Session) -> Turn:
    """The turn that a call of now belongs to.

    Raises:
        Denied: no turn is running, so there is nobody whose call it could be.
    """
    turn = session.open_turn()
    if turn is None:
        raise Denied(NO_TURN)
    return turn


def over(session: Session, turn: Turn) -> bool:
    """Return true once nothing more may be done for this turn: it was stopped, or it ended."""
    return session.open_turn() is not turn


def call_at_door(
    entry: Entry,
    turn: Turn,
    prepared: Prepared[Any],
    arguments: dict[str, Json],
    *,
    kind: ToolKind,
    category: Category,
) -> ToolCall:
    """What the agent wants, as the gate takes it."""
    return prepared.call(
        turn,
        tool_call_id=entry.tool_call_id,
        tool=f"acp:{kind}",
        kind=kind,
        category=category,
        arguments=arguments,
    )


async def pass_door(entry: Entry, session: Session, prepare: Prepare) -> Outcome:
    """Send the call to the gate and wait for its end.

    Cancelled (the agent took it back): its card ends, a running call is stopped.

    Raises:
        Denied: it was refused, or the turn was stopped meanwhile.
        Failed: it cannot be done as asked.
    """
    running_turn(session)
    if session.is_full():
        raise Denied("too many calls are open at once")
    try:
        settled = await session.submit(entry, prepare)
    except BadArguments as error:
        raise Failed(str(error)) from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise Denied("the turn was stopped") from None
    if isinstance(settled, Refused):
        if settled.seen is not None and entry.drawn is not None:
            session.say_late(entry.drawn)
        raise Denied(settled.reason)
    return settled.outcome
