"""JSON-RPC with one agent over its pipe: our requests and their answers, its requests and ours to them.

The SDK's connection dies of an answer that is none, keeps every request of an agent however many there are, and says to
nobody that it has ended. Here each of an agent's requests is a task, of which there are at most ``MOST_RUNNING``; a
notification is dealt with before the next message is read; whatever ends the reading ends the pipe, and with it the
agent. What a message means is ``client.py``'s business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.ndjson import Pipe, TooMuch
from countersign.gate import in_worker
from countersign.tools.visible import as_message
from countersign.wire.base import Json
from countersign.wire.sizes import size_of, size_of_few
from countersign.wire.strict_json import BadJson

log = limited_logger(__name__)

MOST_RUNNING = 256
"""Requests of one agent under way at once; more are refused. 100 may be cards (``session.py``)."""
MOST_HELD = 8 << 20
"""Bytes that the texts in these requests take in memory; more is refused, unless it is one request alone."""
MOST_ID = 256
"""Characters of a request's id."""
BUSY, BAD_REQUEST, INTERNAL, PARSE_ERROR = -32000, -32600, -32603, -32700

OnRequest = Callable[[Json, str, Json], Awaitable[Any]]
OnNotice = Callable[[str, Json], Awaitable[None]]
Before = Callable[[Mapping[str, Json]], Awaitable[None]]


class RpcError(Exception):
    """An error as JSON-RPC answers it: ours to a request of the agent, or the agent's to one of ours."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Connection:
    """One agent's connection. A class because it owns the reading task, the agent's requests and our open ones.

    ``before`` is awaited before a message is taken; what came after the message waits, too."""

    def __init__(
        self, name: str, pipe: Pipe, on_request: OnRequest, on_notice: OnNotice, before: Before | None = None
    ) -> None:
        self._name = name
        self._pipe = pipe
        self._on_request = on_request
        self._on_notice = on_notice
        self._before = before
        self._next_id = 0
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._held = 0
        self._reading = asyncio.create_task(self._read(), name=f"read {name}")

    async def request(self, method: str, params: Mapping[str, Json]) -> Json:
        """Ask the agent and wait for its answer.

        Raises:
            RpcError: it answered with an error.
            ConnectionError: it is gone.
        """
        if self._pipe.ended.is_set():
            raise ConnectionResetError("the agent is gone")
        number, self._next_id = self._next_id, self._next_id + 1
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            await self._pipe.send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
            return await answer
        finally:
            self._asked.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, Json]) -> None:
        """Send a notification.

        Raises:
            ConnectionError: the agent is gone.
        """
        await self._pipe.send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def close(self) -> None:
        """End the tasks of the connection and close the agent's input."""
        tasks = [self._reading, *self._running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pipe.close()

    async def _read(self) -> None:
        try:
            while (message := await self._pipe.receive()) is not None:
                if isinstance(message, BadJson):
                    self._start(
                        self._reply(None, error=RpcError(PARSE_ERROR, f"the message cannot be read: {message}"))
                    )
                else:
                    await self._take(message)
                # A request begins before what came after it is taken.
                await asyncio.sleep(0)
        except TooMuch as error:
            log.warning("%s broke the protocol (%s), so it is ended", self._name, error)
        except Exception:  # the boundary of an agent's words: a fault of ours in reading them ends this agent alone
            log.exception("reading what %s says failed, so it is ended", self._name)
        finally:
            self._pipe.ended.set()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError("the agent is gone"))
                    answer.exception()  # whoever waits gets it; where nobody does any more, it is no fault

    async def _take(self, message: Mapping[str, Json]) -> None:
        method, request_id = message.get("method"), message.get("id")
        if self._before is not None:
            await self._before(message)
        if "method" not in message:
            self._answered(request_id, message)
        elif not isinstance(method, str):
            log.warning("%s sent a message whose method is no string; skipped", self._name)
        elif "id" not in message:
            try:
                await self._on_notice(method, message.get("params"))
            except TooMuch:
                raise
            except Exception:  # the boundary of one notification: it changes nothing, the log says why
                log.exception("a notification of %s (%s) failed", self._name, as_message(method))
        elif not _is_id(request_id):
            self._start(self._reply(None, error=RpcError(BAD_REQUEST, "an id is a string or a whole number")))
        else:
            params = message.get("params")
            held = (size_of_few(params) or await in_worker(size_of, params)).memory
            if self._held and self._held + held > MOST_HELD:
                error = RpcError(BUSY, f"the open requests hold more than {MOST_HELD >> 20} MiB")
                self._start(self._reply(request_id, error=error))
            else:
                self._held += held
                self._start(self._serve(request_id, method, params)).add_done_callback(lambda _: self._let_go(held))

    def _answered(self, request_id: Json, message: Mapping[str, Json]) -> None:
        whole = isinstance(request_id, int) and not isinstance(request_id, bool)
        answer = self._asked.pop(request_id, None) if whole else None  # type: ignore[arg-type]
        if answer is None or answer.done():
            log.warning("%s answered a request that nobody made; skipped", self._name)
        elif (error := message.get("error")) is not None:
            answer.set_exception(_error_of(error))
        else:
            answer.set_result(message.get("result"))

    def _let_go(self, held: int) -> None:
        self._held -= held

    def _start(self, work: Any) -> asyncio.Task[None]:
        if len(self._running) >= 2 * MOST_RUNNING:
            # Its requests were refused, and it does not even read that.
            work.close()
            raise TooMuch(f"it has {len(self._running)} requests open")
        task = asyncio.create_task(work, name=f"a request of {self._name}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _serve(self, request_id: Json, method: str, params: Json) -> None:
        if len(self._running) > MOST_RUNNING:
            await self._reply(request_id, error=RpcError(BUSY, f"more than {MOST_RUNNING} requests are open"))
            return
        try:
            result = await self._on_request(request_id, method, params)
        except RpcError as error:
            await self._reply(request_id, error=error)
        except Exception:  # the boundary of one request: the agent is told that it failed, the log says how
            log.exception("a request of %s for %s failed", self._name, as_message(method))
            await self._reply(request_id, error=RpcError(INTERNAL, "the request failed inside the client"))
        else:
            await self._reply(request_id, result=result)

    async def _reply(self, request_id: Json, *, result: Any = None, error: RpcError | None = None) -> None:
        message: dict[str, Json] = {"jsonrpc": "2.0", "id": request_id}
        if error is None:
            message["result"] = result
        else:
            message["error"] = {"code": error.code, "message": str(error), "data": error.data}
        try:
            await self._pipe.send(message)
        except ConnectionError as gone:
            log.info("%s is gone and got no answer (%s)", self._name, gone)


def _is_id(value: Json) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_ID
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _error_of(raw: Json) -> RpcError:
    """Return the agent's error; one that is none of JSON-RPC's is an error all the same."""
    given = raw if isinstance(raw, dict) else {}
    code, message = given.get("code"), given.get("message")
    told = message if isinstance(message, str) else "an error without a message"
    return RpcError(code if isinstance(code, int) else INTERNAL, as_message(told), given.get("data"))
