"""What a person does with their chats beside prompting: naming, searching and exporting them.

Reads the stored chats; turns are ``sessions.py``'s. A chat is searched and exported as it is stored, which is without
known secrets once its turn has ended.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from countersign.gate import now
from countersign.tools.visible import as_title
from countersign.wire.errors import InvalidAnswer, LedgerUnavailable, UnknownThread
from countersign.wire.threads import (
    AttachedPlace,
    ErrorEvent,
    NoticeEvent,
    PromptEvent,
    QuestionEvent,
    TextEvent,
    ThreadEvent,
    ThreadExportResult,
    ThreadMatch,
    ThreadSearchResult,
    ToolCallEvent,
    ToolResultEvent,
)

if TYPE_CHECKING:
    from countersign.agents.transcript import ThreadRow, Transcripts
    from countersign.lsp.workspace import WorkspaceServer

MOST_MATCHES = 50
"""Chats that a search gives."""
AROUND = 60
"""Characters of the text on each side of what was found."""


def rename(house: WorkspaceServer, thread_id: str, title: str) -> None:
    """Give a chat another title.

    Raises:
        UnknownThread: this workspace has no such chat.
        InvalidAnswer: the title is empty.
    """
    _row(house, thread_id)
    shown = as_title(" ".join(title.split()))
    if not shown:
        raise InvalidAnswer("a chat needs a title; write at least one character")
    house.transcripts.name_thread(thread_id, shown)


async def search(house: WorkspaceServer, text: str) -> ThreadSearchResult:
    """Find the chats of this workspace with this text in title, prompts or answers, in any case; the latest first."""
    wanted = text.casefold().strip()
    if not wanted:
        return ThreadSearchResult(matches=[])
    rows = house.transcripts.listed_threads(house.settings.policy.workspace)
    matches = await asyncio.to_thread(lambda: list(_blocking_matches(house.transcripts, rows, wanted)))
    return ThreadSearchResult(matches=matches)


def _blocking_matches(transcripts: Transcripts, rows: list[ThreadRow], wanted: str) -> Iterator[ThreadMatch]:
    found = 0
    for row in rows:
        texts = (row.title, *_said(transcripts.events(row.thread_id)))
        excerpt = next((_excerpt(text, wanted) for text in texts if wanted in text.casefold()), None)
        if excerpt is not None:
            yield ThreadMatch(thread_id=row.thread_id, excerpt=excerpt)
            found += 1
            if found == MOST_MATCHES:
                return


def _said(events: list[ThreadEvent]) -> Iterator[str]:
    for event in events:
        if isinstance(event, PromptEvent | TextEvent):
            yield event.text


def _excerpt(text: str, wanted: str) -> str:
    """The text around the first place where it stands, roughly: folding case may change lengths."""
    at = text.casefold().find(wanted)
    start, end = max(at - AROUND, 0), at + len(wanted) + AROUND
    return as_title(("…" if start else "") + " ".join(text[start:end].split()) + ("…" if end < len(text) else ""))


async def export(house: WorkspaceServer, thread_id: str) -> ThreadExportResult:
    """Write a chat as Markdown into the storage folder.

    Raises:
        UnknownThread: this workspace has no such chat.
        LedgerUnavailable: the file cannot be written.
    """
    row = _row(house, thread_id)
    path = house.storage / f"chat-{now().replace(':', '')}.md"
    try:
        await asyncio.to_thread(_blocking_export, path, row, house.transcripts)
    except OSError as error:
        raise LedgerUnavailable(f"the export cannot be written ({error.strerror}); free the disk") from None
    return ThreadExportResult(path=str(path))


def _blocking_export(path: Path, row: ThreadRow, transcripts: Transcripts) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"# {row.title}\n\n{row.agent_name}, {row.updated_at}\n")
        for line in markdown_of(transcripts.events(row.thread_id)):
            file.write(f"\n{line}\n")


def markdown_of(events: list[ThreadEvent]) -> Iterator[str]:
    """The events of a chat as blocks of Markdown: what was said as it was said, each call as one line with its end."""
    calls: dict[str, ToolCallEvent] = {}
    questions: dict[str, QuestionEvent] = {}
    for event in events:
        match event:
            case PromptEvent(text=text, attachments=attachments):
                yield "\n".join(f"> {line}" for line in text.splitlines() or [""])
                for place in attachments or ():
                    yield f"> Attached: {_code(_place_name(place))}"
            case TextEvent(text=text):
                yield text
            case ToolCallEvent():
                calls[event.tool_call_id] = event
            case ToolResultEvent():
                call = calls.pop(event.tool_call_id, None)
                title = call.title if call and call.title else event.tool
                yield f"- {_code(title)}: {'done' if event.success else 'not done'}, decided by {event.decided_by}"
            case QuestionEvent(state="waiting"):
                questions[event.elicitation_id] = event
            case QuestionEvent():
                questions.pop(event.elicitation_id, None)
                yield _question(event)
            case NoticeEvent(message=message) | ErrorEvent(message=message):
                yield f"*{message}*"
            case _:
                pass
    for question in questions.values():
        yield _question(question)
    for call in calls.values():
        yield f"- {_code(call.title or call.tool)}: no result"


def _question(event: QuestionEvent) -> str:
    """What was asked and what became of it. No answer is kept."""
    what = " ".join(event.message.split())
    where = f" ({_code(event.url)})" if event.url is not None else ""
    return f"- {event.agent_name} asked {_code(what)}{where}: {event.state}"


def _place_name(place: AttachedPlace) -> str:
    """A path with its lines on one line, whatever characters a file's name has."""
    name = " ".join((place.path or ("image" if place.image else "selection")).split())
    if place.start_line is None:
        return name
    last = place.end_line if place.end_line is not None else place.start_line
    return f"{name}:{place.start_line}" if last == place.start_line else f"{name}:{place.start_line}-{last}"


def _code(text: str) -> str:
    """Text as inline code, whatever backticks stand in it."""
    fence = "`" * (text.count("`") + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _row(house: WorkspaceServer, thread_id: str) -> ThreadRow:
    row = house.transcripts.thread(thread_id)
    if row is None or row.workspace != house.settings.policy.workspace:
        raise UnknownThread(f"there is no chat `{thread_id}`; it may have been deleted")
    return row
