"""How late the event loop's beat comes while a client reads nothing and updates pile up for it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import IO, Any

from tests.bench.wire_approval import HERE, environment

TURNS = 3
UPDATES = 20
"""Updates sent in one step of the loop, a kilobyte each."""

LIMITS = {"heartbeat: seconds late, the client reads nothing": 0.1}


def run() -> dict[str, float]:
    return {"heartbeat: seconds late, the client reads nothing": min(_late() for _ in range(TURNS))}


def _late() -> float:
    """The greatest lateness of one flood."""
    command = [sys.executable, str(HERE / "heartbeat_server.py")]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        initialize = {"processId": None, "rootUri": None, "capabilities": {}}
        _send(server.stdin, {"id": 1, "method": "initialize", "params": initialize})
        _send(server.stdin, {"method": "initialized", "params": {}})
        _send(server.stdin, {"id": 2, "method": "thread/prompt", "params": {"threadId": "t", "text": str(UPDATES)}})
        # From here on nothing is read but its stderr.
        late = next((line for line in server.stderr if line.startswith(b"LATE ")), None)
        server.kill()
    if late is None:
        raise RuntimeError("the server ended before it had measured anything")
    return float(late.split()[1])


def _send(pipe: IO[bytes], message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    pipe.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    pipe.flush()
