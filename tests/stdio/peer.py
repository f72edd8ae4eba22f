"""A raw JSON-RPC client at the other end of a child process's stdin and stdout.

It knows framing, ids and waiting, and nothing of pygls or of our models: what a test sees is the JSON that stood on
the wire. Every wait is bounded by `BOUND` seconds. It checks of each incoming message what any LSP client relies on
(a length that fits, `"jsonrpc": "2.0"`), and leaves everything else to the test.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

BOUND = PATIENCE
"""Seconds that any single wait may take."""

SERVER = Path(__file__).parents[2] / "server"

Message = dict[str, Any]
Predicate = Callable[[Any], bool]
RequestHandler = Callable[[Any], Any | Awaitable[Any]]


class RpcError(Exception):
    """The peer answered a request with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')} {error.get('data')}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")

    @property
    def kind(self) -> str | None:
        """``data.kind``, or None where the error has none."""
        return self.data.get("kind") if isinstance(self.data, dict) else None


class Peer:
    """The client's side of one server process; it owns the process and the tasks that read from it.

    Leaving the context closes the server's stdin, waits `BOUND` seconds for it to go and then kills its process group.
    `messages` holds everything that came in, in order; `wait_for` hands out each notification once.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.argv = [os.fspath(word) for word in argv]
        self.cwd = cwd
        self.env = env
        self.messages: list[Message] = []
        self.on_request: dict[str, RequestHandler] = {}
        self._child: _Child | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stderr = bytearray()
        self._answers: dict[int | str, asyncio.Future[Message]] = {}
        self._untaken: list[Message] = []
        self._arrived = asyncio.Condition()
        self._logged = asyncio.Condition()
        self._reading = asyncio.Event()
        self._reading.set()
        self._last_id = 0
        self._closed = False
        self._killed = False
        self._fault: Exception | None = None

    @classmethod
    def python(
        cls,
        *argv: str | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Peer:
        """A peer of this very interpreter with the given arguments, such as ``-m countersign serve``.

        The child finds this checkout's `countersign`, installed or not. ``env`` replaces the environment whole.
        """
        given = os.environ if env is None else env
        paths = [str(SERVER), *filter(None, [given.get("PYTHONPATH")])]
        return cls([sys.executable, *argv], cwd=cwd, env={**given, "PYTHONPATH": os.pathsep.join(paths)})

    async def __aenter__(self) -> Peer:
        loop = asyncio.get_running_loop()
        transport, self._child = await loop.subprocess_exec(
            lambda: _Child(2**16, loop),
            *self.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.cwd,
            env=None if self.env is None else dict(self.env),
            start_new_session=True,
        )
        self._process = asyncio.subprocess.Process(transport, self._child, loop)
        self._start(self._read_messages(), "peer reads stdout")
        self._start(self._read_stderr(), "peer reads stderr")
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        assert self._child is not None
        self._reading.set()
        self.close_input()
        try:
            await self.exit_code()
        except TimeoutError:
            self.kill()
            await self.exit_code()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            # Without this the pipes are closed by the collector, which warns.
            self._child.transport.close()
        if self._fault is not None and error is None:
            raise self._fault

    # -- saying

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    async def request(self, method: str, params: Any = None, *, bound: float = BOUND) -> Any:
        """The result. Raises `RpcError` for an error, `TimeoutError` after ``bound`` seconds without an answer."""
        _, answer = self.start_request(method, params)
        return await self.result_of(answer, bound=bound)

    def start_request(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Message]]:
        """Sends a request without waiting; gives its id (for `cancel`) and the future of the whole answer message."""
        self._last_id += 1
        answer = self.expect_answer(self._last_id)
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return self._last_id, answer

    def expect_answer(self, request_id: int | str) -> asyncio.Future[Message]:
        """The future of the answer to a request that the test writes by hand under this id."""
        answer = self._answers.setdefault(request_id, asyncio.get_running_loop().create_future())
        if self._closed:
            self._end(answer)
        return answer

    async def result_of(self, answer: asyncio.Future[Message], *, bound: float = BOUND) -> Any:
        """What `request` gives, for an answer from `start_request`."""
        message = await self._or_fault(asyncio.shield(answer), bound)
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]

    def cancel(self, request_id: int | str) -> None:
        self.notify("$/cancelRequest", {"id": request_id})

    async def initialize(
        self, root: str | os.PathLike[str] | None = None, options: Any = None, capabilities: Any = None
    ) -> Any:
        """``initialize`` and ``initialized``; gives the result of the former."""
        uri = None if root is None else Path(root).as_uri()
        params: Message = {"processId": os.getpid(), "rootUri": uri, "capabilities": capabilities or {}}
        if options is not None:
            params["initializationOptions"] = options
        result = await self.request("initialize", params)
        self.notify("initialized", {})
        return result

    async def shut_down(self) -> int:
        """``shutdown`` and ``exit``; gives the exit code."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.exit_code()

    def send(self, message: Any) -> None:
        """One message, framed; it may be any JSON value, or one that no client should send."""
        self.send_body(json.dumps(message, separators=(",", ":")).encode())

    def send_body(self, body: bytes) -> None:
        """One frame with this body, which need not be JSON."""
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send_raw(self, data: bytes) -> None:
        """Bytes as they are. They are buffered without bound; `drain` waits until the server has taken them."""
        stdin = self._running().stdin
        assert stdin is not None
        stdin.write(data)

    async def drain(self, *, bound: float = BOUND) -> None:
        stdin = self._running().stdin
        assert stdin is not None
        await asyncio.wait_for(stdin.drain(), bound)

    def close_input(self) -> None:
        """End of input for the server."""
        stdin = self._running().stdin
        assert stdin is not None
        stdin.close()

    # -- hearing

    async def wait_for(self, method: str, predicate: Predicate | None = None, *, bound: float = BOUND) -> Any:
        """The params of the first notification of this method that fits and that no `wait_for` was given before.

        It may have come already. Raises `TimeoutError` after ``bound`` seconds.
        """

        def take() -> Message | None:
            for message in self._untaken:
                if message["method"] == method and (predicate is None or predicate(message.get("params"))):
                    self._untaken.remove(message)
                    return message
            return None

        message = await self.wait_until(take, what=f"a `{method}` notification", bound=bound)
        return message.get("params")

    async def wait_until(self, found: Callable[[], Any], *, what: str, bound: float = BOUND) -> Any:
        """The first true value that ``found`` gives; it is asked now and after each incoming message."""

        async def wait() -> Any:
            async with self._arrived:
                while not (value := found()):
                    if self._fault is not None:
                        raise self._fault
                    if self._closed:
                        raise ConnectionResetError(f"no {what}: the server closed its output; {self.stderr[-2000:]}")
                    await self._arrived.wait()
                return value

        try:
            return await asyncio.wait_for(wait(), bound)
        except TimeoutError:
            said = [message.get("method", "answer") for message in self.messages[-20:]]
            raise TimeoutError(f"no {what} within {bound} s; last came {said}; stderr: {self.stderr[-2000:]}") from None

    def seen(self, method: str) -> list[Any]:
        """The params of every notification of this method so far, whether or not `wait_for` gave it out."""
        return [m.get("params") for m in self.messages if m.get("method") == method and "id" not in m]

    def stop_reading(self) -> None:
        """From now on nothing is read; the pipe fills (some 64 KiB, and as much again in our buffer)."""
        self._reading.clear()

    def go_on_reading(self) -> None:
        self._reading.set()

    async def wait_stderr(self, predicate: Callable[[str], bool], *, bound: float = BOUND) -> str:
        """What stands on stderr once it satisfies the predicate."""

        async def wait() -> str:
            async with self._logged:
                while not predicate(self.stderr):
                    await self._logged.wait()
                return self.stderr

        return await asyncio.wait_for(wait(), bound)

    def forgive(self) -> None:
        """Forgets that the server sent something that was no message, which else fails the test at the end."""
        self._fault = None

    # -- the process

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def stderr(self) -> str:
        """What the server has logged so far."""
        return self._stderr.decode(errors="replace")

    async def exit_code(self, *, bound: float = BOUND) -> int:
        """Waits until the process has ended, whether or not all that it said has been read."""
        assert self._child is not None
        await asyncio.wait_for(asyncio.shield(self._child.exited), bound)
        code = self._child.transport.get_returncode()
        assert code is not None
        return code

    @property
    def has_exited(self) -> bool:
        """Whether the process has gone by itself or otherwise."""
        return self._child is not None and self._child.exited.done()

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signals the process group; nothing happens if it has gone already."""
        self._killed = True
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return

    # -- inside

    def _running(self) -> asyncio.subprocess.Process:
        assert self._process is not None, "the peer is used outside its context"
        return self._process

    def _start(self, work: Any, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _or_fault(self, answer: Awaitable[Message], bound: float) -> Message:
        try:
            return await asyncio.wait_for(answer, bound)
        except TimeoutError:
            if self._fault is not None:
                raise self._fault from None
            raise TimeoutError(f"no answer within {bound} s; stderr: {self.stderr[-2000:]}") from None

    async def _read_messages(self) -> None:
        stdout = self._running().stdout
        assert stdout is not None
        try:
            while True:
                await self._reading.wait()
                message = await _read_message(stdout)
                if message is None:
                    break
                await self._take(message)
        except (AssertionError, ValueError, asyncio.IncompleteReadError) as fault:
            # What came was no message. Whoever waits is told, and so is the test at the end of the context; but that a
            # process was killed in the middle of one is no fault of its.
            self._fault = None if self._killed else fault
        finally:
            self._closed = True
            for answer in self._answers.values():
                self._end(answer)
            async with self._arrived:
                self._arrived.notify_all()

    def _end(self, answer: asyncio.Future[Message]) -> None:
        if not answer.done():
            gone = ConnectionResetError(f"the server closed its output; stderr: {self.stderr[-2000:]}")
            answer.set_exception(self._fault or gone)
            answer.exception()  # marked as seen: nobody need be waiting for it

    async def _take(self, message: Message) -> None:
        assert message.get("jsonrpc") == "2.0", f"not a JSON-RPC 2.0 message: {message}"
        if "method" in message and "id" in message:
            self._start(self._answer(message), f"peer answers {message['method']}")
        elif "method" not in message:
            answer = self._answers.get(message["id"]) if message.get("id") is not None else None
            if answer is not None and not answer.done():
                answer.set_result(message)
        async with self._arrived:
            self.messages.append(message)
            if "method" in message and "id" not in message:
                self._untaken.append(message)
            self._arrived.notify_all()

    async def _answer(self, message: Message) -> None:
        handler = self.on_request.get(message["method"])
        answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if handler is None:
            answer["error"] = {"code": -32601, "message": f"the test answers no `{message['method']}`"}
        else:
            try:
                result = handler(message.get("params"))
                answer["result"] = await result if isinstance(result, Awaitable) else result
            except RpcError as error:
                answer["error"] = {"code": error.code, "message": error.message, "data": error.data}
        self.send(answer)

    async def _read_stderr(self) -> None:
        stderr = self._running().stderr
        assert stderr is not None
        while data := await stderr.read(65536):
            async with self._logged:
                self._stderr += data
                self._logged.notify_all()


class _Child(asyncio.subprocess.SubprocessStreamProtocol):
    """Says when the process has gone; asyncio's own `wait` also waits until its pipes have been read to the end."""

    transport: asyncio.SubprocessTransport

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit, loop)
        self.exited: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.SubprocessTransport)
        self.transport = transport

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set_result(None)


async def _read_message(stdout: asyncio.StreamReader) -> Message | None:
    """The next message, or None at the end of output between two messages."""
    length = None
    while True:
        line = await stdout.readline()
        if not line:
            assert length is None, "the output ended within a header"
            return None
        if line == b"\r\n":
            break
        name, colon, value = line.decode("ascii").partition(":")
        assert colon, f"not a header: {line!r}"
        assert line.endswith(b"\r\n"), f"a header must end in CR LF: {line!r}"
        if name.lower() == "content-length":
            length = int(value)
    assert length is not None, "a header without Content-Length"
    return json.loads(await stdout.readexactly(length))
