"""What the sandbox costs the work that is done in it: a C build, a download by its proxy, and files that it hides.

The build and the download are measured from the start of the supervised program to its end, in the sandbox and bare,
the kinds taken in turn. ``200 hidden files`` is what they add to the start of a program. Without ``cc`` or ``curl`` the
rows that need them are left out.
"""

from __future__ import annotations

import asyncio
import http.server
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from countersign.settings.policy import Policy
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.shell.supervised import spawn_supervised

RUNS = 5
STARTS = 25
SOURCES = 12
HIDDEN = 200
DOWNLOAD = 128 << 20
ENVIRONMENT = {"PATH": os.defpath}
BUILD = "for f in *.c; do cc -O2 -c $f || exit 1; done; cc -o program *.o"
SOURCE = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join(
    f'int f{number}_NAME(int a) {{ char b[9]; snprintf(b, 9, "%d", a); return atoi(b) + (int)strlen(b) + {number}; }}\n'
    for number in range(60)
)
LIMITS = {"confined, C build / bare": 1.1, "confined, download direct / by the proxy, time": 2.5}
"""A download at 0.4 of the direct speed takes 2.5 times as long."""


def run() -> dict[str, float]:
    return asyncio.run(_measure())


async def _measure() -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        workspace, storage, home = (Path(folder) / name for name in ("workspace", "storage", "home"))
        for made in (workspace, storage, home):
            made.mkdir()
        confiner = Confiner(storage)
        policy = Policy(workspace=str(workspace), home=str(home), sandbox_mode="commands")
        if not confiner.blocking_state(policy).available:
            print("confined: there is no sandbox here", file=sys.stderr)
            return found
        for name in ("cc", "curl"):
            if shutil.which(name) is None:
                print(f"confined: {name} is missing, so its row is left out", file=sys.stderr)
        if shutil.which("cc"):
            found |= await _build(confiner, policy)
        if shutil.which("curl"):
            found |= await _download(confiner, policy)
        found |= await _hide(confiner, policy)
    return found


async def _build(confiner: Confiner, policy: Policy) -> dict[str, float]:
    _write_sources(policy.workspace)
    bare, confined = [], []
    for _ in range(RUNS):
        bare.append(await _timed(["sh", "-c", BUILD], policy))
        confined.append(await _timed(["sh", "-c", BUILD], policy, confiner))
    return {
        "confined, C build, ms": median(confined) * 1000,
        "confined, C build / bare": median(confined) / median(bare),
    }


def _write_sources(folder: str) -> None:
    for number in range(SOURCES):
        main = "int main(void) { return 0; }\n" if number == 0 else ""
        Path(folder, f"s{number}.c").write_text(SOURCE.replace("NAME", str(number)) + main)


async def _download(confiner: Confiner, policy: Policy) -> dict[str, float]:
    with _server() as port:
        open_policy = replace(policy, sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
        fetch = f"curl -sS -o /dev/null {{}} http://127.0.0.1:{port}/"
        direct, proxied = [], []
        for _ in range(RUNS):
            direct.append(await _timed(["sh", "-c", fetch.format("--noproxy '*'")], policy))
            by_proxy = fetch.format("--noproxy '' --proxy $HTTP_PROXY")
            proxied.append(await _timed(["sh", "-c", by_proxy], open_policy, confiner))
        start = [await _timed(["true"], open_policy, confiner) for _ in range(RUNS)]
    return {
        "confined, download by the proxy, MiB/s": (DOWNLOAD >> 20) / median(proxied),
        "confined, download direct / by the proxy, time": (median(proxied) - median(start)) / median(direct),
    }


async def _hide(confiner: Confiner, policy: Policy) -> dict[str, float]:
    without, with_them = [], []
    hidden = Path(policy.workspace, "hidden")
    for _ in range(STARTS):
        without.append(await _timed(["true"], policy, confiner))
        await asyncio.to_thread(_write_hidden, hidden)
        with_them.append(await _timed(["true"], policy, confiner))
        shutil.rmtree(hidden)
    return {f"confined, {HIDDEN} hidden files, ms": (median(with_them) - median(without)) * 1000}


def _write_hidden(folder: Path) -> None:
    folder.mkdir()
    for number in range(HIDDEN):
        (folder / f".env.{number}").touch()


async def _timed(command: list[str], policy: Policy, confiner: Confiner | None = None) -> float:
    start = time.perf_counter()
    if confiner is None:
        process = await spawn_supervised(command, env=ENVIRONMENT, cwd=policy.workspace)
        assert await process.wait() == 0, command
        return time.perf_counter() - start
    reach: Callable[[str], bool] = lambda host: host in policy.sandbox_hosts  # noqa: E731  it is what is asked
    confined = await asyncio.to_thread(confiner.blocking_confine, policy, policy.workspace, may_reach=reach)
    process = await spawn_supervised(
        command,
        env={**ENVIRONMENT, **confined.environment()},
        cwd=policy.workspace,
        sandbox=confined.description,
        pass_fds=confined.pass_fds,
    )
    confined.close_ours()
    assert process.stderr is not None
    said = await process.stderr.read()
    assert await process.wait() == 0, (command, said)
    await asyncio.to_thread(confined.blocking_finish, set_aside=None)
    return time.perf_counter() - start


@contextmanager
def _server() -> Iterator[int]:
    """A server on this machine's loopback that gives the same bytes again and again."""
    piece = bytes(1 << 20)

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(DOWNLOAD))
            self.end_headers()
            for _ in range(DOWNLOAD // len(piece)):
                self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made.server_port
    made.shutdown()
    made.server_close()
