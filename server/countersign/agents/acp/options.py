"""Which of an agent's own options it is answered with: allow-once or reject-once, chosen by kind and nothing else.

An agent names its options as it likes, puts them in any order and may repeat an id. We never choose an ``always``
(the agent would keep a rule of its own) and never a kind that we do not know. Whether to allow is the gate's
business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from countersign.tools.visible import as_title
from countersign.wire.approvals import AgentOption
from countersign.wire.base import Json

Answer = dict[str, Json]
"""The result of ``session/request_permission``."""

MOST_OPTIONS = 50
"""Options of one request that are looked at."""
LONGEST_ID = 256
"""Characters of an option's id; one with a longer id is left out."""
CANCELLED: Answer = {"outcome": {"outcome": "cancelled"}}


def read_options(raw: Json) -> tuple[AgentOption, ...]:
    """The options of a request as they came; what has no id of its own is left out.

    An unknown or missing kind stays: it is shown, makes its id ambiguous, is never chosen, and fails nothing.
    """
    options = []
    for entry in raw[:MOST_OPTIONS] if isinstance(raw, list) else ():
        if (
            isinstance(entry, dict)
            and isinstance(option_id := entry.get("optionId"), str)
            and len(option_id) <= LONGEST_ID
        ):
            kind, name = entry.get("kind"), entry.get("name")
            options.append(
                AgentOption(
                    option_id=option_id,
                    kind=as_title(kind) if isinstance(kind, str) else "unknown",
                    name=as_title(name if isinstance(name, str) else option_id),
                )
            )
    return tuple(options)


def can_allow(options: Sequence[AgentOption]) -> bool:
    """Whether the agent can be told "allow once" at all."""
    return _choose(options, "allow_once") is not None


def answer_allowed(options: Sequence[AgentOption]) -> Answer:
    """Allow once, or ``cancelled`` where the agent offered no unambiguous allow-once."""
    return _selected(_choose(options, "allow_once"))


def answer_rejected(options: Sequence[AgentOption]) -> Answer:
    """Reject once, or ``cancelled`` where the agent offered no unambiguous reject-once."""
    return _selected(_choose(options, "reject_once"))


def _choose(options: Sequence[AgentOption], kind: Literal["allow_once", "reject_once"]) -> str | None:
    first = next((option.option_id for option in options if option.kind == kind), None)
    ambiguous = any(option.option_id == first and option.kind != kind for option in options)
    return None if ambiguous else first


def _selected(option_id: str | None) -> Answer:
    return CANCELLED if option_id is None else {"outcome": {"outcome": "selected", "optionId": option_id}}
