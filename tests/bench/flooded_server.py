"""``countersign serve`` that measures its event loop: how late a beat comes, and the longest single step.

A line on stderr, ``BEAT <seconds late> <seconds of the processor of one step> <the step>``, tells of each new worst; a
SIGUSR1 forgets them. The beat is wall time, and so holds whatever else the machine does; the step is the processor time
of the loop's own thread and does not.
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

_worst = {"late": 0.0, "step": 0.0, "name": "-"}
_run = events.Handle._run  # type: ignore[attr-defined]
_beating: set[asyncio.Task[None]] = set()


def _measured(handle: Any) -> None:
    if not _beating:
        _beating.add(asyncio.get_running_loop().create_task(_beat()))
    name = repr(getattr(handle._callback, "__self__", handle._callback))[:200].replace("\n", " ")
    began = time.thread_time()
    _run(handle)
    seconds = time.thread_time() - began
    if seconds > _worst["step"]:
        _worst.update(step=seconds, name=name)
        _tell()


async def _beat() -> None:
    while True:
        due = time.perf_counter() + BEAT
        await asyncio.sleep(BEAT)
        late = time.perf_counter() - due
        if late > _worst["late"]:
            _worst["late"] = late
            _tell()


def _tell() -> None:
    print(f"BEAT {_worst['late']:.4f} {_worst['step']:.4f} {_worst['name']}", file=sys.stderr, flush=True)


def _forget(*_: object) -> None:
    _worst.update(late=0.0, step=0.0, name="-")


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _forget)
    events.Handle._run = _measured  # type: ignore[attr-defined]
    sys.exit(main(["serve"]))
