"""Spending a permit: the one step between having leave and acting."""

from __future__ import annotations

from typing import Any

from countersign.gate import Permit, ToolCall
from countersign.tools.tool import Prepared
from countersign.wire.errors import InternalError


def spend(permit: Permit, prepared: Prepared[Any]) -> ToolCall:
    """Use the permit, for what was prepared and nothing else. Every ``run`` begins with this.

    INVARIANT (permit): the effects that were judged are those of what will be done, and every file state it relies on
    is among those the permit is bound to.

    Raises:
        InternalError: the permit was used before, or is for something else.
    """
    call = permit.use()
    if call.effects != prepared.effects or not set(prepared.bound) <= set(call.bound):
        raise InternalError("a permit does not fit what was prepared")
    return call
