"""A hostile ACP agent that forks: a child process, standard library only.

Run as ``forking_agent.py FILE WAY``. A prompt makes it fork children that leave its session, ignore TERM, hold its
output open and write noise to it; their pids go to FILE. Then it exits, answers, or goes on, as WAY says.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress

CHILDREN = 20


def put(message: dict) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def fork_child(told: int) -> None:
    """Fork twice, so that the child belongs to nobody."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.write(told, f"{os.getpid()}\n".encode())
    while True:
        with suppress(OSError):  # nobody reads it any more
            os.write(1, b"noise\n")
        time.sleep(0.05)  # leaves the processor to the test


def main() -> None:
    path, way = sys.argv[1:]
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                put({"id": message["id"], "result": {"protocolVersion": 1}})
            case "session/new":
                put({"id": message["id"], "result": {"sessionId": "s"}})
            case "session/prompt" if message["params"]["prompt"][-1]["text"] == "fork":
                reading, told = os.pipe()
                for _ in range(CHILDREN):
                    fork_child(told)
                pids = b""
                while pids.count(b"\n") < CHILDREN:
                    pids += os.read(reading, 4096)
                with open(path, "wb") as file:
                    file.write(pids)
                content = {"type": "text", "text": "forked"}
                update = {"sessionUpdate": "agent_message_chunk", "content": content}
                put({"method": "session/update", "params": {"sessionId": "s", "update": update}})
                if way == "exits":
                    os._exit(0)
                if way == "answers":
                    put({"id": message["id"], "result": {"stopReason": "end_turn"}})
            case "session/prompt":
                put({"id": message["id"], "result": {"stopReason": "end_turn"}})


if __name__ == "__main__":
    main()
