"""Errors of hostile messages are freed with the last reference: a cycle with their traceback would keep the message.

The server lets its collector of cycles run rarely, so megabytes that only a cycle keeps stay for a long time.
"""

from __future__ import annotations

import gc
import linecache
import logging
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from countersign.gate.workers import Workers, in_worker, in_worker_alone, in_worker_to_the_end, sharing
from tests.agents.scripted_agent_fixture import Player, ask, report
from tests.agents.test_acp_client_methods import read, write

from .desk import Place
from .hostile import Agent

LONG, LARGE = 100_000, 2 << 20
BAD = {
    "not JSON": b"{x",
    "not JSON, long": b"{" + b"x" * LONG,
    "not JSON, large": b"{" + b"x" * LARGE,
    "too many values, long": b'{"x":[' + b"[]," * LONG + b"[]]}",
    "too many values, large": b'{"x":[' + b"[]," * LARGE + b"[]]}",
    "no object": b"[1]",
    "nested": b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "a key twice": b'{"x":1,"x":1}',
    "no number": b'{"x":NaN}',
    "half a surrogate pair": b'{"x":"\\ud800"}',
    "not UTF-8": b'{"x":"\xff"}',
    "an id of the wrong type": b'{"id":[],"method":"x"}',
    "an answer to nothing": b'{"id":99,"error":"boom"}',
}


@contextmanager
def cycles_with_errors() -> Iterator[list[str]]:
    """Fill the list with the frames of tracebacks that only the collector of cycles frees after the block."""
    found: list[str] = []
    logging.disable(logging.CRITICAL)  # pytest keeps every record, and with it the error that it tells of
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        for each in gc.garbage:
            if isinstance(each, types.TracebackType) and "countersign" in each.tb_frame.f_code.co_filename:
                name, line = each.tb_frame.f_code.co_filename, each.tb_lineno
                found.append(f"{Path(name).name}:{line} {linecache.getline(name, line).strip()}")
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
async def test_a_bad_message_is_freed_at_once(line: bytes):
    workers = Workers("a")
    with sharing(workers):
        async with Agent() as agent:
            await agent.settle()
            with cycles_with_errors() as found:
                agent.say(line)
                await agent.settle()
    workers.close()
    assert found == []


def _fail(text: str) -> None:
    raise ValueError(len(text))


@pytest.mark.parametrize("run", [in_worker, in_worker_alone, in_worker_to_the_end])
@pytest.mark.parametrize("agent", ["", "a"], ids=["the pool of the loop", "an agent's workers"])
async def test_an_error_of_work_in_a_thread_keeps_nothing(run, agent: str):
    workers = Workers(agent) if agent else None
    arrived = False
    with sharing(workers), cycles_with_errors() as found:
        try:  # `pytest.raises` would keep the error
            await run(_fail, "xxx")
        except ValueError:
            arrived = True
    if workers is not None:
        workers.close()
    assert arrived
    assert found == []


REFUSED = {
    "a command that bash cannot be given": lambda folder: [
        ask("a", kind="execute", rawInput={"command": "a " * 300_000})
    ],
    "a terminal for such a command": lambda folder: [
        {"ask": "terminal/create", "id": "t", "params": {"command": "a", "args": ["a"] * 90_000}}
    ],
    "a file that is not there": lambda folder: [read(folder / "absent")],
    "a file that is too long": lambda folder: [read(folder / "long")],
    "a write to a folder": lambda folder: [write(folder, "x" * LONG)],
    "a call too large to be kept": lambda folder: [ask("a", kind="other", rawInput={"x": [0] * 50_000})],
    "an update that is not valid": lambda folder: [report("a" * 300, rawInput={"x": "x" * LONG})],
    "a request of nobody's session": lambda folder: [
        {"ask": "fs/read_text_file", "id": "r", "params": {"sessionId": "other", "path": "x" * LONG}}
    ],
    "options that are none": lambda folder: [ask("a", options=[{"optionId": "x"}] * 10_000, kind="read")],
}


@pytest.mark.parametrize("steps", REFUSED.values(), ids=REFUSED)
async def test_a_refused_request_is_freed_at_once(place: Place, steps):
    with (place.workspace / "long").open("wb") as file:
        file.truncate(40 << 30)
    place.person.decide = lambda card: {"option": "reject_once"}
    with cycles_with_errors() as found:
        await Player(place, steps(place.workspace)).play()
    assert found == []
