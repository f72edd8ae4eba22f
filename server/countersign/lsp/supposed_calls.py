"""Calls that no model asked for, decided as if one had: what a result may tell besides what was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate import Turn, decide
from countersign.settings.policy import Policy, RuleText
from countersign.tools.registry import BY_NAME, parse_arguments
from countersign.wire.base import Json


def problems_told(turn: Turn, path: str, policy: Policy, grants: Sequence[RuleText]) -> bool:
    """Whether the problems of a file may be told without asking: what the gate says of ``get_diagnostics`` now."""
    tool = BY_NAME["get_diagnostics"]
    given: dict[str, Json] = {"path": path}
    prepared = tool.prepare(parse_arguments(tool, given), policy)
    call = prepared.call(
        turn, tool_call_id="supposed", tool=tool.name, kind=tool.kind, category=tool.category, arguments=given
    )
    return decide(call, policy, [*turn.modes, *policy.tightening], grants).verdict == "allow"
