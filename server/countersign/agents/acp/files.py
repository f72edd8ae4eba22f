"""``fs/read_text_file`` and ``fs/write_text_file``: an agent's use of files through us.

Our own file tools do the work, so that links, changed files and limits are met in one way for every agent. What an
approval of the agent's own request covers to the byte is done on that approval (``pre_approval.py``); all else is a
call of its own at the gate.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from countersign.agents.acp.client_methods import (
    OVER,
    Denied,
    Failed,
    Missing,
    call_at_door,
    over,
    pass_door,
    running_turn,
)
from countersign.agents.acp.reports import new_call_id
from countersign.agents.acp.requests import ALREADY_WRITTEN, Entry, look_after_refusal
from countersign.agents.acp.session import Session
from countersign.agents.acp.translate import BadMessage, Raw, read_text
from countersign.gate import BadArguments, Outcome, Permit, Plan, Stale, in_worker, in_worker_to_the_end
from countersign.tools.files.safe_open import complaint, look_at
from countersign.tools.files.write_file import NewContent, WriteFile, WriteFileArguments, blocking_put
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolPreview
from countersign.wire.base import Json

MOST_BYTES = 8 << 20
"""A longer file is not read for an agent."""
MOST_CONTROLS = 64 << 10
"""Control characters of a file that is still taken for text: as JSON each is six characters."""
_CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\f\r"))


async def read_text_file(session: Session, params: Raw) -> dict[str, Json]:
    """The text of a file, from ``line`` (from 1) and for ``limit`` lines where given.

    Raises:
        BadMessage: the params are not those of the method.
        Denied, Missing, Failed: no text.
    """
    place = await in_worker(_blocking_place, read_text(params, "path"), session)
    line, limit = _natural(params, "line"), _natural(params, "limit")
    turn = running_turn(session)
    reading = Reading(session, place, line, limit)
    text = await _read_on_credit(session, reading)
    if text is None:
        text = await _ask_to_read(session, reading)
    if over(session, turn):
        raise Denied(OVER)
    return {"content": text}


class Reading:
    """One request to read a file. A class because its text counts as held until its request is answered."""

    def __init__(self, session: Session, place: Place, line: int | None, limit: int | None) -> None:
        self.place = place
        self._session = session
        self._line = line
        self._limit = limit
        self._request = asyncio.current_task()

    async def text(self) -> str:
        """Read it in a worker of this agent, once few enough other texts wait to be sent.

        Raises:
            Failed: it cannot be read.
        """
        await self._session.hold_text(self._request)
        return await in_worker(self._blocking_text)

    def _blocking_text(self) -> str:
        text = _blocking_text(self.place)
        if self._line is None and self._limit is None:
            return text
        start = _after_lines(text, 0, max((self._line or 1) - 1, 0))
        return text[start : len(text) if self._limit is None else _after_lines(text, start, self._limit)]


def _after_lines(text: str, start: int, count: int) -> int:
    """Return where the line begins that follows so many lines from ``start``, without making a list of them."""
    while count > 0 and start < len(text):
        end = text.find("\n", start)
        start, count = (end + 1 if end >= 0 else len(text)), count - 1
    return start


async def _read_on_credit(session: Session, reading: Reading) -> str | None:
    """Return the text if an approval whose card showed this file still covers reading it."""
    approved = session.credits.spend_read(reading.place.resolved)
    if approved is None or not await session.honors(approved, reading.place.reads()):
        return None
    return await reading.text()


async def write_text_file(session: Session, params: Raw) -> dict[str, Json]:
    """Make ``content`` the whole text of a file.

    Raises:
        BadMessage: the params are not those of the method.
        Denied, Failed: nothing was written.
    """
    path, content = read_text(params, "path"), read_text(params, "content")
    place = await in_worker(_blocking_place, path, session)
    running_turn(session)
    outcome = await _write_on_credit(session, place, content) or await _ask_to_write(session, place, path, content)
    if not outcome.success:
        raise Failed(outcome.output)
    session.reports.written_through_us.update((place.asked, place.resolved))
    return {}


async def _write_on_credit(session: Session, place: Place, content: str) -> Outcome | None:
    """Do it on the approval whose card showed exactly this.

    None if there is none, if the gate would deny it by now, or if its card is no longer true.
    """
    credits = session.credits
    spent = credits.spend_write(place.resolved, content)
    if spent is None:
        return None
    approved, credit = spent
    if not await session.honors(approved, place.writes("create" if credit.before.sha256 is None else "edit")):
        return None
    change = NewContent(place, credit.before, credit.old_text, content.encode())

    def blocking_put_unless_over() -> Outcome:
        if credits.closed:  # the worker threads were busy, and the turn ended meanwhile
            raise Denied(OVER)
        return blocking_put(change)

    try:
        approved.done = await in_worker_to_the_end(blocking_put_unless_over)
    except Stale:
        # Some agents write the file themselves and then tell us to write the same.
        return Outcome(True, ALREADY_WRITTEN) if await in_worker(_blocking_holds, place, change.data) else None
    return approved.done


def _blocking_holds(place: Place, data: bytes) -> bool:
    try:
        place.same_or_stale()
        return look_at(place.resolved, MOST_BYTES).data == data
    except (OSError, Stale):
        return False


async def _ask_to_write(session: Session, place: Place, path: str, content: str) -> Outcome:
    turn, entry, tool = running_turn(session), Entry(new_call_id()), WriteFile()

    def prepare(edited: Mapping[str, Json] | None) -> Plan:
        prepared = tool.prepare(WriteFileArguments(path=place.asked, content=content), session.policy())
        arguments: dict[str, Json] = {"path": path, "content": content}
        call = call_at_door(entry, turn, prepared, arguments, kind="edit", category="write")

        async def run(permit: Permit) -> Outcome:
            entry.acting = True
            if over(session, turn):
                return Outcome(False, OVER, path=place.resolved)
            return await tool.run(permit, prepared, ToolContext(session.policy, emit=lambda _: None))

        entry.drawn = call
        return Plan(call, run, look_after=lambda: look_after_refusal(entry.drawn))

    return await pass_door(entry, session, prepare)


async def _ask_to_read(session: Session, reading: Reading) -> str:
    turn, entry, place = running_turn(session), Entry(new_call_id()), reading.place
    prepared = Prepared(
        effects=place.reads(),
        preview=ToolPreview(input={"path": place.asked}),
        title=as_title(f"Read {place.shown}"),
        cwd=session.policy().workspace,
        locations=(Location(path=place.resolved),),
        payload=None,
    )
    call = call_at_door(entry, turn, prepared, {"path": place.asked}, kind="read", category="read")
    texts: list[str] = []
    failures: list[Failed] = []

    async def run(permit: Permit) -> Outcome:
        spend(permit, prepared)
        entry.acting = True
        if over(session, turn):
            return Outcome(False, OVER, path=place.resolved)
        try:
            text = await reading.text()
        except Failed as failed:
            failures.append(failed.with_traceback(None))
            return Outcome(False, str(failed), path=place.resolved)
        texts.append(text)
        return Outcome(True, f"read `{place.shown}` ({len(text)} characters)", path=place.resolved)

    outcome = await pass_door(entry, session, lambda _: Plan(call, run))
    if texts:
        return texts[-1]
    # Popped, and under no name here: the traceback has this frame, and the error would be in a cycle with what it read.
    raise failures.pop() if failures else Failed(outcome.output)


def _blocking_place(path: str, session: Session) -> Place:
    """Where a path leads; a relative one, which ACP does not have, starts where the agent was started."""
    try:
        from_folder = path if not path or path.startswith("~/") else os.path.join(session.folder, path)
        return locate(from_folder, session.policy())
    except BadArguments as error:
        raise BadMessage(str(error)) from None


def _blocking_text(place: Place) -> str:
    """The text of the file that the path led to when it was judged."""
    try:
        place.same_or_stale()
        seen = look_at(place.resolved, MOST_BYTES)
        if seen.data is None:
            raise Failed(f"`{place.shown}` is longer than {MOST_BYTES >> 20} MiB")
        if len(seen.data) - len(seen.data.translate(None, _CONTROLS)) > MOST_CONTROLS:
            raise Failed(f"`{place.shown}` is not text")
        return seen.data.decode()
    except FileNotFoundError as error:
        raise Missing(complaint(error, place.shown)) from None
    except Stale as error:
        raise Failed(str(error)) from None
    except UnicodeDecodeError:
        raise Failed(f"`{place.shown}` is not UTF-8 text") from None
    except OSError as error:
        raise Failed(complaint(error, place.shown)) from None


def _natural(params: Raw, key: str) -> int | None:
    value = params.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadMessage(f"`{key}` must be a whole number from 0")
    return value
