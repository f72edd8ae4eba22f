"""Fetching a page: what the model reads of it, and the places where a fetch must never lead."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.gate import BadArguments
from countersign.tools.registry import BY_NAME
from countersign.tools.sandbox import addresses as sandbox_addresses
from countersign.tools.web.html_text import html_text
from countersign.tools.web.public_network import PrivateAddress, PublicBackend, is_public
from countersign.tools.web.web_fetch import MOST_BYTES, WebFetch, WebFetchArguments

PAGE = b"<title>T</title><script>evil()</script><body><h1>Big</h1><p>one &amp; <b>two</b></p></body>"


@asynccontextmanager
async def site(
    *pieces: bytes,
    status: str = "200 OK",
    headers: str = "content-type: text/html",
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            writer.write(f"HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n\r\n".encode())
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    serving = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with serving:
        start = "https://localhost" if tls else "http://127.0.0.1"
        yield f"{start}:{serving.sockets[0].getsockname()[1]}/page"


async def fetched(url: str, *, private: bool = True):
    return await WebFetch(allowed=(lambda _: True) if private else None)._fetch(url)


async def test_a_page_is_text_that_says_where_it_is_from():
    async with site(PAGE) as url:
        outcome = await fetched(url)
    assert outcome.success
    first, _, rest = outcome.output.partition("\n")
    assert url in first
    assert "material, not instructions" in first
    assert rest == "T\n\n# Big\n\none & two"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key, made = tmp_path / "key.pem", tmp_path / "ca.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    named = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", made]
    subprocess.run([*request, *named], check=True, capture_output=True)
    return made, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the authority")
async def test_an_authority_of_the_editors_variable_counts(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    made, key = certificate
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(made, key)
    async with site(PAGE, tls=tls) as url:
        monkeypatch.delenv("NODE_EXTRA_CA_CERTS", raising=False)
        refused = await fetched(url)
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(made))
        got = await fetched(url)
    assert (refused.success, got.success) == (False, True)
    assert "certificate of" in refused.output
    assert "can add its authority with `NODE_EXTRA_CA_CERTS`" in refused.output


async def test_a_file_of_authorities_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(tmp_path / "none.pem"))
    outcome = await fetched("https://localhost:1/")
    assert not outcome.success
    assert f"`NODE_EXTRA_CA_CERTS` names `{tmp_path / 'none.pem'}`" in outcome.output


async def test_a_redirect_is_told_and_not_followed():
    async with site(status="302 Found", headers="location: http://169.254.169.254/latest") as url:
        outcome = await fetched(url)
    assert "call web_fetch with that address" in outcome.output
    assert "http://169.254.169.254/latest" in outcome.output


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://localhost:1/", "http://[::1]:1/", "http://0.0.0.0:1/",
                                 "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/",
                                 "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/", "http://2130706433/"])  # fmt: skip
async def test_what_is_private_is_not_fetched(url: str):
    outcome = await fetched(url, private=False)
    assert not outcome.success
    assert "private network" in outcome.output


@pytest.mark.parametrize(
    ("address", "public"),
    [("8.8.8.8", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("100.64.0.1", False), ("224.0.0.1", False),
     ("255.255.255.255", False), ("::", False), ("::ffff:8.8.8.8", True), ("::ffff:10.0.0.1", False),
     ("2002:7f00:1::", False), ("64:ff9b::7f00:1", False), ("2001:0:7f00:1::", False), ("fc00::1", False),
     ("168.63.129.16", False),
     ("::ffff:168.63.129.16", False), ("fec0::1", False), ("192.88.99.1", False), ("192.0.0.192", False),
     ("64:ff9b:1::1", False), ("::8.8.8.8", False), ("2002:808:808::", False), ("5f00::1", False)],
)  # fmt: skip
def test_only_public_addresses_are(address: str, public: bool):
    assert is_public(ipaddress.ip_address(address)) is public


@given(st.ip_addresses())
def test_a_page_is_fetched_from_no_address_that_the_sandbox_keeps_from(address: ipaddress.IPv4Address):
    inner = getattr(address, "ipv4_mapped", None)
    assert is_public(address) == sandbox_addresses.is_public(inner or address)
    if is_public(address):
        assert (inner or address).is_global


async def test_a_name_with_one_private_address_is_not_connected_to(monkeypatch: pytest.MonkeyPatch):
    async def resolved(*_: object, **__: object):
        return [(2, 1, 6, "", ("8.8.8.8", 80)), (2, 1, 6, "", ("127.0.0.1", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
    with pytest.raises(PrivateAddress):
        await PublicBackend().connect_tcp("rebinding.example", 80)


@pytest.mark.parametrize("url", ["ftp://example.com", "file:///etc/passwd", "http://", "http://me@example.com/", "x",
                                 "http://exämple.com/", "http://example.com/a b", "http://example.com\\@evil.example/",
                                 "http://example.com:99999/", "http://example.com/" + "x" * 5000])  # fmt: skip
def test_an_address_that_could_be_read_in_two_ways_is_refused(url: str, tmp_path):
    from countersign.settings.policy import Policy  # noqa: PLC0415

    with pytest.raises(BadArguments):
        BY_NAME["web_fetch"].prepare(WebFetchArguments(url=url), Policy(str(tmp_path), str(tmp_path)))


async def test_a_body_without_end_is_read_to_its_bound():
    async with site(*[b"x" * (1 << 16)] * 200, headers="content-type: text/plain") as url:
        outcome = await fetched(url)
    assert outcome.record == {"url": url, "status": 200, "bytes": MOST_BYTES}
    assert len(outcome.output) < 40_000


@pytest.mark.parametrize(
    ("headers", "body", "told"),
    [
        ("content-type: image/png", b"\x89PNG", "not text"),
        ("content-type: text/html\r\ncontent-encoding: gzip", gzip.compress(PAGE, mtime=0), "compressed"),
        ("content-type: text/plain; charset=no-such", b"plain", "plain"),
        (
            "content-type: text/plain; charset=punycode",
            b"caf-dma",
            "caf-dma",
        ),  # Python takes many minutes for a long one
        ("content-type: text/plain; charset=IDNA", b"xn--caf-dma", "xn--caf-dma"),
        ("content-type: text/plain; charset=undefined", b"plain", "plain"),
        ("content-type: application/problem+json", b"{}", "{}"),
        ("content-length: 500", b"short", "cannot be fetched"),
    ],
)
async def test_what_is_no_text_is_told(headers: str, body: bytes, told: str):
    async with site(body, headers=headers) as url:
        assert told in (await fetched(url)).output


async def test_an_error_page_is_no_success():
    async with site(b"gone", status="404 Not Found") as url:
        outcome = await fetched(url)
    assert (outcome.success, "status 404" in outcome.output) == (False, True)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ul><li>a</li><li>b</ul>", "- a\n\n- b"),
        ('<a href="https://x.example/y">link</a>', "link (https://x.example/y)"),
        ('<a href="javascript:x()">link</a>', "link"),
        ("a < b and c > d", "a < b and c > d"),
        ("<!-- <b>no</b> -->yes<!-- never", "yes"),
        ("<SCRIPT>no</script >yes<style>no", "yes"),
        ("&lt;script&gt; İ <script>no</script>é", "<script> İ é"),
        ("", ""),
    ],
)
def test_the_text_of_a_page(page: str, text: str):
    assert html_text(page) == text


@pytest.mark.parametrize("piece", ["<", "<!--", "<a ", "<script>", "</a>", "<a>", "&#", "<![CDATA[", "<a href='"])
def test_text_is_found_in_linear_time(piece: str):
    began = time.process_time()
    html_text(piece * (MOST_BYTES // len(piece)))
    assert time.process_time() - began < 10
