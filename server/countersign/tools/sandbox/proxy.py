"""The way out of a sandbox: a proxy for HTTP, CONNECT and SOCKS5 that connects to permitted hosts and nowhere else.

Its listening socket is made inside the sandbox's network namespace and handed out (``namespaces.py``), so the program
reaches it on its own loopback and nothing else of this machine. Names are resolved outside, checked and pinned for the
life of the sandbox (``addresses.py``). Where this machine's own loopback is listed, a port on which a program in the
sandbox listens is that program's: an agent that talks to a server of its own reaches it, as it would without a proxy.
One thread for each connection and direction; all of it is bounded.
"""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from countersign.tools.sandbox.addresses import Address, blocking_resolve, is_listed, may_connect, plain_host

log = logging.getLogger(__name__)

PORT = 39128
"""Of the proxy on the sandbox's loopback. Each sandbox has a loopback of its own, so it need not vary."""
MOST_CONNECTIONS = 128
"""At a time; more wait in the listening socket's queue."""
MOST_HEAD = 64 << 10
"""Bytes of a request's head."""
MOST_REFUSED = 64
"""Hosts whose refusal is remembered."""
HEAD_PATIENCE = 30.0
"""Seconds for a request to say where it wants to go."""
CONNECT_PATIENCE = 20.0
"""Seconds for one address to accept a connection."""
INNER_PATIENCE = 5.0
"""Seconds in which the sandbox tells whether a program in it listens on a port: it waits one second at most, and looks
after its folders beside that."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""What programs call the machine that they run on."""
_CHUNK = 1 << 18

_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1\d\d ")
Why = Literal["notAllowed", "notPublic", "notFound", "unreachable", "unclear"]
_HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"proxy-connection",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-authenticate",
        b"te",
        b"upgrade",
    )
)


@dataclass(frozen=True, slots=True)
class RefusedHost:
    """A host that a program in the sandbox wanted and did not get. ``address`` is what it was resolved to."""

    host: str
    port: int
    why: Why
    address: str | None = None

    def sentence(self) -> str:
        match self.why:
            case "notAllowed":
                return f"`{self.host}` is not allowed in the sandbox"
            case "notPublic":
                return (
                    f"`{self.host}` leads to `{self.address}`, which is no public address; list that address in "
                    "`sandbox.hosts` to allow it"
                )
            case "notFound":
                return f"`{self.host}` cannot be resolved"
            case "unreachable":
                return f"`{self.host}` does not accept a connection to port {self.port}"
            case "unclear":
                return f"`{self.host}` is no plain host name"


class _Refusal(Exception):
    def __init__(self, refused: RefusedHost) -> None:
        super().__init__(refused.sentence())
        self.refused = refused


class Proxy:
    """The proxy of one sandbox. A class because it owns sockets and threads; ``close`` ends them.

    ``may_reach`` says whether a host is allowed at this moment, and ``hosts`` lists what `sandbox.hosts` names; both
    are called in threads. ``resolve`` is replaced by tests.
    """

    def __init__(
        self,
        may_reach: Callable[[str], bool],
        hosts: Callable[[], Sequence[str]],
        *,
        resolve: Callable[[str, int], tuple[Address, ...]] = blocking_resolve,
    ) -> None:
        self._may_reach = may_reach
        self._hosts = hosts
        self._resolve = resolve
        self._channel, self.theirs = socket.socketpair()
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._closed = False
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._pinned: dict[str, tuple[Address, ...]] = {}
        self._refused: dict[tuple[str, Why], RefusedHost] = {}
        threading.Thread(target=self._serve, name="sandbox proxy", daemon=True).start()

    @property
    def refused(self) -> tuple[RefusedHost, ...]:
        """What was refused so far, each host once for each reason."""
        with self._lock:
            return tuple(self._refused.values())

    def environment(self) -> dict[str, str]:
        """The variables by which programs in the sandbox find the proxy."""
        return _environment(self._hosts())

    def close(self) -> None:
        """End every connection and the proxy itself."""
        with self._lock:
            self._closed = True
            sockets = [*self._open, self._channel, *([self._listener] if self._listener is not None else [])]
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for each in (self.theirs, self._channel):
            each.close()

    def _serve(self) -> None:
        try:
            _said, descriptors, _flags, _from = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            return
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as listener:
            with self._lock:
                if self._closed:
                    return
                self._listener = listener
            while True:
                self._slots.acquire()
                try:
                    client, _address = listener.accept()
                except OSError:
                    return  # Closed.
                threading.Thread(
                    target=self._attend, args=(client,), name="sandbox proxy connection", daemon=True
                ).start()

    def _attend(self, client: socket.socket) -> None:
        try:
            with client:
                if self._own(client):
                    self._one(client)
        except OSError:
            pass  # Either side went away: the other has been told by the end of its stream.
        except Exception:  # the boundary of one connection: the others go on
            log.exception("a connection of the sandbox's proxy failed")
        finally:
            self._disown(client)
            self._slots.release()

    def _one(self, client: socket.socket) -> None:
        client.settimeout(HEAD_PATIENCE)
        first = client.recv(1, socket.MSG_PEEK)
        if first == b"\x05":
            self._socks(client)
        elif first:
            self._http(client)

    # HTTP

    def _http(self, client: socket.socket) -> None:
        head, rest = _read_head(client)
        if head is None or not _is_plain(head):
            return _answer(client, 400, "the request cannot be read")
        try:
            method, target, _version = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
            if method == "CONNECT":
                host, port = _host_and_port(target, None)
            else:
                parts = urlsplit(target)
                if parts.scheme != "http" or parts.username is not None:
                    return _answer(client, 400, "the proxy takes `http` addresses and CONNECT")
                host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return _answer(client, 400, "the request cannot be read")
        try:
            server = self._connected(host, port)
        except _Refusal as refusal:
            return _answer(
                client, 403 if refusal.refused.why in ("notAllowed", "notPublic", "unclear") else 502, str(refusal)
            )
        with server:
            try:
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    if rest:
                        server.sendall(rest)
                    self._relay(client, server)
                else:
                    self._one_request(client, server, _rewritten(head, method, target), rest, _body_size(head))
            finally:
                self._disown(server)

    def _one_request(
        self, client: socket.socket, server: socket.socket, head: bytes, rest: bytes, size: int | None
    ) -> None:
        """Carry one request and its answer. What the client sends behind it is dropped, and the answer says that the
        connection ends: a further request may be meant for another host."""
        _make_ready(client, server)
        server.sendall(head + rest[:size])
        left = None if size is None else max(0, size - len(rest))
        up = threading.Thread(target=_carry, args=(client, server, left), name="sandbox proxy upload", daemon=True)
        up.start()
        _carry_answer(server, client)
        up.join()

    # SOCKS5

    def _socks(self, client: socket.socket) -> None:
        _five, count = _exactly(client, 2)
        methods = _exactly(client, count)
        if 0 not in methods:
            return client.sendall(b"\x05\xff")
        client.sendall(b"\x05\x00")
        version, command, _zero, kind = _exactly(client, 4)
        match kind:
            case 1:
                host = socket.inet_ntop(socket.AF_INET, _exactly(client, 4))
            case 4:
                host = socket.inet_ntop(socket.AF_INET6, _exactly(client, 16))
            case 3:
                host = _exactly(client, _exactly(client, 1)[0]).decode("ascii", "replace")
            case _:
                return client.sendall(_socks_reply(8))
        (port,) = struct.unpack("!H", _exactly(client, 2))
        if version != 5 or command != 1:
            return client.sendall(_socks_reply(7))
        try:
            server = self._connected(host, port)
        except _Refusal as refusal:
            code = {"notAllowed": 2, "notPublic": 2, "unclear": 2, "notFound": 4, "unreachable": 5}[refusal.refused.why]
            return client.sendall(_socks_reply(code))
        with server:
            try:
                client.sendall(_socks_reply(0))
                self._relay(client, server)
            finally:
                self._disown(server)

    # Both

    def _connected(self, said: str, port: int) -> socket.socket:
        """Connect to a permitted host. Raises ``_Refusal``, which is also remembered."""
        try:
            return self._blocking_connect(said, port)
        except _Refusal as refusal:
            refused = refusal.refused
            with self._lock:
                if len(self._refused) < MOST_REFUSED:
                    self._refused.setdefault((refused.host, refused.why), refused)
            raise

    def _blocking_connect(self, said: str, port: int) -> socket.socket:
        host = plain_host(said)
        if host is None or not 0 < port < 1 << 16:
            raise _Refusal(RefusedHost(said[:80], port, "unclear"))
        if not self._may_reach(host):
            raise _Refusal(RefusedHost(host, port, "notAllowed"))
        listed = tuple(self._hosts())
        # What is checked is what is connected to: a name is resolved once for each sandbox.
        addresses = self._pinned.get(host)
        if addresses is None:
            try:
                addresses = self._pinned.setdefault(host, self._resolve(host, port))
            except OSError:
                raise _Refusal(RefusedHost(host, port, "notFound")) from None
        allowed = [address for address in addresses if may_connect(address, host, listed)]
        if not allowed:
            first = str(addresses[0]) if addresses else None
            raise _Refusal(RefusedHost(host, port, "notPublic" if addresses else "notFound", first))
        for address in allowed:
            server = self._listening_inside(port) if host in LOOPBACK and port != PORT else None
            if server is None:
                try:
                    server = socket.create_connection((str(address), port), CONNECT_PATIENCE)
                except OSError:
                    continue
            if self._own(server):
                return server
            server.close()
        raise _Refusal(RefusedHost(host, port, "unreachable"))

    def _listening_inside(self, port: int) -> socket.socket | None:
        """A connection to the program in the sandbox that listens on this port of its loopback; None if none does."""
        with self._asking:
            try:
                self._channel.settimeout(INNER_PATIENCE)
                self._channel.sendall(struct.pack("!H", port))
                _said, descriptors, _flags, _from = socket.recv_fds(self._channel, 1, 1)
            except TimeoutError:
                # An answer that came later would be taken for that to the next question.
                self._channel.close()
                return None
            except OSError:
                return None
        return socket.socket(fileno=descriptors[0]) if descriptors else None

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        """Carry bytes both ways until both sides have ended theirs, or one is gone."""
        _make_ready(client, server)
        up = threading.Thread(target=_carry, args=(client, server), name="sandbox proxy upload", daemon=True)
        up.start()
        _carry(server, client)
        up.join()

    def _own(self, connection: socket.socket) -> bool:
        with self._lock:
            if not self._closed:
                self._open.add(connection)
            return not self._closed

    def _disown(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)


def _environment(hosts: Sequence[str]) -> dict[str, str]:
    address = f"http://127.0.0.1:{PORT}"
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    # Servers in the sandbox are reached directly, unless this machine's own loopback was listed.
    local = ",".join(name for name in LOOPBACK if not is_listed(name, hosts))
    return dict.fromkeys(names, address) | {"no_proxy": local, "NO_PROXY": local, "NODE_USE_ENV_PROXY": "1"}


def _make_ready(*connections: socket.socket) -> None:
    for each in connections:
        each.settimeout(None)
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _carry_answer(server: socket.socket, client: socket.socket) -> None:
    """Carry an HTTP response, its head changed so that it ends the connection; anything else goes through unchanged."""
    data, interim = b"", True
    try:
        while interim:
            while (end := data.find(b"\r\n\r\n")) < 0 and len(data) <= MOST_HEAD and (more := server.recv(1 << 14)):
                data += more
            head, data = (data[: end + 4], data[end + 4 :]) if end >= 0 else (b"", data)
            interim = _INTERIM.match(head) is not None
            client.sendall(head if interim else _closing(head))
        client.sendall(data)
    except OSError:
        _shut(server, client)
        return
    _carry(server, client)


def _closing(head: bytes) -> bytes:
    """The head of an answer that says that its connection ends with it."""
    if not head:
        return head
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if line.split(b":", 1)[0].strip().lower() not in (b"connection", b"keep-alive")]
    return b"\r\n".join((first, *kept, b"Connection: close")) + b"\r\n\r\n"


def _body_size(head: bytes) -> int | None:
    """How many bytes follow the head of a request; None where only the body itself says so."""
    fields = {line.split(b":", 1)[0].strip().lower(): line for line in head.split(b"\r\n")[1:] if b":" in line}
    if b"transfer-encoding" in fields:
        return None
    length = fields.get(b"content-length", b":0").split(b":", 1)[1].strip()
    return int(length) if length.isdigit() else None


def _carry(source: socket.socket, target: socket.socket, most: int | None = None) -> None:
    """Carry bytes until the source ends; what comes after ``most`` of them is dropped."""
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    try:
        while count := source.recv_into(buffer):
            taken = count if most is None else min(count, most)
            most = None if most is None else most - taken
            target.sendall(view[:taken])
    except OSError:
        _shut(source, target)
        return
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _shut(*connections: socket.socket) -> None:
    for each in connections:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _read_head(client: socket.socket) -> tuple[bytes | None, bytes]:
    """The head of a request and what came after it; None where it is too long or never ends."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        if len(data) > MOST_HEAD:
            return None, b""
        more = client.recv(1 << 14)
        if not more:
            return None, b""
        data += more
    return data[: end + 4], data[end + 4 :]


def _is_plain(head: bytes) -> bool:
    """Whether every server finds the same lines and fields in this head: another reading could name another host."""
    first, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return re.search(rb"[^ -~]", first) is None and all(map(_FIELD.fullmatch, fields))


def _host_and_port(target: str, default: int | None) -> tuple[str, int]:
    parts = urlsplit(f"//{target}")
    port = parts.port if parts.port is not None else default
    if port is None or parts.username is not None or parts.path:
        raise ValueError(target)
    return parts.hostname or "", port


def _rewritten(head: bytes, method: str, target: str) -> bytes:
    """The request as its server expects it: the path alone, the host of the address, and one request only."""
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {path} HTTP/1.1".encode("ascii"), f"Host: {parts.netloc}".encode("ascii"), b"Connection: close"]
    for line in head.split(b"\r\n")[1:]:
        name = line.split(b":", 1)[0].strip().lower()
        if name and name != b"host" and name not in _HOP_BY_HOP:
            lines.append(line)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _answer(client: socket.socket, status: int, sentence: str) -> None:
    reason = {400: "Bad Request", 403: "Forbidden by the sandbox", 502: "Bad Gateway"}[status]
    body = f"countersign: {sentence}\n".encode(errors="replace")
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body)


def _exactly(client: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise ConnectionResetError("the request ended early")
        data += more
    return data


def _socks_reply(code: int) -> bytes:
    return bytes((5, code, 0, 1, 0, 0, 0, 0, 0, 0))
