"""The program that stands between an agent and the inner program that it starts: it changes what the agent asks for.

An agent starts it by its path in the place of that program (``line_filter.py``), with the changes as JSON and the inner
program's command line as arguments; it imports nothing of Countersign. Both speak lines of JSON. It fails closed: a
line that cannot be read is not passed on, and an error ends both.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

EVERY = "*"
"""Stands for every key of an object in a path."""


def changed(line: bytes, changes: list[dict[str, Any]]) -> bytes:
    """Return the line with the changes that concern it.

    Raises:
        ValueError: it is no JSON object.
    """
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("it is no object")
    params = message.get("params")
    for change in changes if isinstance(params, dict) else ():
        if change.get("method") in (None, message.get("method")):
            _put(params, change["path"], change)
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _put(inside: Any, path: list[str], change: dict[str, Any]) -> None:
    if not isinstance(inside, dict):
        return
    first, rest = path[0], path[1:]
    for key in list(inside) if first == EVERY else [first]:
        if rest:
            _put(inside.get(key), rest, change)
        elif "value" not in change:
            inside.pop(key, None)
        elif key in inside or change.get("method") is not None:
            inside[key] = change["value"]


def main(changes: list[dict[str, Any]], command: list[str]) -> int:
    """Run the command; return its exit code."""
    inner = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert inner.stdin is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: inner.send_signal(number))
    threading.Thread(target=_pass_on, args=(inner, changes), daemon=True).start()
    code = inner.wait()
    return code if code >= 0 else 128 - code


def _pass_on(inner: subprocess.Popen[bytes], changes: list[dict[str, Any]]) -> None:
    assert inner.stdin is not None
    try:
        for line in sys.stdin.buffer:
            try:
                passed = changed(line, changes)
            except (ValueError, RecursionError):
                os.write(2, b"Countersign: a line that is not a JSON object was left out\n")
                continue
            inner.stdin.write(passed)
            inner.stdin.flush()
        inner.stdin.close()
    except BrokenPipeError:
        pass
    except BaseException as error:
        # INVARIANT (strictest): nothing passes unchanged.
        os.write(2, f"Countersign: what the agent asks for cannot be changed: {error!r}\n".encode())
        inner.kill()


if __name__ == "__main__":
    # The thread may still wait for the agent, and Python aborts where one holds its input at the end.
    os._exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
