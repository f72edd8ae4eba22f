"""A limit for the bytes of one answer as they come from the network, before an HTTP client makes anything of them.

The limits of ``answer_reader.py`` count what an answer says. A server can send without end what says nothing: interim
responses, trailers, extensions of chunks. The client reads over them, and many of them in one step of the event loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpcore

from countersign.wire.errors import ModelError

LONGEST_HEAD = 128 << 10
"""Bytes before the body: the HTTP client takes headers of 100 KiB."""
MOST_RECEIVED = 128 << 20
"""Bytes of the whole answer: twice as many as it may say."""
HEAD_AT_ONCE = 4 << 10
"""Bytes that are read at once before the body: some 200 interim responses, which take a few milliseconds."""


class Received:
    """What one answer has sent. A class because all of its connections count together."""

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        self._bytes = 0
        self._in_body = False

    def begin_body(self) -> None:
        """The head is over."""
        self._in_body = True

    def at_once(self, most: int) -> int:
        """Return how many bytes to read at once."""
        return most if self._in_body else min(most, HEAD_AT_ONCE)

    def count(self, received: int) -> None:
        """Count what was read.

        Raises:
            ModelError: it is too much.
        """
        self._bytes += received
        if not self._in_body and self._bytes > LONGEST_HEAD:
            raise ModelError(f"{self._vendor} sends headers without end; check what answers at `baseUrl`")
        if self._bytes > MOST_RECEIVED:
            raise ModelError(f"the answer of {self._vendor} is longer than {MOST_RECEIVED >> 20} MiB")


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream, received: Received) -> None:
        self._stream = stream
        self._received = received

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(self._received.at_once(max_bytes), timeout)
        self._received.count(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(*arguments, **named), self._received)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class BoundedNetwork(httpcore.AsyncNetworkBackend):
    """The network as it is, each byte counted."""

    def __init__(self, received: Received) -> None:
        self._network: Any = httpcore.AnyIOBackend()
        self._received = received

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self._received)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
