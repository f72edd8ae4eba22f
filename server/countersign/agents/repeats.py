"""How often a turn made the same call with the same result; the gate asks a person where that goes on.

A class because it counts over one turn. What it says is only ever a reason to ask (``gate/decisions/repeated.py``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from countersign.agents.models.base import AssistantMessage, Message, ToolMessage, UserMessage, WantedCall


class Repeats:
    """The calls of one turn that ran, each with its latest result and how often in a row it had that."""

    def __init__(self) -> None:
        self._seen: dict[bytes, tuple[bytes, int]] = {}

    def count(self, call: WantedCall) -> int:
        """Return how often, in a row, this call had one and the same result."""
        return self._seen.get(_key(call), (b"", 0))[1]

    def add(self, call: WantedCall, reply: ToolMessage) -> None:
        """Count a result. A call that was refused did not run and counts nothing."""
        if reply.refused:
            return
        key, result = _key(call), _digest([reply.success, reply.output])
        before, count = self._seen.get(key, (result, 0))
        self._seen[key] = (result, count + 1 if before == result else 1)

    def forget(self, call: WantedCall) -> None:
        """Begin to count anew: a person let this very call go on."""
        self._seen.pop(_key(call), None)

    def take_up(self, messages: Sequence[Message]) -> None:
        """Count what the turn under way did before a restart: all since the person's last message."""
        start = max((number for number, each in enumerate(messages) if isinstance(each, UserMessage)), default=-1)
        calls: dict[str, WantedCall] = {}
        for message in messages[start + 1 :]:
            if isinstance(message, AssistantMessage):
                calls.update((call.call_id, call) for call in message.calls)
            elif isinstance(message, ToolMessage) and message.call_id in calls:
                self.add(calls[message.call_id], message)


def _key(call: WantedCall) -> bytes:
    return _digest([call.tool, dict(call.arguments)])


def _digest(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode(errors="surrogatepass")).digest()
