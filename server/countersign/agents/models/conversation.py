"""A conversation as every provider takes it: each call has one result right after it, and no message is empty.

A turn that was stopped, a chat that was cut by a limit and a switch of models leave conversations that a provider
refuses. They are completed here for the request; what is stored stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from countersign.agents.models.base import AssistantMessage, Message, Replay, ToolMessage, UserMessage
from countersign.wire.base import Json

NO_RESULT = "[no result: the turn ended before this call did; look before you do it again]"
EMPTY = "[empty message]"
_NOT_SENT = frozenset({"prices", "images"})
"""Fields of ``options`` that say something of the model and are no part of a request."""


def completed(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages with every call answered, in the order of the calls, and without stray results."""
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        match message:
            case UserMessage(text=text, images=images):
                yield message if text.strip() or images else UserMessage(EMPTY)
            case ToolMessage():
                continue  # its call is not in the conversation
            case AssistantMessage(calls=calls):
                replies: dict[str, ToolMessage] = {}
                while index < len(messages) and isinstance(reply := messages[index], ToolMessage):
                    replies[reply.call_id] = reply
                    index += 1
                if not calls and not message.text.strip():
                    continue
                yield message
                for call in calls:
                    missing = ToolMessage(call.call_id, call.tool, NO_RESULT, success=False)
                    yield replies.get(call.call_id, missing)


def replayed(message: AssistantMessage, provider: str, model: str) -> tuple[Json, ...] | None:
    """Return the blocks that this provider and model wrote with a message, if every call of it is among them."""
    match message.replay:
        case Replay(provider=wrote, model=by, blocks=blocks) if (wrote, by) == (provider, model):
            called = [block["call"] for block in blocks if isinstance(block, dict) and "call" in block]
            return blocks if called == list(range(len(message.calls))) else None
        case _:
            return None


def merged(body: dict[str, Any], options: dict[str, Json]) -> dict[str, Any]:
    """Return a request with the fields of ``options``; null takes a field out. Objects are merged one level deep."""
    for key, value in options.items():
        if value is None:
            body.pop(key, None)
        elif isinstance(value, dict) and isinstance(body.get(key), dict):
            body[key] = {**body[key], **value}
        else:
            body[key] = value
    return body


def own_options(options: Any, taken: frozenset[str]) -> dict[str, Json]:
    """Return the fields of ``options`` that a request may have beside the ones that the server sets itself."""
    return {key: value for key, value in dict(options).items() if key not in taken | _NOT_SENT}


def count(value: Json) -> int | None:
    """Return a count of tokens; None for what is none. A client reads another number from 2^53 on."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 1 << 53 else None  # type: ignore[operator]


def as_word(value: Json) -> str | None:
    """Return a code of the provider's, or None."""
    return value if isinstance(value, str) else None
