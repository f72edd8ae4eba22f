"""A hosted agent: one process, started when it is needed, and one session for each chat.

It starts the agent by its recipe, sends prompts and stops, kills an agent that ignores a stop, and notices when it has
died. What the agent asks and reports goes to ``client.py`` and ``session.py``; nothing is decided here.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from countersign.agents.acp.agent_process import Link, open_link
from countersign.agents.acp.client import Client
from countersign.agents.acp.identity import installed_version
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.recipes import Launch, label_of, prepare_launch, recipe_for, runs_bash
from countersign.agents.acp.session import FAREWELL_SECONDS, Session
from countersign.agents.acp.translate import BadMessage, as_object, read_stop, read_text
from countersign.gate import Gate, Resolution, Turn, Workers, sharing
from countersign.settings.policy import AgentConfig, Policy
from countersign.tools.shell.processes import ShellRegistry
from countersign.wire.agents import AgentLabel, AgentState
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, ModelError
from countersign.wire.threads import NoticeEvent, StopReason

log = limited_logger(__name__)

STOP_SECONDS = 5.0
"""An agent that has not ended its turn so long after a stop is killed."""
MOST_FOLLOW_UPS = 8
"""How often one prompt is followed up with what a person said when they denied something."""
LEFT = Resolution("interrupted", "change", "the agent ended its turn without waiting for the answer")
DIED = Resolution("interrupted", "agentExit", "the agent has ended")


class AcpAgent:
    """One configured agent in one workspace.

    The process is started by the first prompt, serves all chats of this agent, and is started anew by the next prompt
    once it has died. ``changed`` is called whenever ``state``, ``label`` or ``detail`` is another than before.
    """

    def __init__(
        self,
        config: AgentConfig,
        *,
        gate: Gate,
        policy: Callable[[], Policy],
        environment: Callable[[], Mapping[str, str]],
        gate_folder: Path,
        desk: ShellRegistry | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.config = config
        self.name = config.name
        self.recipe = recipe_for(config)
        self.state: AgentState = "idle"
        measured = next(iter(self.recipe.measured), None)
        self.label: AgentLabel
        self.label, self.detail = label_of(self.recipe, measured, measured, policy().workspace)
        self._fallen: str | None = None
        self._gate = gate
        self._policy = policy
        self._environment = environment
        self._gate_folder = gate_folder
        self._runs_bash = False
        self._desk = desk
        self._changed = changed
        self._link: Link | None = None
        self._starting = asyncio.Lock()
        self._threads: dict[str, Session] = {}
        self._sessions: dict[str, Session] = {}
        self._workers = Workers(self.name)
        self._client = Client(self.name, self._sessions.get)
        self._tasks: set[asyncio.Task[Any]] = set()

    async def prompt(self, text: str, turn: Turn) -> StopReason:
        """Send the person's words and serve the agent until its turn is over.

        Cancelled: the agent is told to stop, every open request ends as cancelled, an agent that does not end its turn
        in ``STOP_SECONDS`` is killed, and the cancellation is raised on.

        Raises:
            AgentExit: the agent could not be started, or died; its open requests have ended as interrupted.
            ModelError: the agent answered with an error.
        """
        link, session = await self._ready(turn.thread_id)
        session.begin(turn)
        turning = self._own(self._turn(link, session, text), f"{self.name} in {turn.thread_id}")
        try:
            return await asyncio.shield(turning)
        except asyncio.CancelledError:
            await self._stop(link, session)
            # The kill after STOP_SECONDS ends it; should even that fail, nobody waits for ever.
            await asyncio.wait({turning}, timeout=2 * STOP_SECONDS + FAREWELL_SECONDS)
            turning.cancel()
            raise

    async def cancel(self, thread_id: str) -> None:
        """Stop the running turn of this chat; ``prompt`` then returns "cancelled". Returns once the agent was told."""
        session, link = self._threads.get(thread_id), self._link
        if session is not None and link is not None and session.turn is not None:
            await self._stop(link, session)

    async def close(self) -> None:
        """End the process and everything it started; running prompts raise AgentExit, the next one starts it anew."""
        async with self._starting:
            link = self._link
            if link is not None:
                await link.process.end()
                await self._buried(link)

    # A turn.

    async def _turn(self, link: Link, session: Session, text: str) -> StopReason:
        ending = LEFT
        try:
            stop = await self._prompt_once(link, session, [*session.take_notes(), text])
            for _ in range(MOST_FOLLOW_UPS):
                if session.stopping or not session.urgent:
                    break
                await session.close_open(LEFT)
                if session.stopping:
                    break
                session.reopen()
                stop = await self._prompt_once(link, session, session.take_notes())
            return "cancelled" if session.stopping else stop
        except ConnectionError:
            ending = DIED
            if session.stopping:
                return "cancelled"
            raise AgentExit(f"the agent {self.name} has ended; the next prompt starts it again") from None
        except ModelError:
            if session.stopping:
                return "cancelled"
            raise
        finally:
            await session.end(ending)

    async def _prompt_once(self, link: Link, session: Session, words: list[str]) -> StopReason:
        blocks: list[Json] = [{"type": "text", "text": text} for text in words]
        result = await link.request("session/prompt", {"sessionId": session.session_id, "prompt": blocks})
        stop, events = read_stop(result)
        for event in events:
            session.emit(event)
        # Some agents end a turn as cancelled after a refusal; nobody cancelled it then.
        return "end_turn" if stop == "cancelled" and not session.stopping else stop

    async def _stop(self, link: Link, session: Session) -> None:
        if session.stopping or session.turn is None:
            return
        turn = session.turn
        session.stop()
        # Armed first: an agent that does not even read would hold the message up.
        self._own(self._kill_unless_ended(link, session, turn), f"stop {self.name}")
        await link.tell("session/cancel", {"sessionId": session.session_id})

    async def _kill_unless_ended(self, link: Link, session: Session, turn: Turn) -> None:
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await session.ended.wait()
        except TimeoutError:
            if session.turn is turn:
                log.warning("%s ignored a stop for %.0f s and is killed", self.name, STOP_SECONDS)
                link.process.kill()

    # The process and its sessions.

    async def _ready(self, thread_id: str) -> tuple[Link, Session]:
        async with self._starting:
            if self._link is not None and self._link.pipe.ended.is_set():
                await self._buried(self._link)
            link = self._link or await self._start()
            session = self._threads.get(thread_id)
            if session is None:
                session = self._threads[thread_id] = await self._new_session(link)
            return link, session

    async def _start(self) -> Link:
        self._set(state="starting")
        policy = self._policy()
        try:
            clean = self._environment()
            bare = agent_environment(clean, self.config, Launch((), {}), policy.workspace)
            launch = await asyncio.to_thread(prepare_launch, self.recipe, self.config, self._gate_folder, bare)
            environment = agent_environment(clean, self.config, launch, policy.workspace)
            self._runs_bash = await asyncio.to_thread(runs_bash, self.recipe, environment)
            with sharing(self._workers):
                link = await open_link(
                    self.name,
                    launch,
                    environment,
                    policy.workspace,
                    self._client.request,
                    self._client.notify,
                    terminals=self._desk is not None,
                )
        except (OSError, AgentExit, ModelError) as error:
            self._set(state="failed", detail=str(error))
            if isinstance(error, AgentExit):
                raise
            raise AgentExit(f"the agent {self.name} cannot be started: {error}") from None
        except BaseException:
            self._set(state="failed")
            raise
        self._link = link
        path = environment.get("PATH")
        found = await asyncio.to_thread(installed_version, self.recipe, launch.command, path, policy.workspace)
        label, detail = await asyncio.to_thread(label_of, self.recipe, found, link.version, policy.workspace)
        if self._fallen is not None:
            label, detail = "unguarded", self._fallen
        self._set(state="running", label=label, detail=detail)
        self._own(self._watch(link), f"watch {self.name}")
        return link

    async def _new_session(self, link: Link) -> Session:
        params: dict[str, Json] = {"cwd": self._policy().workspace, "mcpServers": []}
        if self.recipe.session_meta is not None:
            params["_meta"] = dict(self.recipe.session_meta)
        try:
            said = as_object(await link.ask_soon("session/new", params))
            session_id = read_text(said, "sessionId")
            if session_id in self._sessions:
                raise BadMessage("its session id is that of another chat")
        except (ConnectionError, BadMessage) as error:
            raise AgentExit(f"the agent {self.name} opened no session (`{error}`)") from None
        session = Session(
            session_id,
            agent=self.name,
            recipe=self.recipe,
            gate=self._gate,
            policy=self._policy,
            desk=self._desk,
            workers=self._workers,
            tell_unasked=self._fall,
            tell_mode=self._hear_mode,
            runs_bash=self._runs_bash,
        )
        self._sessions[session_id] = session
        await self._hold_mode(link, session)
        return session

    async def _hold_mode(self, link: Link, session: Session) -> None:
        """Put the session into the mode and options in which the agent asks; if it will not, the label says so."""
        wanted: list[tuple[str, dict[str, Json]]] = [
            ("session/set_config_option", _config_option(key, value)) for key, value in self.recipe.config.items()
        ]
        if self.recipe.mode is not None:
            wanted.append(("session/set_mode", {"modeId": self.recipe.mode}))
        for method, params in wanted:
            try:
                await link.ask_soon(method, {"sessionId": session.session_id, **params})
            except ModelError as error:
                self._fall(f"{self.name} could not be put into its asking mode: {error}")
            except ConnectionError:
                raise AgentExit(f"the agent {self.name} ended while its session was opened") from None

    def _hear_mode(self, session: Session, mode: str) -> None:
        link = self._link
        if self.recipe.mode is None or mode == self.recipe.mode or link is None:
            return
        message = f"{self.name} went into its mode `{mode}` by itself; it was put back and counts as unguarded"
        session.emit(NoticeEvent(level="warning", message=message))
        self._fall(message)
        self._own(self._hold_mode(link, session), f"hold the mode of {self.name}")

    async def _watch(self, link: Link) -> None:
        await link.gone()
        async with self._starting:
            await self._buried(link)

    async def _buried(self, link: Link) -> None:
        """The agent is gone: end what it had open, then everything that is left of it."""
        if self._link is not link:
            return
        self._link = None
        sessions = list(self._sessions.values())
        self._threads.clear()
        self._sessions.clear()
        self._set(state="exited")
        self._workers.close()
        await asyncio.gather(*(session.end(DIED) for session in sessions))
        await link.close()

    def _fall(self, why: str) -> None:
        """What the agent did speaks against its label, for as long as this server runs."""
        self._fallen = why
        self._set(label="unguarded", detail=why)

    def _set(
        self, *, state: AgentState | None = None, label: AgentLabel | None = None, detail: str | None = None
    ) -> None:
        self.state = state or self.state
        self.label = label or self.label
        self.detail = self.detail if detail is None else detail
        self._changed()

    def _own(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, _TOLD):
            log.error("%s failed", task.get_name(), exc_info=error)


def _config_option(key: str, value: Json) -> dict[str, Json]:
    """The params that set an option: the protocol takes the value of a switch only with its type."""
    switch: dict[str, Json] = {"type": "boolean"} if isinstance(value, bool) else {}
    return {"configId": key, "value": value, **switch}


_TOLD = (AgentExit, ModelError)
"""Errors that ``prompt`` raises to its caller; they need no second mention in the log."""


def agent_environment(clean: Mapping[str, str], config: AgentConfig, launch: Launch, workspace: str) -> dict[str, str]:
    """What the agent's process sees: the filtered environment, its own ``env`` and what its recipe sets (that wins)."""
    shell = shutil.which("bash", path=clean.get("PATH"))
    # The gate reads commands as bash does, so agents that run them in the person's shell are given bash.
    shells = {"SHELL": shell} if shell else {}
    own = {name: re.sub(r"\$\{env:(\w+)\}", lambda found: os.environ.get(found[1], ""), value)
           for name, value in config.env.items()}  # fmt: skip
    return {**clean, **shells, "PWD": workspace, **own, **launch.env}
