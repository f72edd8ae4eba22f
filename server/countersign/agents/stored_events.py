"""The events of a chat as they are stored: runs of text joined, and what cannot be read replaced by what names it.

Where they are stored is ``transcript.py``'s business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pydantic import TypeAdapter

from countersign.wire.strict_json import as_safe, parse_json
from countersign.wire.threads import NoticeEvent, ThreadEvent

_EVENTS: TypeAdapter[ThreadEvent] = TypeAdapter(ThreadEvent)


def joined(events: Iterable[ThreadEvent]) -> list[ThreadEvent]:
    """The same events with runs of text, thinking and output of one call each made one event."""
    return [run_of(run) for run in runs(events)]


def runs(events: Iterable[ThreadEvent], *, longest: int | None = None) -> Iterator[list[ThreadEvent]]:
    """Yield the runs that ``joined`` makes one event of; a new one begins after ``longest`` characters."""
    run: list[ThreadEvent] = []
    characters = 0
    for event in events:
        if run and (not _joins(run[-1], event) or (longest is not None and characters >= longest)):
            yield run
            run, characters = [], 0
        run.append(event)
        characters += len(getattr(event, "text", ""))
    if run:
        yield run


def run_of(run: list[ThreadEvent]) -> ThreadEvent:
    """Return a run as one event, in time linear in its text."""
    if len(run) == 1:
        return run[0]
    return run[0].model_copy(update={"text": "".join(event.text for event in run)})  # type: ignore[union-attr]


def _joins(last: ThreadEvent, event: ThreadEvent) -> bool:
    if last.type != event.type:
        return False
    if event.type in ("text", "thinking"):
        return True
    return event.type == "toolOutput" and last.tool_call_id == event.tool_call_id  # type: ignore[union-attr]


def event_of(text: str) -> ThreadEvent:
    """Return a stored event; one that cannot be read is replaced by a notice that names it."""
    try:
        parse_json(text, most_bytes=len(text))
        return _EVENTS.validate_json(text)
    except ValueError:  # pydantic's errors too; going on is safe, because nothing acts on a drawn chat
        pass
    try:
        return _EVENTS.validate_python(as_safe(json.loads(text)))
    except (ValueError, RecursionError):
        named = re.match(r'\{[^{}\[\]]{0,200}?"type":\s*"(\w{1,40})"', text)
        kind = f"`{named[1]}`" if named else "unknown"
        message = f"a part of this chat (kind {kind}, {len(text)} characters) cannot be read and is left out"
        return NoticeEvent(level="warning", message=message)
