"""One conversation with a client: what is let in, what runs for it, how it is answered, and how it ends.

With `bridge` this is all that knows how pygls and cattrs work inside. pygls keeps what it does well (features,
capabilities, documents, the typed calls of LSP); how a message is read, run, answered and called off is decided here,
because there pygls leaves requests unanswered, loses tasks and shows tracebacks. The bytes are left to `transport`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import signal
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Literal, TypeVar, assert_never

import pygls.exceptions as pygls_errors
from cattrs import Converter
from lsprotocol import types
from pydantic import ValidationError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from countersign.gate import hold_heavy_agents_while
from countersign.lsp.base_protocol import (
    INVALID_REQUEST,
    EncodedResult,
    Fault,
    MessageId,
    encode,
    encode_result,
    is_id,
    malformed,
)
from countersign.lsp.transport import Writer, start_reader
from countersign.wire.base import WireModel
from countersign.wire.errors import REQUEST_FAILED, ClientError, ClientGone, CountersignError, InternalError
from countersign.wire.methods import BY_NAME
from countersign.wire.settings import InitializationOptions
from countersign.wire.strict_json import as_safe, has_surrogate

INVALID_PARAMS, METHOD_NOT_FOUND, INTERNAL_ERROR = -32602, -32601, -32603
NOT_INITIALIZED, REQUEST_CANCELLED = -32002, -32800

AT_ONCE = 10_000
"""Messages that may be in work at one time. A request beyond that is answered with an error, not queued."""
STOP_BOUND, FLUSH_BOUND = 3.0, 0.5
"""Seconds for each farewell; for the handlers that were cancelled, and again for the last bytes."""
LIFE_AFTER_END = 4.3
"""Seconds from the first sign of the end until the process is gone, whatever hangs; 5 are promised."""

Model = TypeVar("Model", bound=WireModel)
Stage = Literal["new", "initializing", "running", "closing"]

log = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """Keeps the connection's stage, the tasks that serve the client, and our own requests to it.

    The stage only ever goes on (new, initializing, running, closing), but for an ``initialize`` that failed.
    """

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        self.farewells: list[Callable[[], Awaitable[None]]] = []
        self._stage: Stage = "new"
        self._held: list[dict[str, Any]] = []
        self._answering: dict[MessageId, asyncio.Task[Any]] = {}
        self._hearing: set[asyncio.Task[Any]] = set()
        self._outbox: Writer | None = None
        self._ended: asyncio.Future[int] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._at_end: Callable[[], None] = lambda: None
        super().__init__(server, converter)  # last, because pygls looks at every property there is

    # -- the connection

    @property
    def connected(self) -> bool:
        return self._ended is not None and self._stage != "closing"

    @property
    def exit_code(self) -> int:
        """What the process ends with; 1 as long as nothing better is known."""
        return self._ended.result() if self._ended is not None and self._ended.done() else 1

    async def serve(self, stdin: int, stdout: int, *, at_end: Callable[[], None] = lambda: None) -> int:
        """Reads and answers until the end; gives the exit code. Afterwards no handler runs, unless one would not stop.

        ``at_end`` is called once, at the first sign of the end.
        """
        loop = asyncio.get_running_loop()
        self._ended, self._at_end = loop.create_future(), at_end
        self._outbox = Writer(stdout, loop, lambda: self._end(1))
        outbox = self._outbox
        hold_heavy_agents_while(lambda: outbox.is_behind)
        start_reader(stdin, loop, self.receive, self._end_of_input)
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows has none; there the editor closes our stdin
                loop.add_signal_handler(number, self._end, 1)
        code = await self._ended
        await self._stop()
        if left := [*self._answering.values(), *self._hearing]:
            await asyncio.wait(left, timeout=FLUSH_BOUND)  # `shutdown` itself, which waited for the same stop
        await self._outbox.close(FLUSH_BOUND)
        return code

    def send(self, message: dict[str, Any]) -> None:
        """Queues a message; drops it when there is nobody to read it."""
        self.send_frame(encode(message), message.get("method", "an answer"))

    def send_frame(self, frame: bytes, what: str) -> None:
        """Queues a message as `frames` encoded it; drops it when there is nobody to read it."""
        if self._outbox is None or not self._outbox.send(frame):
            log.debug("nobody is there for %s", what)

    def _end_of_input(self) -> None:
        # What waits for `initialize` came before the end, an `exit` perhaps; but it does not keep us long.
        held = self._stage == "initializing"
        asyncio.get_running_loop().call_later(FLUSH_BOUND if held else 0, self._end, 1)

    def _end(self, code: int) -> None:
        """The connection is over: nobody answers any more, and nothing new is started."""
        if self._ended is None or self._ended.done():
            return
        self._ended.set_result(code)
        self._close()
        for future in self._request_futures.values():
            if not future.done():
                future.set_exception(ClientGone("the editor is gone"))
        self._request_futures.clear()

    def _close(self) -> None:
        if self._stage != "closing":
            self._stage = "closing"
            self._at_end()

    async def _stop(self) -> None:
        """Lets what runs come to its end; whoever comes second waits for the first, and cancelling it stops nothing."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop_everything(), name="server stops")
        await asyncio.shield(self._stopping)

    async def _stop_everything(self) -> None:
        for farewell in self.farewells:
            try:
                await asyncio.wait_for(farewell(), STOP_BOUND)
            except Exception:
                # The end goes on: what was not stopped in time dies with the process.
                log.exception("stopping did not come to its end")
        tasks = [task for task in (*self._answering.values(), *self._hearing) if task.get_name() != types.SHUTDOWN]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=FLUSH_BOUND)

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  (theirs yields)
        loop = asyncio.get_running_loop()
        # A client that never sends `exit` does not keep us.
        loop.call_later(LIFE_AFTER_END - FLUSH_BOUND, self._end, 1)
        await self._stop()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  (theirs yields)
        self._end(0 if self._shutdown else 1)

    # -- what comes in

    def receive(self, batch: list[Any]) -> None:
        """Takes a batch from the reader: JSON values, and a `Fault` for each frame that held none."""
        for value in batch:
            if isinstance(value, Fault):
                self._refuse(value)
            elif fault := malformed(value):
                self._refuse(fault)
            else:
                self._take(value)

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._take_answer(message)
        elif self._stage == "initializing" and len(self._held) < AT_ONCE:
            self._held.append(message)
            if message["method"] == types.EXIT:
                self._end_of_input()
        else:
            self._admit(message)

    def _admit(self, message: dict[str, Any]) -> None:
        """Lets a message in, or refuses it: for the stage that the connection is in, or because of its id."""
        name, message_id = message["method"], message.get("id")
        fault: Fault | None = None
        match self._stage:
            case "new":
                if name not in (types.INITIALIZE, types.EXIT):
                    fault = Fault(NOT_INITIALIZED, "the server is not initialized; send `initialize` first", message_id)
            case "initializing":
                if name != types.EXIT:
                    fault = Fault(NOT_INITIALIZED, "the server is not initialized yet", message_id)
            case "running":
                if name == types.INITIALIZE:
                    fault = Fault(INVALID_REQUEST, "the server is initialized already", message_id)
            case "closing":
                if name != types.EXIT:
                    fault = Fault(INVALID_REQUEST, "the server is shutting down; nothing new is started", message_id)
            case _:
                assert_never(self._stage)
        if message_id is not None and message_id in self._answering:
            fault = Fault(INVALID_REQUEST, "a request with this id is still running", message_id)
        elif len(self._answering) + len(self._hearing) >= AT_ONCE and name not in (types.EXIT, types.CANCEL_REQUEST):
            fault = Fault(INVALID_REQUEST, "too many requests are waiting; let some end first", message_id)
        if fault is None:
            self._start(name, message_id, message.get("params"))
        elif message_id is not None:
            self._refuse(fault)
        else:
            log.info("%s passed over: %s", name, fault.message)

    def _start(self, name: str, message_id: MessageId | None, raw: Any) -> None:
        """Makes the task that carries a message out. What comes to nothing is answered here, if it is a request."""
        if message_id is not None and is_only_notification(name):
            self._refuse(Fault(INVALID_REQUEST, f"`{name}` is a notification and takes no id", message_id))
            return
        if name == types.CANCEL_REQUEST:
            self._cancel(raw)
            return
        try:
            handler = self._get_handler(name)
        except pygls_errors.JsonRpcMethodNotFound:
            if message_id is not None:
                self._refuse(Fault(METHOD_NOT_FOUND, f"there is no method `{name}`", message_id))
            return
        try:
            if has_surrogate(raw):
                if message_id is not None and name in BY_NAME:
                    raise ValueError("half a character")
                raw = as_safe(raw)
            params = self._read_params(name, raw)
        except Exception as error:  # pydantic and cattrs raise of all kinds, and all it means is that these do not fit
            log.warning("the params of %s do not fit: %s", name, type(error).__name__)
            if message_id is not None:
                self._refuse(Fault(INVALID_PARAMS, f"the params of `{name}` do not fit{places(error)}", message_id))
            return
        if name == types.INITIALIZE:
            self._stage = "initializing"
        elif name == types.SHUTDOWN:
            self._shutdown = True
            self._close()
        elif name == types.EXIT:
            # At once, not as a task: it ends what a task would wait for.
            self.lsp_exit()
            return
        # INVARIANT (never stuck): every task of a message is owned here, and ends with the connection.
        if message_id is None:
            task = asyncio.create_task(run_feature(handler, params), name=name)
            self._hearing.add(task)
            task.add_done_callback(self._heard)
        else:
            task = asyncio.create_task(self._answered(message_id, name, handler, params), name=name)
            self._answering[message_id] = task
            task.add_done_callback(lambda task: self._finish(message_id, task))

    async def _answered(self, message_id: MessageId, name: str, handler: Callable[..., Any], params: Any) -> None:
        """Answers in the step of the loop in which the handler gave its result: whatever is sent later is newer."""
        result = await run_feature(handler, params)
        self.send_frame(self._encoded(message_id, result), name)

    def _cancel(self, raw: Any) -> None:
        message_id = raw.get("id") if isinstance(raw, dict) else None
        task = self._answering.get(message_id) if is_id(message_id) else None
        if task is not None:
            # Not at once: the handler has first to get to where it can say what a cancelled request answers.
            asyncio.get_running_loop().call_soon(task.cancel)

    def _read_params(self, name: str, raw: Any) -> Any:
        """The params as the table's model or LSP's own type. Only here is a message typed, and never what it holds:

        pygls takes any nested object with a key "jsonrpc" for a message of its own.
        """
        if (method := BY_NAME.get(name)) is not None:
            return read(method.params, raw)
        params_type = types.METHOD_TO_TYPES[name][2] if name in types.METHOD_TO_TYPES else None
        if params_type is None:
            return raw
        params = self._converter.structure({} if raw is None else raw, params_type)
        if isinstance(params, types.InitializeParams):
            # Refused here, before anybody guesses what `"trusted": "no"` may mean.
            read(InitializationOptions, params.initialization_options)
        elif isinstance(params, types.WorkDoneProgressCancelParams) and not is_id(params.token):
            raise ValueError("a token is a whole number or a string")
        return params

    def _take_answer(self, message: dict[str, Any]) -> None:
        message_id: Any = message.get("id")
        future = self._request_futures.pop(message_id, None)
        result_type = self._result_types.pop(message_id, None)
        if future is None or future.done():
            log.info("an answer came that nobody waits for")
        elif "error" in message:
            error = message["error"]
            said = error.get("message") if isinstance(error, dict) else None
            future.set_exception(ClientError(f"the editor answered with an error: `{said}`"))
        else:
            try:
                typed = self._converter.structure(message, result_type).result if result_type else message["result"]
            except Exception as error:  # as in `_start`
                log.warning("the editor's answer does not fit: %s", type(error).__name__)
                future.set_exception(ClientError("the editor's answer does not fit"))
            else:
                future.set_result(typed)

    # -- what goes out

    def _finish(self, message_id: MessageId, task: asyncio.Task[None]) -> None:
        """Ends a request that was started, and answers it with an error where it had no result that can be written."""
        del self._answering[message_id]
        name = task.get_name()
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if self._stage == "initializing":
            self._stage = "running" if error is None else "new"
        if error is not None:
            self._refuse(as_fault(error, name), message_id)
        if name == types.INITIALIZE:
            held, self._held = self._held, []
            self.receive(held)

    def _encoded(self, message_id: MessageId, result: Any) -> bytes:
        if isinstance(result, WireModel | EncodedResult):
            return encode_result(message_id, result)
        return encode({"jsonrpc": "2.0", "id": message_id, "result": self._converter.unstructure(result)})

    def _heard(self, task: asyncio.Task[Any]) -> None:
        self._hearing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", task.get_name(), exc_info=error)

    def _refuse(self, fault: Fault, message_id: MessageId | None = None) -> None:
        error = {"code": fault.code, "message": fault.message, **({"data": fault.data} if fault.data else {})}
        self.send({"jsonrpc": "2.0", "id": fault.id if message_id is None else message_id, "error": error})

    def _send_data(self, data: Any) -> None:
        """pygls' own way out, for its notifications and requests."""
        self.send(self._converter.unstructure(data))

    def send_request(self, method: str, params: Any = None, callback: Any = None, msg_id: Any = None) -> Any:
        if not self.connected:
            raise ClientGone("the editor is gone")
        return super().send_request(method, params, callback, msg_id)

    def withdraw(self, message_id: MessageId) -> None:
        """Tells the client that a request of ours need not be answered any more."""
        self._result_types.pop(message_id, None)
        if self._request_futures.pop(message_id, None) is not None:
            self.send({"jsonrpc": "2.0", "method": types.CANCEL_REQUEST, "params": {"id": message_id}})


def is_only_notification(name: str) -> bool:
    """Whether a client may send this method, as LSP or our table knows it, and only as a notification."""
    if (method := BY_NAME.get(name)) is not None:
        return method.direction == "toServer" and not method.is_request
    known = types.METHOD_TO_TYPES.get(name)
    return known is not None and known[1] is None and name != types.EXIT


async def run_feature(handler: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a handler of any of pygls' kinds: a coroutine, a function, or a generator that yields further handlers."""
    result = handler(*arguments)
    if not isinstance(result, Generator):
        return await result if inspect.isawaitable(result) else result
    with contextlib.closing(result) as steps:
        value: Any = None
        while True:
            try:
                inner, inner_arguments, _ = steps.send(value)
            except StopIteration as stop:
                return stop.value
            value = await run_feature(inner, *inner_arguments)


def as_fault(error: BaseException, name: str) -> Fault:
    """The error that answers ``name`` when this was raised: a plain sentence, no traceback, no path.

    Only our own errors speak for themselves; what the others say is in the log.
    """
    match error:
        case CountersignError():
            if isinstance(error, InternalError):
                log.error("a promise was about to be broken in %s", name, exc_info=error)
            return Fault(REQUEST_FAILED, str(error), data={"kind": error.kind})
        case asyncio.CancelledError():
            return Fault(REQUEST_CANCELLED, f"`{name}` was cancelled")
        case pygls_errors.JsonRpcInvalidParams():
            return Fault(INVALID_PARAMS, f"the params of `{name}` do not fit")
        case _:
            log.error("%s failed", name, exc_info=error)
            return Fault(INTERNAL_ERROR, f"`{name}` failed by a fault of the server; its log says why")


def read(model: type[Model], value: Any) -> Model:
    """The model that stands on the wire as ``value``; nothing is coerced: "yes" is no boolean.

    Raises `pydantic.ValidationError`.
    """
    validate = model.__pydantic_validator__.validate_python  # what `model_validate` calls, without its detour
    return validate({} if value is None else value, strict=True, by_alias=True, by_name=False)


def places(error: Exception) -> str:
    """Which fields do not fit, for whoever writes a client; what stood in them is left out."""
    if not isinstance(error, ValidationError):
        return ""
    found_in = [".".join(str(step) for step in found["loc"]) or "the whole" for found in error.errors()[:5]]
    return "; look at " + ", ".join(f"`{place}`" for place in found_in)
