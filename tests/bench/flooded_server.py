"""``countersign serve`` that measures its event loop: how late a beat comes, and the longest single step.

A line on stderr, ``BEAT <late> <late by the clock> <step> <the step>``, tells of each new worst; a SIGUSR1 forgets
them. ``late`` is what the server itself delays a beat: the seconds by which it comes after it is due, but no more than
all threads of the server have used the processor since the beat before. On a quiet machine that is nearly the lateness
by the clock, because a beat waits for the loop or for the interpreter's lock; what else a busy machine does is left
out. ``step`` is the processor time of one step in the loop's own thread.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from asyncio import events
from typing import Any

from countersign.cli import main

BEAT = 0.01

_worst = {"late": 0.0, "clock": 0.0, "step": 0.0}
_name = ["-"]
_run = events.Handle._run  # type: ignore[attr-defined]
_beating: set[asyncio.Task[None]] = set()


def _measured(handle: Any) -> None:
    if not _beating:
        _beating.add(asyncio.get_running_loop().create_task(_beat()))
    callback = getattr(handle._callback, "__self__", handle._callback)
    began = time.thread_time()
    _run(handle)
    seconds = time.thread_time() - began
    if seconds > _worst["step"]:
        _worst["step"], _name[0] = seconds, repr(callback)[:200].replace("\n", " ")
        _tell()


async def _beat() -> None:
    while True:
        due, used = time.perf_counter() + BEAT, time.process_time()
        await asyncio.sleep(BEAT)
        clock = time.perf_counter() - due
        late = min(clock, time.process_time() - used)
        if late > _worst["late"] or clock > _worst["clock"]:
            _worst["late"], _worst["clock"] = max(late, _worst["late"]), max(clock, _worst["clock"])
            _tell()


def _tell() -> None:
    print(f"BEAT {' '.join(f'{each:.4f}' for each in _worst.values())} {_name[0]}", file=sys.stderr, flush=True)


def _forget(*_: object) -> None:
    _worst.update(late=0.0, clock=0.0, step=0.0)
    _name[0] = "-"


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _forget)
    events.Handle._run = _measured  # type: ignore[attr-defined]
    sys.exit(main(["serve"]))
