"""What we answer an agent: the methods that ACP gives a client, on raw messages.

The SDK's router lets ``_meta`` overwrite a request's own fields, drops what it does not know and answers null for what
nobody implements; so this is our own. It looks up the session, refuses forged and unknown messages, and says a refusal
in the protocol's words. What is asked is decided at the gate, in ``session.py`` and at the doors.

INVARIANT (strictest): nothing is answered from ``_meta``; a request that could be read in two ways is refused.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from countersign.agents.acp.client_methods import Denied, Failed, Missing
from countersign.agents.acp.connection import RpcError
from countersign.agents.acp.files import read_text_file, write_text_file
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.questions import Questions, create_elicitation
from countersign.agents.acp.replay import Replay
from countersign.agents.acp.session import Session
from countersign.agents.acp.terminals import (
    create_terminal,
    kill_terminal,
    release_terminal,
    terminal_output,
    wait_for_terminal_exit,
)
from countersign.agents.acp.translate import BadMessage, Raw, as_object, read_text
from countersign.tools.visible import as_title
from countersign.wire.base import Json

log = limited_logger(__name__)

DENIED = -32000
MISSING = -32002
INVALID = -32602
NO_METHOD = -32601
FAILED = -32603
CANCELLED = -32800
"""Of a request that was taken back by whoever sent it."""

Method = Callable[[Session, Raw], Awaitable[Any]]


async def _request_permission(session: Session, params: Raw) -> Any:
    return await session.request_permission(params)


METHODS: Mapping[str, Method] = {
    "session/request_permission": _request_permission,
    "fs/read_text_file": read_text_file,
    "fs/write_text_file": write_text_file,
    "terminal/create": create_terminal,
    "terminal/output": terminal_output,
    "terminal/wait_for_exit": wait_for_terminal_exit,
    "terminal/kill": kill_terminal,
    "terminal/release": release_terminal,
    "elicitation/create": create_elicitation,
}


def capabilities(*, terminals: bool, questions: bool, terminal_logins: bool) -> dict[str, Json]:
    """What we tell agents that we can do; all of it but questions and logins leads through the gate."""
    told: dict[str, Json] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": terminals,
        "session": {"configOptions": {"boolean": {}}},
    }
    if terminal_logins:
        told["auth"] = {"terminal": True}
    return {**told, "elicitation": {"form": {}, "url": {}}} if questions else told


class Client:
    """Our side of one agent's connection. A class because it knows the sessions and which request is which task.

    ``find`` gives an open session, ``find_replay`` one that is being loaded: it hears updates, and no request is of it.
    """

    def __init__(
        self,
        agent: str,
        find: Callable[[str], Session | None],
        find_replay: Callable[[str], Replay | None] = lambda _: None,
        questions: Questions | None = None,
    ) -> None:
        self._agent = agent
        self._find = find
        self._find_replay = find_replay
        self._questions = questions
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._taken_back: set[int] = set()

    async def request(self, request_id: Json, method: str, params: Json) -> Any:
        """The result of a request.

        Raises:
            RpcError: the error to answer with.
        """
        handler = METHODS.get(method)
        if handler is None:
            raise RpcError(NO_METHOD, f"there is no method `{as_title(method)}` here")
        given = as_object(params)
        try:
            _refuse_forged(given, _QUESTION_FIELDS if method == "elicitation/create" else _FIELDS)
            session = self._session(given)
            with self._known(request_id):
                return await handler(session, given)
        except BadMessage as error:
            log.warning("%s sent a bad %s: %s", self._agent, as_title(method), error)
            raise RpcError(INVALID, str(error)) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or id(task) not in self._taken_back:
                raise
            task.uncancel()
            raise RpcError(CANCELLED, "the request was taken back") from None
        except Denied as denied:
            raise RpcError(DENIED, f"denied: {denied}") from None
        except Missing as missing:
            session = self._session(given)
            if method == "fs/read_text_file" and session.recipe.missing_reads_empty:
                return {"content": ""}
            raise RpcError(MISSING, str(missing)) from None
        except Failed as failed:
            raise RpcError(FAILED, str(failed)) from None

    async def notify(self, method: str, params: Json) -> None:
        """Take a notification; the next message is read once it is dealt with. A bad one is logged and ignored."""
        given = as_object(params)
        try:
            match method:
                case "session/update":
                    _refuse_forged(given)
                    replay = self._find_replay(read_text(given, "sessionId"))
                    if replay is not None:
                        await replay.hear(given.get("update"))
                    else:
                        await self._session(given).update(given.get("update"))
                case "elicitation/complete":
                    if self._questions is not None:
                        self._questions.complete(self._agent, read_text(given, "elicitationId"))
                case "$/cancel_request":
                    self._take_back(given.get("requestId"))
                case _:
                    pass
        except BadMessage as error:
            log.warning("%s sent a bad %s: %s", self._agent, method, error)

    @contextmanager
    def _known(self, request_id: Json) -> Iterator[None]:
        """Keep the running request under its id, so that the agent can take it back."""
        task = asyncio.current_task()
        key = repr(request_id)
        if task is not None:
            self._running.setdefault(key, task)
        try:
            yield
        finally:
            if self._running.get(key) is task:
                del self._running[key]

    def _take_back(self, request_id: Json) -> None:
        task = self._running.get(repr(request_id))
        if task is not None:
            self._taken_back.add(id(task))
            task.add_done_callback(lambda done: self._taken_back.discard(id(done)))
            task.cancel()

    def _session(self, params: Raw) -> Session:
        session = self._find(read_text(params, "sessionId"))
        if session is None:
            raise BadMessage("there is no such session")
        return session


_FIELDS = frozenset(
    ("sessionid", "toolcall", "options", "update", "path", "content", "line", "limit", "command", "args", "env", "cwd",
     "outputbytelimit", "terminalid"),
)  # fmt: skip
"""Every field of every method above but the next, without case and underscores."""
_QUESTION_FIELDS = frozenset(("sessionid", "requestid", "mode", "message", "requestedschema", "elicitationid", "url"))


def _refuse_forged(params: Raw, fields: Container[str] = _FIELDS) -> None:
    """Refuse a message whose ``_meta`` names a field of its own: some reader of it would take that for the field.

    Raises:
        BadMessage: it does.
    """
    for key in as_object(params.get("_meta")):
        if re.sub(r"[_-]", "", key).lower() in fields:
            raise BadMessage(f"`_meta` must not hold `{as_title(key)}`")
