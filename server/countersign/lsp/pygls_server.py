"""Where our messages meet pygls: a server that speaks the method table, with models in and models out.

`make_server` gives a pygls `LanguageServer` over stdio. How a conversation goes is left to `protocol`, and what the
handlers do to the rest of this room, which sees neither pygls nor JSON.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from cattrs import Converter
from lsprotocol import types
from pydantic import ValidationError
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from countersign.lsp.base_protocol import EncodedResult, encode_notification
from countersign.lsp.connection import LIFE_AFTER_END, Protocol, places, read
from countersign.lsp.transport import claim_stdio
from countersign.wire.base import WireModel, as_json
from countersign.wire.errors import ClientError, InternalError
from countersign.wire.methods import BY_NAME, METHODS, Method

Handler = Callable[[Any], Any]
"""Takes the params model, gives the result model (None for a notification), encoded or not, or an awaitable of it."""

log = logging.getLogger(__name__)


def make_server(name: str, version: str) -> Server:
    """A server without handlers, not started yet."""
    # pygls logs whole messages, secrets in settings among them.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    # Whole texts, because pygls ends lines at more characters than editors do: changes by place would go astray.
    full = types.TextDocumentSyncKind.Full
    return Server(name, version, full, protocol_cls=Protocol, converter_factory=make_converter)


class Server(LanguageServer):
    """Keeps the handlers, and promises each request exactly one answer.

    Everything but `run` belongs to the event loop's thread. pygls' own typed calls (`window_show_message`, …) work as
    they do there.
    """

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride]  (`make_server` hands in this class)

    def handle(self, name: str, handler: Handler) -> None:
        """Registers the handler of a request or notification of the method table.

        Handlers run as tasks, each begun in the order in which its message came: it has got to its first await before
        the next one starts, and before a ``$/cancelRequest`` reaches it. That arrives as `CancelledError`; a result
        returned all the same is the answer, else the answer is -32800. What a handler raises becomes an error by
        `protocol.as_fault`; of a notification it is only logged.
        """
        method = BY_NAME.get(name)
        if method is None or method.direction != "toServer":
            raise InternalError(f"`{name}` is no method that a client may call")

        async def run(params: WireModel) -> Any:
            result = handler(params)
            if inspect.isawaitable(result):
                result = await result
            given = result.model if isinstance(result, EncodedResult) else type(result)
            if method.result is not None and not issubclass(given, method.result):
                raise InternalError(f"`{name}` was answered with {given.__name__}, not {method.result.__name__}")
            return result

        self.feature(name)(run)

    def unhandled(self) -> list[str]:
        """The methods of the table that a client may call and nobody has registered."""
        return [m.name for m in METHODS if m.direction == "toServer" and m.name not in self.protocol.fm.features]

    def on_initialize(self, callback: Callable[[types.InitializeParams], Any]) -> None:
        """``callback`` runs before ``initialize`` is answered; ``params.initialization_options`` is the plain JSON.

        Messages that come meanwhile wait. What it raises is the answer, and the client may try again.
        """
        self.feature(types.INITIALIZE)(callback)

    def on_initialized(self, callback: Callable[[], Any]) -> None:
        """``callback`` runs once the client knows that the server is ready."""
        self.feature(types.INITIALIZED)(lambda _params: callback())

    def on_shutdown(self, callback: Callable[[], Awaitable[None]]) -> None:
        """``callback`` runs once, at the first of ``shutdown``, ``exit``, end of input, a lost client, and a signal.

        Nothing new is started by then; handlers still run, and are cancelled after it. `protocol.STOP_BOUND` seconds.
        """
        self.protocol.farewells.append(callback)

    @property
    def connected(self) -> bool:
        """Whether there is a client to ask. False from the first sign of the end on, and it stays so.

        What is sent then still arrives as long as the client reads; what would need an answer raises `ClientGone`.
        """
        return self.protocol.connected

    def notify(self, name: str, params: WireModel, said: str | None = None) -> None:
        """Queues a notification of the table; it never waits, and drops it when the client is gone.

        ``said`` is what `to_json` gives for ``params``, where that was made already.
        Raises `InternalError` for a message that the table does not have, and `ValueError` for one that is not JSON.
        """
        method = _outgoing(name, params)
        if method.is_request:
            raise InternalError(f"`{name}` is a request")
        self.protocol.send_frame(encode_notification(name, params, said), name)

    async def request(self, name: str, params: WireModel) -> Any:
        """The client's result for a request of the table, as its model; waits as long as the client takes.

        Cancelling it sends ``$/cancelRequest`` and forgets the answer. Raises `ClientGone` when the connection ends
        first, `ClientError` when the client answers with an error or with what does not fit.
        """
        method = _outgoing(name, params)
        if method.result is None:
            raise InternalError(f"`{name}` is a notification")
        message_id = str(uuid.uuid4())
        answer = self.protocol.send_request(name, params, msg_id=message_id)
        try:
            return read(method.result, await asyncio.wrap_future(answer))
        except asyncio.CancelledError:
            self.protocol.withdraw(message_id)
            raise
        except ValidationError as error:
            log.warning("the editor's answer to %s does not fit%s", name, places(error))
            raise ClientError(f"the editor's answer to `{name}` does not fit") from None

    def run(self) -> int:
        """Serves this process's stdin and stdout until the end, and gives the exit code for `sys.exit`.

        0 for ``exit`` after ``shutdown``, else 1. From the first sign of the end the process lives `LIFE_AFTER_END`
        seconds at most: then it is ended where it stands.
        """
        return asyncio.run(self.protocol.serve(*claim_stdio(), at_end=lambda: _end_process_later(self.protocol)))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log. pygls shows it to the person as a toast, with whatever the exception says."""
        log.error("%s in pygls", type(error).__name__, exc_info=error)

    def start_io(self, *_: Any, **__: Any) -> NoReturn:
        raise InternalError("there is one way to serve, and it is `run`")

    start_tcp = start_ws = start_io


def make_converter() -> Converter:
    """pygls' converter, which also takes and gives our models."""
    converter = default_converter()
    converter.register_structure_hook_func(_is_ours, lambda value, model: read(model, value))
    converter.register_unstructure_hook_func(_is_ours, as_json)
    return converter


def _is_ours(model: Any) -> bool:
    return isinstance(model, type) and issubclass(model, WireModel)


def _outgoing(name: str, params: WireModel) -> Method:
    method = BY_NAME.get(name)
    if method is None or method.direction != "toClient" or not isinstance(params, method.params):
        raise InternalError(f"`{name}` with {type(params).__name__} is no message that we may send")
    return method


def _end_process_later(protocol: Protocol) -> None:
    """Starts the thread that ends the process where it stands, should the end not come by itself."""

    def blocking_end() -> None:
        log.error("not everything stopped within %s s; the process ends here", LIFE_AFTER_END)
        sys.stderr.flush()
        os._exit(protocol.exit_code)

    timer = threading.Timer(LIFE_AFTER_END, blocking_end)
    timer.daemon = True
    timer.start()
