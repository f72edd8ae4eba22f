"""The sessions that an agent keeps of its folder, read from ``session/list`` within bounds.

Titles are the agent's words, for display. A session of another folder is left out: it is taken up in this one, where
its paths would name other files.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from countersign.agents.acp.session_store import LONGEST_ID, without_secrets
from countersign.agents.acp.translate import as_object
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, InvalidAnswer

if TYPE_CHECKING:
    from countersign.agents.acp.agent_process import Link

MOST_SESSIONS = 200
"""Sessions that are offered; nobody reads more in a list."""
MOST_LOOKED_AT = 5000
MOST_PAGES = 50
LONGEST_CURSOR = 4096
LONGEST_TITLE = 1000
"""Characters of a title that are looked at."""
LIST_SECONDS = 30.0
"""For all pages: a person waits for the list."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One session, as the agent tells of it; ``updated_at`` is a time in UTC, None where it told none."""

    session_id: str
    title: str | None = None
    updated_at: str | None = None


async def list_sessions(link: Link, folder: str) -> tuple[list[ListedSession], bool]:
    """Return the sessions that the agent keeps of a folder, the latest first, and whether there are further ones.

    Raises:
        InvalidAnswer: the agent does not list its sessions.
        AgentExit: it is gone, or did not answer in time.
        ModelError: it answered with an error.
    """
    if not link.lists:
        raise InvalidAnswer(f"the agent {link.name} does not list its sessions")
    try:
        async with asyncio.timeout(LIST_SECONDS):
            entries, more = await _pages(link, folder)
    except TimeoutError:
        raise AgentExit(f"the agent {link.name} did not list its sessions in {LIST_SECONDS:.0f} s") from None
    except ConnectionError:
        raise AgentExit(f"the agent {link.name} ended while it listed its sessions") from None
    found = await asyncio.to_thread(lambda: list(_blocking_sessions(entries, folder)))
    # A stable sort: where no times are told, the agent's order stays.
    found.sort(key=lambda session: session.updated_at or "", reverse=True)
    return found[:MOST_SESSIONS], more or len(found) > MOST_SESSIONS


async def _pages(link: Link, folder: str) -> tuple[list[Json], bool]:
    entries: list[Json] = []
    cursors: set[str] = set()
    params: dict[str, Json] = {"cwd": folder}
    for _ in range(MOST_PAGES):
        said = as_object(await link.ask_soon("session/list", params))
        listed = said.get("sessions")
        entries += listed[: MOST_LOOKED_AT - len(entries)] if isinstance(listed, list) else []
        cursor = said.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return entries, False
        if cursor in cursors or len(cursor) > LONGEST_CURSOR or len(entries) >= MOST_LOOKED_AT:
            return entries, True
        cursors.add(cursor)
        params = {"cwd": folder, "cursor": cursor}
    return entries, True


def _blocking_sessions(entries: list[Json], folder: str) -> Iterator[ListedSession]:
    here = os.path.realpath(folder)
    folders: dict[str, bool] = {}
    seen: set[str] = set()
    for entry in map(as_object, entries):
        session_id, cwd = entry.get("sessionId"), entry.get("cwd")
        if not isinstance(session_id, str) or not 0 < len(session_id) <= LONGEST_ID or session_id in seen:
            continue
        if not isinstance(cwd, str) or not os.path.isabs(cwd) or "\0" in cwd:
            continue
        if cwd not in folders:
            folders[cwd] = os.path.realpath(cwd) == here
        if folders[cwd]:
            seen.add(session_id)
            yield ListedSession(session_id, _title(entry), _time(entry))


def _title(entry: Mapping[str, Json]) -> str | None:
    title = entry.get("title")
    words = " ".join(title[:LONGEST_TITLE].split()) if isinstance(title, str) else ""
    return as_title(without_secrets([words])[0]) if words else None


def _time(entry: Mapping[str, Json]) -> str | None:
    told = entry.get("updatedAt")
    if not isinstance(told, str) or len(told) > 64:
        return None
    try:
        at = datetime.fromisoformat(told)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None
