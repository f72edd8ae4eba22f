"""The sandbox's way out: what it reaches and refuses, and attempts to abuse it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from countersign.tools.sandbox import proxy as proxy_module
from countersign.tools.sandbox.addresses import Address
from countersign.tools.sandbox.proxy import PORT, Proxy
from tests.patience import PATIENCE


class Upstream:
    """A server outside that keeps what it is sent and answers with a fixed text."""

    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nreached"

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.heard: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection:
                    self.heard.append(connection.recv(1 << 16))
                    connection.sendall(self.ANSWER)


@dataclass
class Outside:
    """The world as the proxy sees it: what names lead to (each answer once, the last for ever), what is allowed."""

    upstream: Upstream
    names: dict[str, list[str]] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    hosts: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)
    inside: dict[int, Upstream] = field(default_factory=dict)

    def resolve(self, host: str, _port: int) -> tuple[Address, ...]:
        self.asked.append(host)
        with contextlib.suppress(ValueError):
            return (ipaddress.ip_address(host),)
        answers = self.names.get(host)
        if answers is None:
            raise OSError("no such name")
        return (ipaddress.ip_address(answers.pop(0) if len(answers) > 1 else answers[0]),)


@pytest.fixture
def outside() -> Iterator[Outside]:
    upstream = Upstream()
    yield Outside(upstream)
    upstream.socket.shutdown(socket.SHUT_RDWR)
    upstream.socket.close()


@pytest.fixture
def address(outside: Outside) -> Iterator[tuple[str, int]]:
    """Where the proxy listens, its socket handed to it as from a sandbox."""
    listener = socket.create_server(("127.0.0.1", 0))
    made = Proxy(lambda host: host in outside.allowed, lambda: outside.hosts, resolve=outside.resolve)
    outside.proxy = made  # type: ignore[attr-defined]
    socket.send_fds(made.theirs, [b"l"], [listener.fileno()])
    where = listener.getsockname()
    listener.close()
    threading.Thread(target=sandbox, args=(made.theirs.dup(), outside), daemon=True).start()
    yield where
    made.close()


def sandbox(channel: socket.socket, outside: Outside) -> None:
    """Stand for the sandbox: hand over a connection to whoever listens on the port that the proxy names."""
    with channel, contextlib.suppress(OSError):
        while asked := channel.recv(2):
            found = outside.inside.get(int.from_bytes(asked, "big"))
            if found is None:
                channel.sendall(b"n")
                continue
            with socket.create_connection(("127.0.0.1", found.port)) as connection:
                socket.send_fds(channel, [b"c"], [connection.fileno()])


def exchange(where: tuple[str, int], *said: bytes) -> bytes:
    """Say each of these after an answer to the one before; everything that was answered."""
    with socket.create_connection(where, PATIENCE) as connection:
        answered = b""
        for each in said:
            connection.sendall(each)
            answered += connection.recv(1 << 16)
        connection.shutdown(socket.SHUT_WR)
        while more := connection.recv(1 << 16):
            answered += more
        return answered


def connect(host: str, port: int) -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def socks(host: str, port: int) -> tuple[bytes, bytes]:
    name = host.encode()
    return b"\x05\x01\x00", b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big")


def refused(outside: Outside) -> list[tuple[str, str]]:
    return [(each.host, each.why) for each in outside.proxy.refused]  # type: ignore[attr-defined]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_of_the_loopback_on_which_a_program_in_the_sandbox_listens_is_that_programs(
    outside: Outside, address: tuple[str, int], host: str
) -> None:
    own = Upstream()
    outside.names, outside.allowed, outside.hosts = {"localhost": ["127.0.0.1"], "a.example": ["127.0.0.1"]}, {
        "127.0.0.1", "localhost", "a.example",
    }, ("127.0.0.1",)  # fmt: skip
    outside.inside[outside.upstream.port] = own
    assert exchange(address, connect(host, outside.upstream.port), b"hello").endswith(b"reached")
    assert (own.heard, outside.upstream.heard) == ([b"hello"], [])
    # Where nothing listens inside, and under every other name, it is the listed server of this machine.
    assert exchange(address, connect("a.example", outside.upstream.port), b"out").endswith(b"reached")
    outside.inside.clear()
    assert exchange(address, connect(host, outside.upstream.port), b"again").endswith(b"reached")
    assert (own.heard, outside.upstream.heard) == ([b"hello"], [b"out", b"again"])
    own.socket.close()


def test_a_sandbox_that_does_not_answer_costs_one_wait(
    outside: Outside, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_module, "INNER_PATIENCE", 0.05)
    outside.allowed, outside.hosts = {"127.0.0.1"}, ("127.0.0.1",)

    class Stuck(dict[int, Upstream]):
        def get(self, key: int, default: object = None) -> Upstream | None:  # type: ignore[override]
            threading.Event().wait(PATIENCE)
            return None

    outside.inside = Stuck()
    for said in (b"one", b"two"):
        assert exchange(address, connect("127.0.0.1", outside.upstream.port), said).endswith(b"reached")
    assert outside.upstream.heard == [b"one", b"two"]


def test_a_second_request_on_a_connection_does_not_reach_the_host_of_the_first(
    outside: Outside, address: tuple[str, int]
) -> None:
    outside.names, outside.allowed, outside.hosts = {"a.example": ["127.0.0.1"]}, {"a.example"}, ("127.0.0.1",)

    class Keeping(Upstream):
        """Goes on with a connection that it was asked to close, as Bun's server does."""

        ANSWER = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 7\r\n\r\nreached"

        def _serve(self) -> None:
            with contextlib.suppress(OSError):
                connection, _ = self.socket.accept()
                with connection:
                    while said := connection.recv(1 << 16):
                        self.heard.append(said)
                        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" + self.ANSWER)

    upstream = Keeping()
    said = f"POST http://a.example:{upstream.port}/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nhi".encode()
    second = b"GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\nAuthorization: secret\r\n\r\n"
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(said + second)
        answered = b""
        while b"reached" not in answered:
            answered += connection.recv(1 << 16)
        connection.sendall(second)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1 << 16) == b""
    assert answered.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert b"Connection: close" in answered
    assert b"keep-alive" not in answered
    assert len(upstream.heard) == 1
    assert upstream.heard[0].endswith(b"\r\n\r\nhi")
    upstream.socket.close()


def test_a_permitted_host_is_reached_in_each_way(outside: Outside, address: tuple[str, int]) -> None:
    port = outside.upstream.port
    outside.names, outside.allowed, outside.hosts = {"a.example": ["127.0.0.1"]}, {"a.example"}, ("127.0.0.1",)
    assert exchange(address, connect("a.example", port), b"hello").endswith(b"reached")
    assert exchange(address, *socks("a.example", port), b"hello").endswith(b"reached")
    plain = f"GET http://a.example:{port}/x?y HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nA: b\r\n\r\n"
    assert exchange(address, plain.encode()).endswith(b"reached")
    assert outside.upstream.heard == [
        b"hello",
        b"hello",
        f"GET /x?y HTTP/1.1\r\nHost: a.example:{port}\r\nConnection: close\r\nA: b\r\n\r\n".encode(),
    ]
    assert refused(outside) == []


@pytest.mark.parametrize(
    ("host", "why", "words"),
    [
        ("b.example", "notAllowed", b"403"),
        ("a.example.evil.example", "notAllowed", b"403"),
        ("inner.example", "notPublic", b"403"),
        ("meta.example", "notPublic", b"169.254.169.254"),
        ("mapped.example", "notPublic", b"403"),
        ("gone.example", "notFound", b"502"),
        ("127.0.0.1", "notPublic", b"403"),
        ("[::1]", "notPublic", b"403"),
        ("0", "unclear", b"403"),
    ],
)
def test_what_is_refused(outside: Outside, address: tuple[str, int], host: str, why: str, words: bytes) -> None:
    outside.names = {
        "inner.example": ["10.0.0.7"],
        "meta.example": ["169.254.169.254"],
        "mapped.example": ["::ffff:127.0.0.1"],
        "b.example": ["127.0.0.1"],
    }
    outside.allowed = {*outside.names, "gone.example", "127.0.0.1", "::1", "0"} - {"b.example"}
    answer = exchange(address, connect(host, outside.upstream.port))
    assert words in answer
    assert [found for _, found in refused(outside)] == [why]
    assert outside.upstream.heard == []


def test_a_host_that_is_not_allowed_is_not_even_resolved(outside: Outside, address: tuple[str, int]) -> None:
    exchange(address, connect("secret-of-the-workspace.evil.example", 443))
    assert outside.asked == [], "a query for a name would carry data out"


def test_rebinding_fails(outside: Outside, address: tuple[str, int]) -> None:
    """A name that leads to this machine at its second look-up is not looked up twice, and a private one is refused."""
    port = outside.upstream.port
    outside.names = {"evil.example": ["203.0.113.9", "127.0.0.1"]}
    outside.allowed, outside.hosts = {"evil.example"}, ("evil.example",)
    for _ in range(3):
        assert b"403" in exchange(address, connect("evil.example", port))
    assert outside.asked == ["evil.example"]
    assert outside.upstream.heard == []


def test_a_host_may_be_taken_back_while_the_command_runs(outside: Outside, address: tuple[str, int]) -> None:
    outside.names, outside.allowed, outside.hosts = {"a.example": ["127.0.0.1"]}, {"a.example"}, ("127.0.0.1",)
    assert b"200" in exchange(address, connect("a.example", outside.upstream.port), b"x")
    outside.allowed.clear()
    assert b"403" in exchange(address, connect("a.example", outside.upstream.port))


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"GET https://a.example/ HTTP/1.1\r\n\r\n",
        b"GET ftp://a.example/ HTTP/1.1\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"GET http://a.example@127.0.0.1:{port}/ HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:{port}#@a.example/ HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1:{port}\\@a.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.example HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:0 HTTP/1.1\r\n\r\n",
        b"CONNECT a.example@127.0.0.1:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:{port}/a.example:443 HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1%00.a.example:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 2130706433:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 0x7f000001:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT 127.1:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT \xff\xfe:{port} HTTP/1.1\r\n\r\n",
        b"\x05\x01\x02",
        b"\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50",
        b"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50",
        b"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01{socks}",
        b"\x05\x01\x00\x05\x01\x00\x03\x09127.0.0.1{socks}",
        b"\x05\x01\x00\x05\x01\x00\x09",
        b"X" * 100_000,
    ],
    ids=lambda said: said[:40].decode("latin-1"),
)
def test_no_odd_request_reaches_this_machine(outside: Outside, address: tuple[str, int], said: bytes) -> None:
    outside.names, outside.allowed = {"a.example": ["93.184.216.34"]}, {"a.example"}
    port = outside.upstream.port
    filled = said.replace(b"{port}", str(port).encode()).replace(b"{socks}", port.to_bytes(2, "big"))
    with socket.create_connection(address, PATIENCE) as connection, contextlib.suppress(OSError):
        connection.sendall(filled)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
    assert outside.upstream.heard == []
    assert not {"127.0.0.1", "2130706433", "127.1"} & set(outside.asked)


def test_connections_are_bounded_and_end_with_the_proxy(
    outside: Outside, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [socket.create_connection(address, PATIENCE) for _ in range(proxy_module.MOST_CONNECTIONS + 20)]
    threads = [thread for thread in threading.enumerate() if "sandbox proxy connection" in thread.name]
    assert len(threads) <= proxy_module.MOST_CONNECTIONS
    outside.proxy.close()  # type: ignore[attr-defined]
    for connection in held[: proxy_module.MOST_CONNECTIONS // 2]:
        connection.settimeout(PATIENCE)
        # A connection that still lay in the queue of the socket is reset, one that was accepted is closed.
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    for connection in held:
        connection.close()


def test_a_sandbox_that_is_never_made_leaves_no_thread() -> None:
    before = threading.active_count()
    made = Proxy(lambda _: False, lambda: ())
    made.close()
    for thread in threading.enumerate():
        if thread.name == "sandbox proxy":
            thread.join(PATIENCE)
    assert threading.active_count() <= before


def test_loopback_goes_around_the_proxy_unless_it_is_listed() -> None:
    made = Proxy(lambda _: False, lambda: ())
    assert made.environment()["NO_PROXY"] == "localhost,127.0.0.1,::1"
    assert made.environment()["https_proxy"] == f"http://127.0.0.1:{PORT}"
    made.close()
    listed = Proxy(lambda _: False, lambda: ("localhost", "127.0.0.0/8"))
    assert listed.environment()["no_proxy"] == "::1"
    listed.close()


@pytest.mark.parametrize(
    "lines",
    [
        b"X: 1\nHost: b.example",
        b"X: 1\rHost: b.example",
        b"X: 1\0",
        b"X: 1\r\n Host: b.example",
        b"Host b.example",
        b"Host : b.example",
        b": b.example",
    ],
)
def test_a_head_that_servers_read_in_two_ways_goes_nowhere(
    outside: Outside, address: tuple[str, int], lines: bytes
) -> None:
    outside.names, outside.allowed = {"a.example": ["127.0.0.1"]}, {"a.example"}
    outside.hosts = ("127.0.0.1",)
    port = str(outside.upstream.port).encode()
    head = b"GET http://a.example:" + port + b"/x HTTP/1.1\r\n" + lines + b"\r\n\r\n"
    assert exchange(address, head).startswith(b"HTTP/1.1 400 ")
    assert outside.upstream.heard == []


@pytest.mark.parametrize(
    "first", [b"GET\n http://a.example:%d/x HTTP/1.1", b"GET http://a.example:%d/x HTTP/1.1\nHost:b"]
)
def test_a_first_line_that_servers_read_in_two_ways_goes_nowhere(
    outside: Outside, address: tuple[str, int], first: bytes
) -> None:
    outside.names, outside.allowed, outside.hosts = {"a.example": ["127.0.0.1"]}, {"a.example"}, ("127.0.0.1",)
    assert exchange(address, first % outside.upstream.port + b"\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert outside.upstream.heard == []
