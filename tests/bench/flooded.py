"""How late the event loop's beat comes while a hostile peer floods the server: each attack of an agent and of a model
server by itself, then all of one agent at once.

The measured server is the real one; ``flooded_server.py`` says how its two figures are made independent of what else
the machine does. The lateness by the clock is printed beside them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.agents import flooding_agent, flooding_model
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import Peer
from tests.stdio.test_hostile_peers import SMALL, TOGETHER, chat, fill, model_server, settings, stopped, turn_of

HERE = Path(__file__).parent
LATE = "flooded: seconds that the server makes a beat late, the worst attack"
STEP = "flooded: the longest step of the event loop, processor seconds"
LIMITS = {LATE: 0.1, STEP: 0.05}

Beats = tuple[float, float, float, str]
"""The seconds late by the server's doing, those by the clock, the seconds of the longest step, and what that was."""


def run() -> dict[str, float]:
    attacks = [[f"agent-{attack.__name__}"] for attack in flooding_agent.ATTACKS]
    attacks += [[f"model-{attack}"] for attack in flooding_model.ATTACKS]
    with tempfile.TemporaryDirectory() as folder:
        beats = asyncio.run(_beats(Path(folder), [*attacks, TOGETHER["agent"]]))
    late = max(beats, key=lambda name: beats[name][0])
    step = max(beats, key=lambda name: beats[name][2])
    for name, (seconds, clock, longest, what) in beats.items():
        print(
            f"  {name:22} {seconds:7.3f} s late ({clock:.3f} by the clock), longest step {longest:.3f} s: {what}",
            file=sys.stderr,
        )
    return {LATE: beats[late][0], STEP: beats[step][2]}


async def _beats(folder: Path, attacks: list[list[str]]) -> dict[str, Beats]:
    workspace = folder / "ws"
    fill(workspace)
    beats = {}
    with model_server() as models:
        given = settings(workspace, models, SMALL)
        for number, attack in enumerate(attacks):
            # A server of its own for each: nothing is left of the attack before it.
            peer = Peer.python(HERE / "flooded_server.py")
            async with open_desk(workspace, folder / f"storage{number}", settings=given, peer=peer) as desk:
                beats[attack[0]] = await _beat(desk, attack)
    return beats


async def _beat(desk: Desk, attack: list[str]) -> Beats:
    await chat(desk)
    os.kill(desk.peer.pid, signal.SIGUSR1)
    attacks = asyncio.gather(*(turn_of(desk, name) for name in attack))
    for _ in range(3):
        await chat(desk)
    await stopped(desk, attacks)
    return _told(desk.peer.stderr)


def _told(stderr: str) -> Beats:
    last = [line for line in stderr.splitlines() if line.startswith("BEAT ")][-1]
    _, late, clock, step, what = last.split(" ", 4)
    return float(late), float(clock), float(step), what
