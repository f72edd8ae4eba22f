"""JSON lines between us and one agent's process: the transport beneath the connection.

Bounded both ways: a message that is too long, and an agent that does not read what it asked for, end the pipe. What is
no message is skipped and counted; ``ended`` is set once nothing more will come. What a message means is ``client.py``'s
business.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping

from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.lines import Lines, LineTooLong
from countersign.agents.pace import Rests
from countersign.gate import in_worker, in_worker_alone
from countersign.wire.base import Json
from countersign.wire.strict_json import BadJson, as_safe, parse_json

log = limited_logger(__name__)

LONGEST_LINE = 8 << 20
"""Bytes of one message; an agent that sends more has broken the protocol and is ended."""
MOST_UNSENT = 32 << 20
"""Bytes that wait for the agent to read its input; an agent that leaves more unread is ended."""
MOST_NOISE = 10_000
"""Lines that are no message; an agent that writes more has broken the protocol and is ended."""
MOST_TOLD = 20
"""Lines that are no message of which the log tells."""
CHUNK = 1 << 16
AT_ONCE = 1 << 16
"""Bytes of a message that is read or written on the event loop; a longer one is in a worker thread."""

LARGE = 1 << 20
"""Bytes of a message from which on it is read while no other of that size is."""


class TooMuch(Exception):
    """The agent sent or left unread more than it may; it is ended."""


class Pipe:
    """One agent's standard input and output as messages. ``ended`` is set once nothing more will come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._lines = Lines(LONGEST_LINE)
        self._ahead: deque[bytes] = deque()
        self._noise = 0
        self._unsent = 0
        self._sending = asyncio.Lock()
        self._rests = Rests()
        self.ended = asyncio.Event()

    async def receive(self) -> dict[str, Json] | BadJson | None:
        """Return the next message, why an object that was meant to be one is none, or None at the end of the stream."""
        try:
            while not self.ended.is_set():
                # What the last message brought about, or the last chunk, is over now.
                await self._rests.rest()
                while self._ahead:
                    message = await self._message(self._ahead.popleft())
                    if message is not None:
                        return message
                    await self._rests.rest()
                data = await self._reader.read(CHUNK)
                if not data:
                    break
                self._rests.work()
                self._ahead.extend(filter(None, self._lines.feed(data)))
        except (LineTooLong, TooMuch, ConnectionError) as error:
            log.warning("the agent broke the protocol (%s), so the connection is ended", error)
        self.ended.set()
        return None

    async def send(self, message: Mapping[str, Json]) -> None:
        """Write one message.

        Raises:
            ConnectionError: the agent has closed its input, or does not read it.
        """
        data = await _encoded(message)
        self._unsent += len(data)
        try:
            if self._unsent > MOST_UNSENT:
                log.warning("the agent leaves %d bytes unread, so the connection is ended", self._unsent)
                self.ended.set()
            if self.ended.is_set():
                raise ConnectionResetError("the agent does not read its input")
            async with self._sending:
                if self._writer.is_closing():
                    raise ConnectionResetError("the agent has closed its input")
                self._writer.write(data)
                await self._writer.drain()
        finally:
            self._unsent -= len(data)

    async def close(self) -> None:
        """Close the agent's input; what is not written yet is lost."""
        self.ended.set()
        self._writer.close()

    async def _message(self, line: bytes) -> dict[str, Json] | BadJson | None:
        """Return one message; None for what is none, which is logged without its content (it may hold secrets)."""
        if not line or line.isspace():
            return None
        why = "it is not an object"
        try:
            value = parse_json(line) if len(line) <= AT_ONCE else await _parsed(line)
            if isinstance(value, dict):
                return value
        except BadJson as error:
            why = str(error)
        self._noise += 1
        if self._noise > MOST_NOISE:
            raise TooMuch(f"{self._noise} lines are no messages")
        if self._noise <= MOST_TOLD:
            log.warning("the agent wrote %d bytes that are no message (%s); skipped", len(line), why)
        # Not the error that was caught: its traceback keeps the whole line, and would keep it in a cycle.
        return BadJson(why) if line.startswith(b"{") else None


async def _parsed(line: bytes) -> Json:
    return await (in_worker if len(line) <= LARGE else in_worker_alone)(parse_json, line)


async def _encoded(message: Mapping[str, Json]) -> bytes:
    if _is_small(message):
        return _blocking_encoded(message)
    return await in_worker(_blocking_encoded, message)


def _is_small(message: Mapping[str, Json]) -> bool:
    """Return true if writing the message takes no time worth a thread: only file texts and outputs are long."""
    body = message.get("result") or message.get("params")
    return not isinstance(body, dict) or all(not isinstance(each, str) or len(each) < AT_ONCE for each in body.values())


def _blocking_encoded(message: Mapping[str, Json]) -> bytes:
    return json.dumps(as_safe(dict(message)), separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
