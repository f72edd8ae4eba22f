"""Two real servers on one storage folder, without processes: what is there to see of the life of an approval.

Each server is the whole ``App`` and its ``WorkspaceServer`` on a wire that only notes. Around them stand an editor that
keeps settings, a model that calls what its prompt says, a hosted agent that asks before it acts, and a disk. Time is a
clock that the test drives; the ledger's commits are let through one at a time, when nothing else is left to do, so that
a history runs the same way each time. What should be seen is left to ``model``.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from lsprotocol import types
from pydantic import Field

from countersign.agents.acp.label import Claim
from countersign.agents.models.base import AssistantMessage, CallPiece, Message, StopPiece, UserMessage, WantedCall
from countersign.gate.call import Effect, RunCommand
from countersign.gate.permit import Permit
from countersign.gate.receipt import Outcome
from countersign.lsp.app import App
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.wire.approvals import CommandPreview
from countersign.wire.errors import CountersignError, LedgerUnavailable
from countersign.wire.methods import BY_NAME
from countersign.wire.settings import SettingsUpdateParams, SettingsUpdateResult
from tests.agents.no_process import NoProcess

MEMORY = "/dev/shm"
"""A file system without a disk, where there is one: what is looked for here is order, not what a disk survives."""
START = datetime(2030, 1, 1, tzinfo=UTC)
SCRIPT = "job.sh"
NAMES = ("left", "right")
BUILTIN, GUEST = "Countersign", "Guest"


class DrivenLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still until it is moved, and whose threads do their work at once."""

    moment = 0.0

    def time(self) -> float:
        return self.moment

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def rest(self) -> None:
        """Until nothing is left to do but to wait."""
        rounds = 0
        # Timers that are due come up in the next round, and asyncio's own list says what is left.
        while rounds < 3 or self._ready:  # pyright: ignore[reportAttributeAccessIssue]
            rounds += 1
            await asyncio.sleep(0)


class Wire:
    """The connection of one window, seen from its server: notes what is sent and writes what an editor keeps."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.handlers: dict[str, Callable[[Any], Any]] = {}
        self.connected, self.dead = True, False
        self.sent: list[tuple[str, Any]] = []

    def on_initialize(self, callback: Any) -> None:
        pass

    on_initialized = on_shutdown = on_initialize

    def handle(self, name: str, handler: Callable[[Any], Any]) -> None:
        self.handlers[name] = handler

    def feature(self, *_: Any) -> Callable[[Any], Any]:
        return lambda handler: handler

    def notify(self, name: str, params: Any, said: str | None = None) -> None:
        if self.dead:
            return
        self.sent.append((name, params))
        if name in ("tool/approvalRequest", "tool/approvalResolved"):
            # By now it must be on disk that it is open, or how it ended.
            wanted = "open" if name == "tool/approvalRequest" else params.state
            state = self._world.rows_of("SELECT state FROM requests WHERE approval_id = ?", params.approval_id)
            if state != [(wanted,)]:
                self._world.ran.append(f"{name} before it was on disk: {state}")

    async def request(self, name: str, params: SettingsUpdateParams) -> SettingsUpdateResult:
        assert name == "settings/update"
        if self._world.refuses_writing:
            return SettingsUpdateResult(applied=False, reason="the file is read-only")
        self._world.write_setting(params)
        return SettingsUpdateResult(applied=True)

    def window_show_message(self, params: Any) -> None:
        pass


class Window:
    """One server and its window. ``held`` are commits that wait to be let through."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.wire = Wire(world)
        self.held: list[tuple[Sequence[Any], Future[int]]] = []
        self.tasks: list[asyncio.Task[Any]] = []

    async def start(self) -> None:
        self.app = App(self.wire)  # type: ignore[arg-type]
        self.app._language = SimpleNamespace(changed=lambda: None, watch=asyncio.Event().wait)  # type: ignore[assignment]
        options = {
            "settings": self.world.layers,
            "trusted": self.world.trusted,
            "storage": str(self.world.storage),
            "client": {"settingsUpdate": True, "confirm": True},
        }
        await self.app._initialize(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=self.world.workspace.as_uri(),
                initialization_options=options,
            )
        )
        house = self.app.house
        house.gate.grants._clock = self.world.loop.time
        house.builtin_agent._tools = lambda: {"shell": Probe(self.world)}
        self._put, self._close = house.ledger.put, house.ledger.close
        house.ledger.append, house.ledger.put, house.ledger.close = self.append, self._hold, self._close_all
        house.ledger.write = self.write
        house.ledger.owe = lambda *changes: None  # only a dead server owes here, and nothing of it reaches the disk
        await self.app._initialized()

    async def append(self, *changes: Any) -> int:
        """The ledger's ``append``."""
        return await asyncio.wrap_future(self._hold(changes))

    def write(self, changes: Sequence[Any], told: Callable[[Any], object]) -> None:
        """The ledger's ``write``."""
        done = asyncio.wrap_future(self._hold(changes))
        done.add_done_callback(lambda done: None if done.cancelled() else told(done.exception() or done.result()))

    def _hold(self, changes: Sequence[Any]) -> Future[int]:
        done: Future[int] = Future()
        if self.wire.dead:
            done.set_exception(LedgerUnavailable("this server is dead"))
        else:
            self.held.append((changes, done))
        return done

    def commit(self) -> bool:
        """Let the oldest commit through; whether there was one."""
        if not self.held:
            return False
        changes, done = self.held.pop(0)
        result = self._put(changes)
        error = result.exception()
        if done.set_running_or_notify_cancel():
            done.set_exception(error) if error is not None else done.set_result(result.result())
        return True

    def _close_all(self) -> None:
        while self.commit():
            pass
        self._close()

    def call(self, name: str, params: Mapping[str, Any]) -> asyncio.Task[Any]:
        """Send a request or notification; what its handler raises of ours is the result."""

        async def run() -> Any:
            try:
                made = self.wire.handlers[name](BY_NAME[name].params.model_validate(dict(params)))
                return await made if asyncio.iscoroutine(made) or asyncio.isfuture(made) else made
            except CountersignError as error:
                return error

        task = self.world.loop.create_task(run())
        self.tasks.append(task)
        return task

    async def close(self) -> None:
        """The window is closed or reloaded."""
        self.wire.connected = False
        await self.app._shutdown()

    async def kill(self) -> None:
        """The process is gone: nothing of it reaches the disk, the editor or the world any more."""
        self.wire.dead, self.wire.connected, self.held = True, False, []
        chats = self.app.house.transcripts
        chats.add_events = chats.add_messages = chats.update_thread = lambda *_, **__: None  # type: ignore[method-assign]
        await self.app._shutdown()


class ProbeArguments(Arguments):
    command: str = Field(min_length=1)


class Probe:
    """Stands for the shell: it is judged, shown and bound like it, and what it does is noted."""

    name, kind, category, description, arguments = "shell", "execute", "execute", "a command", ProbeArguments

    def __init__(self, world: World) -> None:
        self._world = world

    def effects(self, arguments: ProbeArguments, policy: Policy) -> tuple[Effect, ...]:
        return (RunCommand(arguments.command, policy.workspace),)

    def prepare(self, arguments: ProbeArguments, policy: Policy) -> Prepared[None]:
        text, cwd = arguments.command, policy.workspace
        preview = CommandPreview(command=text, cwd=cwd, parts=[])
        return Prepared(effects=self.effects(arguments, policy), preview=preview, title=text, cwd=cwd, payload=None)

    async def run(self, permit: Permit, prepared: Prepared[None], bench: ToolContext) -> Outcome:
        self._world.effect(str(spend(permit, prepared).arguments["command"]))
        return Outcome(True, "done")


class Caller:
    """A model that calls what its prompt names, all at once, and then ends its turn."""

    async def stream(self, system: str, messages: Sequence[Message], tools: Any) -> AsyncIterator[Any]:
        last = messages[-1]
        if isinstance(last, UserMessage):
            for number, command in enumerate(json.loads(last.text)):
                yield CallPiece(WantedCall(str(number), "shell", {"command": command}))
        calls = isinstance(last, UserMessage) and not isinstance(last, AssistantMessage)
        yield StopPiece("tool_use" if calls else "end_turn")


class Guest:
    """A hosted agent at the other end of a link: asks for all its prompt names, then does what it was allowed."""

    name = "guest"
    claim = Claim(None, None)
    connection = reopens = None
    takes_images = takes_resources = lists = forks = False
    auth_methods = ()

    def __init__(self, world: World, on_request: Any, on_notice: Any) -> None:
        self._world, self._on_request, self._on_notice = world, on_request, on_notice
        self._sessions = 0
        self._over = asyncio.Event()
        self.pipe = SimpleNamespace(ended=self._over)
        self.process = NoProcess(self._over)

    def die(self) -> None:
        self._over.set()

    async def close(self) -> None:
        self._over.set()

    async def gone(self) -> None:
        await self._over.wait()

    async def tell(self, method: str, params: Any) -> None:
        pass

    async def ask_soon(self, method: str, params: Any) -> Any:
        self._sessions += 1
        return {"sessionId": f"session-{self._sessions}"}

    async def request(self, method: str, params: Any) -> Any:
        turn = asyncio.ensure_future(self._turn(params))
        gone = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({turn, gone}, return_when=asyncio.FIRST_COMPLETED)
            if self._over.is_set():
                raise ConnectionError("the agent is gone")
            return turn.result()
        finally:
            turn.cancel()
            gone.cancel()

    async def _turn(self, params: Any) -> Any:
        # What was refused is told in a block of its own, before the person's words or without them.
        said = params["prompt"][-1]["text"]
        commands = json.loads(said) if said.startswith("[") else []
        await asyncio.gather(*(self._ask(params["sessionId"], command) for command in commands))
        return {"stopReason": "end_turn"}

    async def _ask(self, session: str, command: str) -> None:
        call_id = self._world.next_name()
        call = {"toolCallId": call_id, "kind": "execute", "title": command, "rawInput": {"command": command}}
        kinds = ["reject_once", *([] if command in self._world.no_allow else ["allow_once"]), "allow_always"]
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        asked = {"sessionId": session, "toolCall": call, "options": options}
        answer = await self._on_request(call_id, "session/request_permission", asked)
        assert answer["outcome"].get("optionId") != "allow_always", "an agent's own always was chosen"
        if answer["outcome"].get("optionId") == "allow_once":
            self._world.effect(command)
            update = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "completed"}
            await self._on_notice("session/update", {"sessionId": session, "update": update})


class NoWatch:
    """Stands for the watcher of the workspace, which hears of changes from threads of its own."""

    def __init__(self, *_: Any) -> None:
        pass

    async def begin(self, listener: Any) -> None:
        pass

    async def end(self, listener: Any) -> None:
        pass

    async def close(self) -> None:
        pass


class World:
    """Both windows and all that they share: the disk, the settings, the clock."""

    def __init__(self) -> None:
        self.loop = DrivenLoop()
        self.folder = tempfile.TemporaryDirectory(
            prefix="countersign-stateful-", dir=MEMORY if os.path.isdir(MEMORY) else None
        )
        self.storage, self.workspace = Path(self.folder.name, "storage"), Path(self.folder.name, "work")
        self.workspace.mkdir()
        self.script = self.workspace / SCRIPT
        self.write_script(0)
        self.layers: dict[str, Any] = {
            "user": {"agents": {GUEST: {"type": "acp", "command": "guest"}}, "permissions": {}},
            "workspace": {"permissions": {}},
        }
        self.trusted, self.refuses_writing = True, False
        self.ran: list[str] = []
        self.no_allow: set[str] = set()
        self.windows: dict[str, Window] = {}
        self.guests: list[Guest] = []
        self._names = 0
        self._seen: dict[str, int] = {}
        self._patches = ExitStack()
        self._patch()
        self._ledger: sqlite3.Connection | None = None
        self._last_row = 0

    def _patch(self) -> None:
        world = self

        class Clock(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:
                return START + timedelta(seconds=world.loop.moment)

        async def open_guest(_name: Any, _launch: Any, _env: Any, _ws: Any, on_request: Any, on_notice: Any, **_: Any):
            self.guests.append(Guest(self, on_request, on_notice))
            return self.guests[-1]

        for target, new in (
            ("countersign.gate.approvals.records.datetime", Clock),
            ("countersign.lsp.builtin_agent.model_for", lambda *_: Caller()),
            ("countersign.agents.acp.host.open_link", open_guest),
            # Else the reason on a card would depend on the login shell of whoever runs these tests.
            ("countersign.agents.acp.host.runs_bash", lambda *_: True),
            ("countersign.agents.acp.change_watch.ChangeWatch", NoWatch),
            # The clock stands still, so a rest after work would never end.
            ("countersign.gate.workers.LIGHT", math.inf),
        ):
            self._patches.enter_context(mock.patch(target, new))

    # The clock and the tasks.

    def settle(self) -> None:
        """Let everything go on until only time or a person is waited for."""
        while True:
            self.rest()
            if not any(window.commit() for window in self.windows.values()):
                return

    def rest(self) -> None:
        """Let everything go on that needs no commit."""
        self.loop.run_until_complete(self.loop.rest())

    def run(self, work: Any, *, patience: float = 0.0) -> Any:
        """Carry out one thing to its end; it may take so long by the clock."""
        task = self.loop.create_task(work)
        self.settle()
        if not task.done() and patience:
            self.advance(patience)
        return task.result()

    def advance(self, seconds: float) -> None:
        self.loop.moment += seconds
        self.settle()

    # What changes around the servers.

    def start(self, *names: str) -> None:
        """Start these servers, all at once."""
        starting = []
        for name in names:
            self.windows[name] = window = Window(self)
            self._seen[name] = 0
            starting.append(window.start())

        async def together() -> None:
            await asyncio.gather(*starting)

        self.run(together(), patience=1.0)

    def leave(self, name: str, *, kill: bool) -> None:
        window = self.windows[name]
        self.run(window.kill() if kill else window.close())

    def forget(self, name: str) -> None:
        window = self.windows.pop(name)
        for task in window.tasks:
            task.cancel()
        self.rest()
        if window.wire.dead:
            window._close()

    def write_script(self, version: int) -> None:
        self.script.write_text(f"echo {version}\n")

    def write_setting(self, params: SettingsUpdateParams) -> None:
        """The editor writes one setting; every window hears of it a moment later."""
        place = self.layers[params.layer]
        for key in params.path[:-1]:
            place = place.setdefault(key, {})
        place[params.path[-1]] = params.value
        self.loop.call_soon(self.tell_settings)

    def tell_settings(self) -> None:
        layers = json.loads(json.dumps(self.layers))
        for window in self.windows.values():
            if window.wire.connected:
                window.call("settings/changed", {"settings": layers, "trusted": self.trusted})

    def effect(self, command: str) -> None:
        """Something is done in the world. By then it must be on disk that it was begun."""
        rows = self.rows_of("SELECT tool_call_id FROM entries WHERE phase = 'started' AND input = ?",
                            json.dumps({"command": command}, separators=(",", ":")))  # fmt: skip
        ended = self.rows_of("SELECT tool_call_id FROM entries WHERE phase = 'finished'")
        open_now = [row for row in rows if row not in ended]
        self.ran.append(command if open_now else f"{command} without a durable start")

    def next_name(self) -> str:
        self._names += 1
        return f"guest-{self._names}"

    # What is to be seen.

    def rows_of(self, sql: str, *values: Any) -> list[Any]:
        if self._ledger is None:
            self._ledger = sqlite3.connect(self.storage / "ledger.db", isolation_level=None)
        return self._ledger.execute(sql, values).fetchall()

    def new_rows(self) -> list[Any]:
        rows = self.rows_of("SELECT seq, tool_call_id, input, phase, verdict, decided_by, approval_id, outcome"
                            " FROM entries WHERE seq > ? ORDER BY seq", self._last_row)  # fmt: skip
        self._last_row = rows[-1][0] if rows else self._last_row
        return rows

    def news(self, name: str) -> list[tuple[str, Any]]:
        """What this window was sent since the last look."""
        sent = self.windows[name].wire.sent
        new, self._seen[name] = sent[self._seen[name] :], len(sent)
        return new

    def close(self) -> None:
        try:
            for name in list(self.windows):
                if self.windows[name].wire.connected:
                    self.leave(name, kill=False)
                self.forget(name)
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.rest()
        finally:
            if self._ledger is not None:
                self._ledger.close()
            self._patches.close()
            self.loop.close()
            self.folder.cleanup()
