"""The door for an agent's pre-tool hook: a socket that only this user can reach, where each call waits for its answer.

Some agents ask a program of the host before each tool call, reads included, and obey it above everything else. The
recipe says how that hook is configured and what its questions and answers look like; ``hook_program.py`` is the
program. What is asked here is judged like a request of the protocol (``hook_requests.py``).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from countersign.agents.acp import hook_program
from countersign.agents.acp.hook_program import LENGTH_BYTES
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.recipe import Hook
from countersign.gate import in_worker
from countersign.tools.shell.locked_folder import HOOKS_PREFIX, LockedFolder
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit
from countersign.wire.strict_json import MOST_BYTES, BadJson, parse_json

log = limited_logger(__name__)

MOST_WAITING = 256
"""Calls of one agent that wait at once; more are refused."""
HEAR_SECONDS = 30.0
"""How long a question may take to arrive."""
REASON = "{reason}"
"""Stands for the reason in a recipe's answer."""

Ask = Callable[[Json], Awaitable[str | None]]
"""Judges one call as the hook tells it: None where it is allowed, else the reason why it is refused."""


class HookDoor:
    """One agent's socket. A class because it owns the folder, the listener and the calls that wait."""

    def __init__(self, agent: str, hook: Hook, ask: Ask) -> None:
        self._agent = agent
        self._hook = hook
        self._ask = ask
        self._folder: LockedFolder | None = None
        self._server: asyncio.Server | None = None
        self._waiting: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where the hook asks."""
        # In a folder of its own below the temporary one: the name of a socket has room for some 100 bytes.
        return os.path.join("" if self._folder is None else self._folder.path, "hook")

    @property
    def command(self) -> tuple[str, ...]:
        """What the agent has to run as its hook; the interpreter is the one behind a virtual environment's link, which
        needs nothing beside its own library."""
        return (os.path.realpath(sys.executable), "-I", "-S", str(Path(hook_program.__file__).resolve()), self.address)

    async def open(self) -> None:
        """Listen.

        Raises:
            AgentExit: that cannot be done; the agent must not be started then.
        """
        try:
            self._folder = await asyncio.to_thread(LockedFolder, HOOKS_PREFIX)
            self._server = await asyncio.start_unix_server(self._serve, self.address)
            await asyncio.to_thread(os.chmod, self.address, 0o600)
        except OSError as error:
            await self.close()
            raise AgentExit(
                f"the agent {self._agent} is not started, because its hook cannot reach us: {error}"
            ) from None

    async def close(self) -> None:
        """Refuse everybody who waits, and end."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in list(self._waiting):
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)
        if self._folder is not None:
            await asyncio.to_thread(self._folder.blocking_remove)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            if len(self._waiting) <= MOST_WAITING and self._server is not None:
                answer = await self._answer(reader)
                if answer is not None:
                    writer.write(json.dumps(answer).encode() + b"\n")
                    await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            # Who gets no answer refuses (``hook_program.py``). Nobody waits for this task, so it just ends.
            pass
        except Exception:
            # INVARIANT (strictest): an error of ours denies.
            log.exception("a call of %s failed at its hook", self._agent)
        finally:
            self._waiting.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> Json:
        """What the hook shall print; None: it shall refuse by itself."""
        try:
            async with asyncio.timeout(HEAR_SECONDS):
                length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
                if length > MOST_BYTES:
                    return self._denial("the call is too large to be shown on a card")
                asked = await in_worker(parse_json, await reader.readexactly(length))
        except (TimeoutError, asyncio.IncompleteReadError, BadJson) as error:
            log.warning("the hook of %s asked what cannot be read (%s)", self._agent, type(error).__name__)
            return None
        judging = asyncio.ensure_future(self._ask(asked))
        # The hook says nothing more; the end of its words is its own end.
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({judging, leaving}, timeout=self._hook.seconds, return_when=asyncio.FIRST_COMPLETED)
            if judging.done():
                refused = judging.result()
                return dict(self._hook.allow) if refused is None else self._denial(refused)
            return None if leaving.done() else self._denial("nobody answered in time")
        finally:
            leaving.cancel()
            if not judging.done():
                judging.cancel()
            await asyncio.gather(leaving, judging, return_exceptions=True)

    def _denial(self, reason: str) -> Json:
        return _filled(dict(self._hook.deny), reason)


def _filled(answer: Json, reason: str) -> Json:
    match answer:
        case str():
            return answer.replace(REASON, reason)
        case list():
            return [_filled(each, reason) for each in answer]
        case dict():
            return {key: _filled(each, reason) for key, each in answer.items()}
        case _:
            return answer
