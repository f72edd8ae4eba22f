"""The floor of the approval bench: the same messages over the same pipes, written and read by a loop that blocks.

No event loop, no threads, no models, no table: what is left is Node, JSON and the pipe.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from wire_request import REQUEST


def send(message: dict[str, Any]) -> None:
    body = json.dumps(message, separators=(",", ":")).encode()
    os.write(1, b"Content-Length: %d\r\n\r\n" % len(body) + body)


def receive(held: bytearray) -> dict[str, Any]:
    while (end := held.find(b"\r\n\r\n")) < 0:
        held += os.read(0, 65536)
    length = int(held[:end].split(b":")[1])
    while len(held) < end + 4 + length:
        held += os.read(0, 65536)
    body = bytes(held[end + 4 : end + 4 + length])
    del held[: end + 4 + length]
    return json.loads(body)


def main() -> None:
    held = bytearray()
    initialize = receive(held)
    send({"jsonrpc": "2.0", "id": initialize["id"], "result": {"capabilities": {}}})
    receive(held)
    prompt = receive(held)
    times = []
    for number in range(int(prompt["params"]["text"])):
        began = time.perf_counter()
        send({"jsonrpc": "2.0", "method": "tool/approvalRequest", "params": REQUEST | {"approvalId": str(number)}})
        answer = receive(held)
        times.append(time.perf_counter() - began)
        send({"jsonrpc": "2.0", "id": answer["id"], "result": {"approvalId": str(number), "state": "allowed"}})
    print("TIMES " + json.dumps(times), file=sys.stderr, flush=True)
    send({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}})
    while receive(held).get("method") != "exit":
        pass


if __name__ == "__main__":
    main()
