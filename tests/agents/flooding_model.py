"""A hostile model server that floods whoever asks it: a child process that prints its port, standard library only.

The path of the address names the attack: ``http://127.0.0.1:PORT/error`` answers every request with an error's body
that does not end.
"""

from __future__ import annotations

import gzip
import json
import socketserver
import sys
from collections.abc import Iterator

WIDE = "\U0001f600"
BLOCK = b"x" * (1 << 16)
OK, BAD = "200 OK", "500 Bad"


def said(**message: object) -> bytes:
    return json.dumps({"message": message, "done": False}).encode() + b"\n"


def endless(block: bytes) -> Iterator[bytes]:
    while True:
        yield block


def calls(number: int) -> bytes:
    """A message of calls with long arguments each."""
    arguments = {"path": f"new{number}", "content": WIDE + "x" * (2 << 20)}
    return said(tool_calls=[{"function": {"name": "write_file", "arguments": arguments}}])


def answers(attack: str) -> tuple[str, str, Iterator[bytes]]:
    """The status, more headers and the body."""
    match attack:
        case "error":
            return BAD, "", endless(BLOCK)
        case "packed":
            return BAD, "content-encoding: gzip\r\n", endless(gzip.compress(BLOCK * 1000))
        case "line":
            return OK, "", endless(BLOCK)
        case "text":
            return OK, "", endless(said(content=WIDE + "x" * (1 << 20)))
        case "thinking":
            return OK, "", endless(said(thinking="x" * 1000))
        case "calls":
            return OK, "", map(calls, range(1000))
        case "values":
            arguments = {"path": [[]] * 90_000}
            return OK, "", endless(said(tool_calls=[{"function": {"name": "read_file", "arguments": arguments}}]))
        case "headers":
            return OK, "", iter(())
    raise ValueError(attack)


ATTACKS = ("error", "packed", "line", "text", "thinking", "calls", "values", "headers")


class Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        attack = self.rfile.readline().split()[1].split(b"/")[1].decode()
        length = 0
        while (line := self.rfile.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        self.rfile.read(length)
        status, headers, body = answers(attack)
        try:
            self.wfile.write(f"HTTP/1.1 {status}\r\n{headers}".encode())
            while attack == "headers":
                self.wfile.write(b"x: y\r\n" * 1000)
            self.wfile.write(b"connection: close\r\n\r\n")
            for block in body:
                self.wfile.write(block)
        except OSError:
            pass  # whoever asked has heard enough


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Answer) as server:
        print(server.server_address[1], flush=True)
        sys.stdout.close()
        server.serve_forever()
