"""How late the event loop's beat comes while a hostile peer floods the server: each attack of an agent and of a model
server by itself, then all of one agent at once.

The measured server is the real one (``flooded_server.py``). Beside each attack a process of its own beats that does
nothing else: what it is late is the machine's doing, and taken from the server's. The longest step is processor time of
the loop's own thread, which other work on the machine does not change.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.agents import flooding_agent, flooding_model
from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import Peer
from tests.stdio.test_hostile_peers import SMALL, TOGETHER, chat, fill, model_server, settings, stopped, turn_of

HERE = Path(__file__).parent
LATE = "flooded: seconds late beside the worst attack, less an idle process's"
STEP = "flooded: the longest step of the event loop, processor seconds"
LIMITS = {LATE: 0.1, STEP: 0.05}

IDLE = """
import signal, sys, time
worst = 0.0
def tell(*_):
    print(worst, flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, tell)
print("", flush=True)
while True:
    due = time.perf_counter() + 0.01
    time.sleep(0.01)
    worst = max(worst, time.perf_counter() - due)
"""


def run() -> dict[str, float]:
    attacks = [[f"agent-{attack.__name__}"] for attack in flooding_agent.ATTACKS]
    attacks += [[f"model-{attack}"] for attack in flooding_model.ATTACKS]
    with tempfile.TemporaryDirectory() as folder:
        beats = asyncio.run(_beats(Path(folder), [*attacks, TOGETHER["agent"]]))
    late = max(beats, key=lambda name: beats[name][0])
    step = max(beats, key=lambda name: beats[name][1])
    for name, (seconds, longest, what) in beats.items():
        print(f"  {name:22} {seconds:7.3f} s late, longest step {longest:.3f} s: {what}", file=sys.stderr)
    return {LATE: beats[late][0], STEP: beats[step][1]}


async def _beats(folder: Path, attacks: list[list[str]]) -> dict[str, tuple[float, float, str]]:
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


async def _beat(desk: Desk, attack: list[str]) -> tuple[float, float, str]:
    """The seconds late less those of an idle process, the longest step in seconds, and what that was."""
    await chat(desk)
    with _idle() as idle:
        os.kill(desk.peer.pid, signal.SIGUSR1)
        attacks = asyncio.gather(*(turn_of(desk, name) for name in attack))
        for _ in range(3):
            await chat(desk)
        await stopped(desk, attacks)
        late, longest, what = _told(desk.peer.stderr)
        idle.terminate()
        assert idle.stdout is not None
        floor = float(idle.stdout.read())
    return max(0.0, late - floor), longest, what


def _told(stderr: str) -> tuple[float, float, str]:
    last = [line for line in stderr.splitlines() if line.startswith("BEAT ")][-1]
    _, late, step, what = last.split(" ", 3)
    return float(late), float(step), what


@contextmanager
def _idle() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", IDLE], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()  # it listens to the signal
            yield child
        finally:
            child.kill()
