"""Events made safe: whatever an agent or a model said, an event can be stored, sent and drawn.

The strict reader refuses most of it on the way in; this holds for every event, whoever made it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

from countersign.wire.strict_json import as_safe

Event = TypeVar("Event", bound=BaseModel)


def safe_event(event: Event) -> Event:
    """Return the event with every text and value replaced that cannot be stored; the same object where all can."""
    changes = {name: safe for name, value in event if (safe := _safe(value)) is not value}
    return event.model_copy(update=changes) if changes else event


def _safe(value: Any) -> Any:
    match value:
        case BaseModel():
            return safe_event(value)
        case [BaseModel(), *_]:
            safe = [_safe(entry) for entry in value]
            return value if all(new is old for new, old in zip(safe, value, strict=True)) else safe
        case str() | list() | dict():
            return as_safe(value)
        case _:
            return value
