"""A hostile ACP agent that floods the client: a child process, standard library only.

Run as ``flooding_agent.py ATTACK FOLDER``: each prompt is answered with that attack on a workspace. Where an attack
waits for nothing, it ends the prompt, unless the client ends it before.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

WIDE = "\U0001f600"
"""One such character makes a text take four bytes for each of its characters."""
LONG = (7 << 20) * "x" + WIDE
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
           {"optionId": "no", "name": "No", "kind": "reject_once"}]  # fmt: skip


def update(**fields: object) -> dict:
    return {"method": "session/update", "params": {"sessionId": "s", "update": fields}}


def request(number: int, method: str, **params: object) -> dict:
    return {"id": number, "method": method, "params": {"sessionId": "s", **params}}


def asked(number: int, **call: object) -> dict:
    tool_call = {"toolCallId": f"c{number}", "title": "Call", **call}
    return request(number, "session/request_permission", toolCall=tool_call, options=OPTIONS)


def reads(folder: str) -> Iterator[dict | bytes]:
    """Read a long file sixty times, and no answer."""
    yield from (request(n, "fs/read_text_file", path=f"{folder}/long") for n in range(60))


def sparse_reads(folder: str) -> Iterator[dict | bytes]:
    yield from (request(n, "fs/read_text_file", path=f"{folder}/sparse", limit=1) for n in range(60))


def thoughts(folder: str) -> Iterator[dict | bytes]:
    for _ in range(300):
        yield update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": WIDE + "x" * (1 << 20)})


def waits(folder: str) -> Iterator[dict | bytes]:
    yield from (request(n, "terminal/wait_for_exit", terminalId="t") for n in range(100_000))


def lines(folder: str) -> Iterator[dict | bytes]:
    """A long line that never ends, at last byte by byte."""
    yield b"x" * (7 << 20)
    while True:
        yield b"x"


def inputs(folder: str) -> Iterator[dict | bytes]:
    """Many calls with a long input each."""
    for number in range(40):
        yield update(sessionUpdate="tool_call", toolCallId=f"c{number}", rawInput={"path": LONG})


def requests(folder: str) -> Iterator[dict | bytes]:
    """Many long requests under way at once."""
    for number in range(80):
        yield request(number, "fs/read_text_file", path=f"{folder}/long", extra=LONG)


def cards(folder: str) -> Iterator[dict | bytes]:
    """Many cards for small edits of a long file."""
    for number in range(90):
        edit = {"path": f"{folder}/text", "old_string": "first", "new_string": str(number)}
        yield asked(number, kind="edit", rawInput=edit)


def writes(folder: str) -> Iterator[dict | bytes]:
    for number in range(80):
        yield request(number, "fs/write_text_file", path=f"{folder}/new{number}", content=WIDE + "y" * (3 << 20))


def values(folder: str) -> Iterator[dict | bytes]:
    """Messages of as many values as are taken."""
    for number in range(30):
        yield update(sessionUpdate="tool_call", toolCallId=f"c{number}", rawInput={"x": [[]] * 99_000})
        yield asked(number, kind="other", rawInput={str(key): "/w/a" for key in range(4990)})


def changes(folder: str) -> Iterator[dict | bytes]:
    """A file more with each update of one call."""
    for number in range(1500):
        diff = {"type": "diff", "path": f"{folder}/{number}", "newText": "x"}
        yield update(sessionUpdate="tool_call", toolCallId="c", title=f"{number}", kind="edit", content=[diff])


def noise(folder: str) -> Iterator[dict | bytes]:
    while True:
        yield b"\n" * 4096 + b"noise\n"


def errors(folder: str) -> Iterator[dict | bytes]:
    """Standard error without end."""
    while True:
        os.write(2, b"\n\x1b[2J" * 10_000)
        yield b"\n"


ATTACKS = (reads, sparse_reads, thoughts, waits, lines, inputs, requests, cards, writes, values, changes, noise, errors)


def main() -> None:
    attack = next(each for each in ATTACKS if each.__name__ == sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                put({"id": message["id"], "result": {"protocolVersion": 1}})
            case "session/new":
                put({"id": message["id"], "result": {"sessionId": "s"}})
            case "session/prompt":
                for sent in attack(sys.argv[2]):
                    put(sent)
                if attack in (reads, sparse_reads, waits, requests, cards, writes):
                    # From here on it reads nothing, until it is ended.
                    os.read(os.pipe()[0], 1)
                put({"id": message["id"], "result": {"stopReason": "end_turn"}})


def put(message: dict | bytes) -> None:
    text = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while text:
        text = text[os.write(1, text) :]


if __name__ == "__main__":
    main()
