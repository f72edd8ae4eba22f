"""The Nth system call of an approval's way made to fail, or the server killed at it: strace stands in for a broken
machine.

One case is one approval, from the prompt to its end, while the Nth call of one name fails in whichever thread gets so
far. Of every case one of two things must be true: it did not run, and whoever asked was told so; or it ran, and the
ledger said so first. Nobody waits for ever, and the server is whole again afterwards.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.stdio.desk import Desk, open_desk
from tests.stdio.peer import BOUND, Peer, RpcError
from tests.survival.post_crash_checks import LOOK_EVERY, Remains, blocking_remains, broken_chain, left_open, unrecorded

Json = Any
CALLS: Mapping[str, Sequence[str]] = {
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"),
    "fsync": ("ENOSPC", "EIO"),
    "fdatasync": ("ENOSPC", "EIO"),
    "openat": ("ENOSPC", "EIO", "EMFILE"),
    "rename": ("ENOSPC", "EIO"),
    "renameat": ("ENOSPC", "EIO"),
    "renameat2": ("ENOSPC", "EIO"),
    "linkat": ("ENOSPC", "EIO"),
    "unlinkat": ("EIO",),
    "pipe2": ("EMFILE",),
    "socketpair": ("EMFILE",),
}
"""System calls that an approval's way makes, and how each is made to fail."""
KILL = "KILL"
"""In place of an error: the process that makes the call is killed there, before it is made."""
KILLED_CALLS = (*CALLS, "sendto", "close", "flock", "fchmod", "fchown", "vfork", "clone3", "execve", "setsid")
"""Calls at which a kill can leave another state behind: between two of them nothing outside the process changes."""
WAYS = ("create", "edit", "delete", "move", "run")
"""What is approved: a new file, a changed one, one that goes, one that gets another name, a command."""
SERIES = [(way, call, error) for way in WAYS for call, errors in CALLS.items() for error in errors]
KILLS = [(way, call, KILL) for way in WAYS for call in KILLED_CALLS]
MOST = 200
"""No way makes so many calls of one name in one thread."""
WHOLE_WAY = 4 * BOUND
"""Seconds for a case; each of its steps has its own bound."""


@dataclass(frozen=True)
class Case:
    way: str
    call: str
    error: str
    number: int

    def __str__(self) -> str:
        end = "ends in a kill" if self.error == KILL else f"fails with {self.error}"
        return f"{self.way}: {self.call} number {self.number} {end}"


@dataclass
class Heard:
    """What the client was told in one case."""

    refusals: list[str] = field(default_factory=list)
    results: list[Json] = field(default_factory=list)
    gone: bool = False


@dataclass(frozen=True)
class Told:
    """How a case ended. ``hit``: the call that was to fail was made at all."""

    hit: bool
    faults: tuple[str, ...]


def failures(seed: int, numbers: range) -> Iterator[str]:
    """What is wrong, one sentence each, in the series of these numbers; the seed makes no difference."""
    for number in numbers:
        way, call, error = SERIES[number % len(SERIES)]
        yield from asyncio.run(tried(Case(way, call, error, count) for count in range(1, MOST)))


def kills(seed: int, numbers: range) -> Iterator[str]:
    """As ``failures``, where the server is killed at the call."""
    for number in numbers:
        way, call, kill = KILLS[number % len(KILLS)]
        yield from asyncio.run(tried(Case(way, call, kill, count) for count in range(1, MOST)))


async def tried(cases: Iterable[Case], hits: list[Case] | None = None) -> list[str]:
    """What is wrong in these cases, on one server.

    Ends with the first case in which nothing failed; or, with a list for those in which something did, with the last.
    """
    root = Path(tempfile.mkdtemp(prefix="failing-"))
    bench, faults = ToolContext(root), list[str]()
    try:
        for case in cases:
            told = await bench.try_out(case)
            faults += told.faults
            if hits is None and not told.hit:
                break
            if hits is not None and told.hit:
                hits.append(case)
        return faults + await bench.judge_the_rest()
    finally:
        await bench.close()
        shutil.rmtree(root, ignore_errors=True)


class ToolContext:
    """A server on a storage folder, started again whenever it has gone; tokens for what it shall do."""

    def __init__(self, root: Path) -> None:
        self.workspace, self.storage = root / "work", root / "storage"
        self._count = 0
        self._server: Any = None
        self._desk: Desk | None = None

    async def desk(self) -> Desk:
        """The server of now."""
        desk = self._desk
        if desk is None or desk.peer.has_exited:
            await self.close()
            self._server = open_desk(self.workspace, self.storage)
            self._desk = desk = await self._server.__aenter__()
        return desk

    async def close(self) -> None:
        """End the server in an orderly way, if it is there."""
        server, self._server, self._desk = self._server, None, None
        if server is not None:
            await server.__aexit__(None, None, None)

    def token(self) -> str:
        self._count += 1
        return f"tok-case-0-{self._count}-end"

    async def try_out(self, case: Case) -> Told:
        """One case, judged."""
        token = self.token()
        text = blocking_prepare(self.workspace, case.way, token)
        desk = await self.desk()
        heard = Heard()
        log = self.storage.parent / "strace.log"
        async with failing(desk.peer, case, log):
            try:
                async with asyncio.timeout(WHOLE_WAY):
                    await ask_and_approve(desk, token, text, heard)
            except TimeoutError:
                return Told(True, (f"{case}: nothing was said within {WHOLE_WAY} s",))
            if heard.gone:
                await desk.peer.exit_code()
        faults = [*judge(blocking_case_remains(self.workspace, self.storage, case.way, token), token, heard)]
        if not heard.gone and token in json.dumps(await desk.peer.request("tool/pendingApprovals", {})):
            faults.append("the card is still open")
        # A kill may hit a child of the server, such as the command itself.
        mark = "killed by SIGKILL" if case.error == KILL else "(INJECTED)"
        hit = heard.gone or mark in log.read_text()
        return Told(hit, tuple(f"{case}: {fault}; told were {heard}" for fault in faults))

    async def judge_the_rest(self) -> list[str]:
        """After many cases: a call runs as ever, and a new server finds nothing half-way."""
        desk, heard, token = await self.desk(), Heard(), self.token()
        await ask_and_approve(desk, token, blocking_prepare(self.workspace, "create", token), heard)
        faults = [] if heard.results and heard.results[-1]["success"] else [f"afterwards nothing runs: {heard}"]
        await self.close()
        remains = await self._put_in_order(await self.desk())
        await self.close()
        return [*faults, *unrecorded(remains), *left_open(remains), *broken_chain(self.storage)]

    async def _put_in_order(self, desk: Desk) -> Remains:
        """What there is once the new server has ended what was half-way, or has had its time for it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + BOUND
        while [*left_open(remains := blocking_remains(self.workspace, self.storage))] and loop.time() < until:
            # What was open when a server lost its client is offered again.
            for card in (await desk.peer.request("tool/pendingApprovals", {}))["approvals"]:
                await desk.answer(card, None)
            await asyncio.sleep(LOOK_EVERY)
        return remains


def blocking_prepare(workspace: Path, way: str, token: str) -> str:
    """The prompt for this way, once what it needs is there."""
    workspace.mkdir(exist_ok=True)
    if way == "edit":
        (workspace / f"{token}.txt").write_text("before")
        return f"edit {token}.txt: replace before with {token}"
    if way in ("delete", "move"):
        (workspace / f"{token}.txt").write_text("before")
        return f"delete {token}.txt" if way == "delete" else f"move {token}.txt to {token}-moved.txt"
    return f"create {token}.txt saying {token}" if way == "create" else f"run echo {token} >> log.txt"


def blocking_case_remains(workspace: Path, storage: Path, way: str, token: str) -> Remains:
    """Return what a case left behind, with its effect counted also where no content shows it."""
    remains = blocking_remains(workspace, storage)
    taken = blocking_taken(workspace, way, token)
    return remains if taken is None else replace(remains, effects=+Counter({token: int(taken)}))


def blocking_taken(workspace: Path, way: str, token: str) -> bool | None:
    """Whether the file is gone from its name, for ways whose effect no content shows."""
    return not (workspace / f"{token}.txt").exists() if way in ("delete", "move") else None


async def ask_and_approve(desk: Desk, token: str, text: str, heard: Heard) -> None:
    """A prompt in a new chat, an approval for every card that comes, and the turn's end; what is said is noted."""
    seen, thread = len(desk.peer.messages), None
    try:
        thread = await desk.thread()
        turn = desk.prompt(thread, text)
        turn.add_done_callback(lambda done: done.cancelled() or done.exception())
        while not turn.done():
            # What could not be looked at again counts as changed, and comes back as a new card.
            card = asyncio.ensure_future(desk.card(token))
            await asyncio.wait({turn, card}, return_when=asyncio.FIRST_COMPLETED)
            if card.done():
                await _approve(desk, card.result(), heard)
            card.cancel()
        await turn
    except RpcError as error:
        heard.refusals.append(str(error))
    except ConnectionError:
        heard.gone = True
    for message in desk.peer.messages[seen:]:
        if message.get("method") == "thread/update" and message["params"]["threadId"] == thread:
            heard.results += [event for event in message["params"]["events"] if event["type"] == "toolResult"]


async def _approve(desk: Desk, card: Json, heard: Heard) -> None:
    try:
        await desk.answer(card)
    except RpcError as error:
        heard.refusals.append(str(error))
        if error.kind not in ("stale", "alreadyResolved"):
            # The card stays: whoever pressed the button presses it once more.
            await desk.answer(card)


def judge(remains: Remains, token: str, heard: Heard) -> Iterator[str]:
    """Not run and said so, or run and recorded; what speaks against both."""
    yield from unrecorded(remains.about(token))
    told_done = any(result["success"] for result in heard.results)
    told_not = bool(heard.refusals) or heard.gone or any(not result["success"] for result in heard.results)
    if remains.effects[token]:
        if any("nothing was" in result["output"] for result in heard.results):
            yield "it ran, and was said not to have"
    elif told_done:
        yield "it did not run, and was said to have"
    elif not told_not:
        yield "it did not run, and nobody was told"


@asynccontextmanager
async def failing(peer: Peer, case: Case, log: Path) -> AsyncIterator[None]:
    """While inside, the Nth such call of each of the server's threads and children fails; ``log`` says which did."""
    strace = await asyncio.create_subprocess_exec(
        "strace", "-f", "-p", str(peer.pid), "-o", str(log), "-e", f"trace={case.call}",
        "-e", f"inject={case.call}:{'signal' if case.error == KILL else 'error'}={case.error}:when={case.number}",
        stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert strace.stderr is not None
    try:
        said = await asyncio.wait_for(strace.stderr.readline(), BOUND)
        assert b"attached" in said, f"strace says {said!r}"
        yield
    finally:
        if strace.returncode is None:
            strace.send_signal(signal.SIGINT)
        await asyncio.wait_for(strace.communicate(), BOUND)
