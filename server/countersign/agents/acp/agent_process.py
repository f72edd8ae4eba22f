"""The link to one running agent: its process, its connection, and what it said of itself when it was greeted."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

from countersign.agents.acp.client import capabilities
from countersign.agents.acp.connection import Connection, OnNotice, OnRequest, RpcError
from countersign.agents.acp.label import Claim
from countersign.agents.acp.login import AuthMethod, can_repeat, needs_login, read_auth_methods
from countersign.agents.acp.ndjson import Pipe
from countersign.agents.acp.offered import read_ahead
from countersign.agents.acp.process import AgentProcess, start_agent_process
from countersign.agents.acp.recipes import Launch
from countersign.agents.acp.translate import Raw, as_object
from countersign.settings.policy import AgentConfig
from countersign.tools.sandbox.confiner import Confined
from countersign.tools.visible import as_message, as_title
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, LoginNeeded, ModelError

log = logging.getLogger(__name__)

PROTOCOL_VERSION = 1
START_SECONDS = 60.0
"""For each answer while an agent starts: some unpack and load a hundred megabytes first."""


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A running agent that was greeted. ``claim`` is what it says of itself, ``reopens`` the method by which it takes
    up a session of before: one that repeats the session, so that it can be compared, before one that does not.
    ``takes_images`` and ``takes_resources``: whether a prompt for it may hold such; ``auth_methods``: how a person logs
    in to it. ``lists`` and ``forks``: whether it lists and forks sessions."""

    name: str
    process: AgentProcess
    pipe: Pipe
    connection: Connection
    claim: Claim
    reopens: Literal["session/load", "session/resume"] | None = None
    takes_images: bool = False
    takes_resources: bool = False
    auth_methods: tuple[AuthMethod, ...] = ()
    lists: bool = False
    forks: bool = False

    async def request(self, method: str, params: Mapping[str, Json]) -> Json:
        """Ask the agent and wait, for however long it takes.

        Raises:
            ModelError: it answered with an error; LoginNeeded where a login is missing.
            ConnectionError: it is gone.
        """
        return await _ask(self.name, self.connection, method, params)

    async def ask_soon(self, method: str, params: Mapping[str, Json]) -> Json:
        """Ask something that takes no model; as ``request``.

        Raises:
            AgentExit: no answer in ``START_SECONDS``.
        """
        return await _soon(self.name, self.connection, method, params)

    async def tell(self, method: str, params: Mapping[str, Json]) -> None:
        """Send a notification; to an agent that is gone it says nothing."""
        try:
            await self.connection.notify(method, params)
        except ConnectionError:
            log.info("%s has ended and did not receive %s", self.name, method)

    async def gone(self) -> None:
        """Wait until the process has ended or has closed its output."""
        waits = {asyncio.ensure_future(self.process.wait()), asyncio.ensure_future(self.pipe.ended.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def close(self) -> None:
        """End the process and everything it started, and the tasks of the connection."""
        await self.process.end()
        await self.connection.close()
        await self.process.drain()


async def open_link(
    name: str,
    launch: Launch,
    environment: Mapping[str, str],
    cwd: str,
    on_request: OnRequest,
    on_notice: OnNotice,
    *,
    terminals: bool,
    questions: bool,
    terminal_logins: bool,
    config: AgentConfig,
    settled: Container[str] = (),
    confined: Confined | None = None,
) -> Link:
    """Start the agent and greet it, in ``confined`` where one is given. ``settled``: variables that no login sets;
    ``terminal_logins``: the client runs commands in a terminal.

    Raises:
        AgentExit: it cannot be started, does not answer, or speaks another protocol; nothing of it is left.
    """
    try:
        process = await start_agent_process(name, launch.command, environment, cwd, confined)
    except OSError as error:
        if not await asyncio.to_thread(os.path.isdir, cwd):
            where = as_message(cwd)
            raise AgentExit(
                f"the agent {name} cannot be started in `{where}`, which is no folder; correct its `cwd`"
            ) from None
        raise AgentExit(f"the agent {name} cannot be started (`{error}`); check its command in the settings") from None

    pipe = Pipe(process.stdout, process.stdin)
    connection = Connection(name, pipe, on_request, on_notice, read_ahead)
    try:
        greeting: dict[str, Json] = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": capabilities(
                terminals=terminals, questions=questions, terminal_logins=terminal_logins and can_repeat(config)
            ),
            "clientInfo": {"name": "countersign", "version": "0.1.0"},
        }
        said = as_object(await _soon(name, connection, "initialize", greeting))
        if said.get("protocolVersion") != PROTOCOL_VERSION:
            raise AgentExit(f"the agent {name} does not speak version {PROTOCOL_VERSION} of ACP")
    except BaseException as error:
        await Link(name, process, pipe, connection, Claim()).close()
        if isinstance(error, ConnectionError):
            raise AgentExit(f"the agent {name} ended while it was started; its log says why") from None
        raise
    info = as_object(said.get("agentInfo"))
    claim = Claim(_title(info.get("name")), _title(info.get("version")))
    offered = as_object(said.get("agentCapabilities"))
    takes = as_object(offered.get("promptCapabilities"))
    images, resources = (takes.get(name) is True for name in ("image", "embeddedContext"))
    methods = read_auth_methods(said.get("authMethods"), config, settled)
    of_sessions = as_object(offered.get("sessionCapabilities"))
    lists, forks = (isinstance(of_sessions.get(name), dict) for name in ("list", "fork"))
    return Link(name, process, pipe, connection, claim, _reopens(offered), images, resources, methods, lists, forks)


def _reopens(capabilities: Raw) -> Literal["session/load", "session/resume"] | None:
    if capabilities.get("loadSession") is True:
        return "session/load"
    offered = as_object(capabilities.get("sessionCapabilities")).get("resume")
    return "session/resume" if isinstance(offered, dict) else None


def _title(value: Json) -> str | None:
    return as_title(value) if isinstance(value, str) else None


async def _soon(name: str, connection: Connection, method: str, params: Mapping[str, Json]) -> Json:
    try:
        async with asyncio.timeout(START_SECONDS):
            return await _ask(name, connection, method, params)
    except TimeoutError:
        raise AgentExit(f"the agent {name} did not answer {method} in {START_SECONDS:.0f} s") from None


async def _ask(name: str, connection: Connection, method: str, params: Mapping[str, Json]) -> Json:
    try:
        return await connection.request(method, params)
    except RpcError as error:
        if needs_login(error):
            raise LoginNeeded(f"the agent {name} needs a login (`{error}`)") from None
        told = as_object(error.data).get("details")
        more = f" ({as_message(told)})" if isinstance(told, str) else ""
        raise ModelError(f"the agent {name} answered {method} with `{error}`{more}") from None
