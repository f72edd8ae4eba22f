"""JSON lines between us and one agent's process: the transport beneath the SDK's connection.

The SDK's own transport reads lines of any length, logs what it cannot parse with a traceback, and never says that the
stream has ended. This one is bounded, skips what is no message, and sets ``ended``. What a message means is
``client.py``'s business.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import Any

from countersign.wire.base import Json

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """The params of a request together with its id, which the SDK's handler is not told by itself."""

    request_id: Json
    params: Json


LONGEST_LINE = 32 << 20
"""Bytes of one message; an agent that sends more has broken the protocol and is ended."""
DEEPEST = 100
"""How deep a message may be nested; models and encoders give up at some depth beyond, each at its own."""


class Pipe:
    """One agent's standard input and output as messages. ``ended`` is set once nothing more will come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sending = asyncio.Lock()
        self.ended = asyncio.Event()

    async def receive(self) -> dict[str, Any] | None:
        """The next message, or None at the end of the stream."""
        try:
            while line := await self._reader.readline():
                message = _parse(line)
                if message is not None:
                    if "method" in message and "id" in message:
                        message["params"] = Asked(message["id"], message.get("params"))
                    return message
        except (ValueError, ConnectionError) as error:
            # readline raises ValueError for a line beyond the limit that the stream was made with.
            log.warning("the agent broke the protocol (%s), so the connection is ended", error)
        self.ended.set()
        return None

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message.

        Raises:
            ConnectionError: the agent has closed its input.
        """
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._sending:
            if self._writer.is_closing():
                raise ConnectionResetError("the agent has closed its input")
            self._writer.write(data)
            await self._writer.drain()

    async def close(self) -> None:
        """Close the agent's input; what is not written yet is lost."""
        self.ended.set()
        self._writer.close()


def _parse(line: bytes) -> dict[str, Any] | None:
    """One message; None for what is none, which is logged without its content (it may hold secrets)."""
    try:
        message = json.loads(line)
        if isinstance(message, dict):
            if line.count(b"{") + line.count(b"[") > DEEPEST and _is_deeper(message, DEEPEST):
                raise RecursionError
            if b"\\u" in line:
                # A lone surrogate can be neither shown nor written to disk, so nothing that holds one is taken.
                json.dumps(message, ensure_ascii=False).encode()
            return message
    except (ValueError, RecursionError):
        pass
    if line.strip():
        log.warning("the agent wrote %d bytes that are no message; skipped", len(line))
    return None


def _is_deeper(value: Json, depth: int) -> bool:
    level: list[Json] = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(rest, dict | list) for rest in level)
