"""A hostile ACP agent that floods the client: a child process, standard library only.

Run as ``flooding_agent.py ATTACK FOLDER``: each prompt is answered with that attack on a workspace. Where an attack
waits for nothing, it ends the prompt, unless the client ends it before. Run as ``flooding_agent.py together FOLDER``,
it waits for a prompt in as many chats as there are attacks, then plays these, one in each chat, each
only as far as the client lets it live. Then it says ``SENT_ALL`` and holds the client with an unfinished line. A third
word is how many messages of each attack it sends at most, a fourth one, if there is one, the seed by which it mixes
the attacks; without it they take turns.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from itertools import islice

WIDE = "\U0001f600"
"""One such character makes a text take four bytes for each of its characters."""
LONG = (7 << 20) * "x" + WIDE
SENT_ALL = "all was sent"
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


def texts(folder: str) -> Iterator[dict | bytes]:
    """Calls whose texts are slow to search: newlines, blanks, openings that never close."""
    for number in range(10):
        text = ("\n" * 60_000 + "x", " " * 60_000, "(a=" * 20_000 + " z", ";" * 60_000, "$(" * 30_000)[number % 5]
        yield asked(number, kind="execute", rawInput={"command": text})
        yield request(100 + number, "terminal/create", command=text)


def words(folder: str) -> Iterator[dict | bytes]:
    """Commands of 300,000 words."""
    for number in range(10):
        yield asked(number, kind="execute", rawInput={"command": "a " * 300_000})
        yield request(100 + number, "terminal/create", command="a", args=["a"] * 90_000)


def places(folder: str) -> Iterator[dict | bytes]:
    """Locations, plans and options of as many entries, and of as many bytes, as are taken."""
    for number in range(10):
        locations = [{"path": f"{folder}/{each}".ljust(130, "x")} for each in range(49_000)]
        yield update(sessionUpdate="tool_call", toolCallId=f"c{number}", kind="read", locations=locations)
        yield update(sessionUpdate="plan", entries=[{"content": "x", "status": "pending"}] * 30_000)
        options = [{"optionId": str(each), "name": "x", "kind": "allow_once"} for each in range(20_000)]
        yield update(sessionUpdate="config_option_update", configOptions=options)
        yield asked(number, kind="read", locations=locations)


def brackets(folder: str) -> Iterator[dict | bytes]:
    """More values than are taken."""
    for _ in range(10):
        yield b'{"jsonrpc":"2.0","method":"session/update","params":[' + b"[]," * (2 << 20) + b"[]]}\n"


def noise(folder: str) -> Iterator[dict | bytes]:
    while True:
        yield b"\n" * 4096 + b"noise\n"


def errors(folder: str) -> Iterator[dict | bytes]:
    """Standard error without end."""
    while True:
        os.write(2, b"\n\x1b[2J" * 10_000)
        yield b"\n"


ATTACKS = (reads, sparse_reads, thoughts, waits, lines, inputs, requests, cards, writes, values, changes, texts, words,
           places, brackets, noise, errors)  # fmt: skip


WITHIN_LIMITS = {waits: 40, thoughts: 7, inputs: 8, lines: 0, noise: 2000, errors: 20}
"""How many messages of an attack the client bears; of the others it bears all that they have."""
UNREAD = (reads, sparse_reads, waits, requests, cards, writes)
"""After these the agent reads nothing, until it is ended."""


def main() -> None:
    prompts: list[tuple[int, str]] = []
    sessions = 0
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                put({"id": message["id"], "result": {"protocolVersion": 1}})
            case "session/new":
                sessions += 1
                put({"id": message["id"], "result": {"sessionId": f"s{sessions}"}})
            case "session/prompt":
                prompts.append((message["id"], message["params"]["sessionId"]))
                if sys.argv[1] != "together":
                    play_one(*prompts[-1])
                elif len(prompts) == len(ATTACKS):
                    play_together([session for _, session in prompts])


def play_one(prompt: int, session: str) -> None:
    attack = next(each for each in ATTACKS if each.__name__ == sys.argv[1])
    for sent in attack(sys.argv[2]):
        put(of_session(sent, session))
    if attack in UNREAD:
        hold()
    put({"id": prompt, "result": {"stopReason": "end_turn"}})


def play_together(sessions: list[str]) -> None:
    """Send the messages of all attacks, mixed, until none has more."""
    most = int(sys.argv[3])
    going = {
        session: islice(attack(sys.argv[2]), min(most, WITHIN_LIMITS.get(attack, most)))
        for session, attack in zip(sessions, ATTACKS, strict=True)
    }
    chance = random.Random(sys.argv[4]) if len(sys.argv) > 4 else None
    while going:
        for session in [chance.choice(list(going))] if chance is not None else list(going):
            sent = next(going[session], None)
            if sent is None:
                del going[session]
            else:
                put(of_session(sent, session))
    put(
        of_session(update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": SENT_ALL}), sessions[0])
    )
    put(next(lines("")))
    hold()


def hold() -> None:
    """Read nothing and say nothing, until the client ends this process."""
    os.read(os.pipe()[0], 1)


def of_session(message: dict | bytes, session: str) -> dict | bytes:
    """Return the message with the id of the session, and with its own id made different from those of others."""
    if isinstance(message, bytes):
        return message
    own = {"id": f"{session} {message['id']}"} if "id" in message else {}
    return {**message, **own, "params": {**message["params"], "sessionId": session}}


def put(message: dict | bytes) -> None:
    text = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while text:
        text = text[os.write(1, text) :]


if __name__ == "__main__":
    main()
