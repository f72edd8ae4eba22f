"""Proxies that are none, or are hostile: one clear error that shows no password, and nothing read without end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from countersign.agents.models.endpoint import endpoint
from countersign.agents.models.http_answer import Network, post
from countersign.wire.errors import ModelError

from .hostile import BOUND

SECRET = "hunter2"
AT = endpoint("A vendor", "entry", "m", "http://models.example.invalid/v1")
"""Never looked up: each request goes to a proxy, or fails before."""
BAD = [
    "http://127.0.0.1:99999",
    f"http://name:{SECRET}@127.0.0.1:99999",
    "http://127.0.0.1:-1",
    "http://127.0.0.1:0",
    "http://127.0.0.1:1",
    "http://[::1",
    f"http://na me:{SECRET}@127.0.0.1:1",
    "http://\u202e.invalid:1",
    "http://" + "a" * 300 + ".invalid",
    "socks5://127.0.0.1:1",
    "socks5h://127.0.0.1:99999",
    "ftp://127.0.0.1:1",
    "file:///etc/passwd",
    "127.0.0.1:99999",
    "nonsense",
    "",
    "\0",
    "http://127.0.0.1:1\r\nx: y",
]


async def said(network: Network) -> str:
    """The error of a request over this network."""
    with pytest.raises(ModelError) as failed:
        await asyncio.wait_for(ask(network), BOUND)
    return str(failed.value)


async def ask(network: Network) -> None:
    async with post(AT, "/chat", {"a": 1}, {}, network) as chunks:
        async for _ in chunks:
            pass


def check(message: str) -> None:
    assert message.isprintable()
    assert len(message) < 400
    assert SECRET not in message


@pytest.mark.parametrize("proxy", BAD, ids=range(len(BAD)))
async def test_a_proxy_that_is_none_is_one_clear_error(proxy: str):
    check(await said(Network(proxy)))


@pytest.mark.parametrize("proxy", [each for each in BAD if each and "\0" not in each])
async def test_a_proxy_of_the_environment_that_is_none_is_one_clear_error(proxy: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "")
    check(await said(Network()))


@pytest.mark.parametrize("host", ["[", "*", "a b", "\0", "http://[", ".", "x" * 10_000, "1.2.3.4/99", ":1", "\u202e"])
async def test_an_exception_from_the_proxy_that_is_none_is_one_clear_error(host: str):
    check(await said(Network("http://127.0.0.1:99999", (host,))))


ANSWERS = {
    "asks for a password": b"HTTP/1.1 407 Who\r\ncontent-length: 3\r\n\r\nno\n",
    "redirects": b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
    "is no proxy": b"SSH-2.0-x\r\n",
    "hangs up": b"",
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000,
    "a body of an error without end": b"HTTP/1.1 502 Bad\r\n\r\n" + b"\x1b[31m" * 400_000,
    "packed": b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nxxx",
}


@asynccontextmanager
async def proxy_server(answer: bytes) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            writer.write(answer)
            await writer.drain()
        except ConnectionError:
            pass  # whoever asked has read enough
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as serving:
        yield f"http://name:{SECRET}@127.0.0.1:{serving.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_hostile_proxy_is_one_clear_error(answer: bytes):
    async with proxy_server(answer) as proxy:
        check(await said(Network(proxy)))


async def test_a_server_on_this_machine_is_asked_without_the_proxy():
    async with proxy_server(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello") as url:
        at = endpoint("A vendor", "entry", "m", url)
        async with post(at, "/chat", {}, {}, Network("http://127.0.0.1:99999")) as chunks:
            assert b"".join([chunk async for chunk in chunks]) == b"hello"
