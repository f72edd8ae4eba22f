"""Ollama by its native ``/api/chat``: newline-delimited JSON with text, thinking and whole tool calls.

Translates our messages to its wire and its lines to our pieces, and its failures to a ModelError that says what to do.
Ollama gives a call's arguments whole, so each call is announced with the line that brings it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, assert_never
from urllib.parse import urlsplit

from countersign.agents.lines import Lines, LineTooLong
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Message,
    Piece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
    WantedCall,
)
from countersign.settings.policy import ModelConfig
from countersign.tools.visible import as_message, as_title
from countersign.wire.base import Json
from countersign.wire.errors import ModelError
from countersign.wire.strict_json import BadJson, parse_json

DEFAULT_URL = "http://127.0.0.1:11434"
CONNECT_SECONDS = 10.0
SILENT_SECONDS = 600.0
"""Between two pieces: a large model is loaded from disk before its first word."""
LONGEST_LINE = 8 << 20
"""Bytes of one line of an answer."""
LONGEST_ANSWER = 64 << 20
"""Bytes of one answer."""
LONGEST_ERROR = 64 << 10
"""Bytes that are read of the body of an error."""
LINES_AT_ONCE = 256
"""Lines of one answer that are read before other work gets its turn."""


LONGEST_ID = 256
"""Characters of the id of a call."""
MOST_TOKENS = 1 << 53
"""A count from which on a client reads another number."""
AT_ONCE = 1 << 16
"""Bytes of a line that is parsed on the event loop; a longer one is parsed in a worker thread."""


class OllamaModel:
    """One model on one Ollama server."""

    def __init__(self, config: ModelConfig, environment: Mapping[str, str] = os.environ) -> None:
        self._model = config.model
        given = config.base_url or environment.get("OLLAMA_HOST") or DEFAULT_URL
        self._url = _base_url(given)
        self._shown = shown_url(self._url or given)
        self._key_name = config.api_key_env
        self._key = environment.get(config.api_key_env) if config.api_key_env else None

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        import httpx  # noqa: PLC0415 - a tenth of a second that a start without Ollama need not pay

        if self._url is None:
            raise self._bad_address()
        if self._key_name and not self._key and not is_loopback(self._url):
            raise ModelError(f"the key of `{self._model}` is missing; set `{self._key_name}` and restart the server")
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, *(_as_wire(message) for message in messages)],
            "tools": [_tool_as_wire(tool) for tool in tools],
            "stream": True,
        }
        # What is packed can grow a thousandfold while it is unpacked, so it is not asked for, and not taken.
        headers = {"accept-encoding": "identity", **({"authorization": f"Bearer {self._key}"} if self._key else {})}
        timeout = httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS)
        # A proxy of the environment is not asked for what is on this machine.
        outside = not is_loopback(self._url)
        try:
            async with (
                httpx.AsyncClient(timeout=timeout, trust_env=outside) as client,
                client.stream("POST", f"{self._url}/api/chat", json=body, headers=headers) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise self._failure(response.status_code, await _beginning(response.aiter_raw()))
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise ModelError("Ollama packed its answer, which is not taken; check what stands before it")
                async with aclosing(_pieces(response.aiter_raw())) as pieces:
                    async for piece in pieces:
                        yield piece
        except httpx.ConnectError:
            raise ModelError(f"no Ollama answers at `{self._shown}`; start it with `ollama serve`") from None
        except httpx.TimeoutException:
            raise ModelError(f"Ollama at `{self._shown}` does not answer; look at its log") from None
        except httpx.HTTPError as error:
            raise ModelError(f"the connection to Ollama failed ({type(error).__name__}); try again") from None
        except httpx.InvalidURL:
            raise self._bad_address() from None
        except (OSError, OverflowError, ValueError, ImportError) as error:
            # The address, the key or a proxy of the environment is nothing that the HTTP client can use.
            kind = type(error).__name__
            message = f"Ollama at `{self._shown}` cannot be asked ({kind}); check `baseUrl`, the key and the proxy"
            raise ModelError(message) from None

    def _bad_address(self) -> ModelError:
        return ModelError(f"`{self._shown}` is not a URL; correct `baseUrl` of `{self._model}`")

    def _failure(self, status: int, body: bytes) -> ModelError:
        told = _error_text(body) or f"status {status}"
        if status == 404 and "not found" in told:
            return ModelError(f"Ollama has no model `{self._model}`; get it with `ollama pull {self._model}`")
        if "does not support tools" in told:
            return ModelError(f"the model `{self._model}` cannot use tools; choose one that can")
        if status in (401, 403):
            return ModelError(f"Ollama refused the key of `{self._model}`; check `{self._key_name or 'apiKeyEnv'}`")
        return ModelError(f"Ollama failed: `{as_message(told)}`; its log says more")


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Piece, None]:
    """The lines of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    called = False
    async for line in _lines(chunks):
        if (error := line.get("error")) is not None:
            raise ModelError(f"Ollama failed: `{as_message(_text_of(error))}`; its log says more")
        message = line.get("message")
        message = message if isinstance(message, dict) else {}
        if (thinking := message.get("thinking")) and isinstance(thinking, str):
            yield ThinkingPiece(thinking)
        if (text := message.get("content")) and isinstance(text, str):
            yield TextPiece(text)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            called = True
            yield CallPiece(_wanted(call))
        if line.get("done") is True:
            yield UsagePiece(_count(line.get("prompt_eval_count")), _count(line.get("eval_count")))
            ended = "max_tokens" if line.get("done_reason") == "length" else "end_turn"
            yield StopPiece("tool_use" if called else ended)
            return
    raise ModelError("the answer of Ollama broke off; try again")


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Json]]:
    lines, size, count = Lines(LONGEST_LINE), 0, 0
    async for chunk in chunks:
        size += len(chunk)
        try:
            whole = lines.feed(chunk)
        except LineTooLong:
            raise ModelError(f"a line of Ollama's answer is longer than {LONGEST_LINE >> 20} MiB") from None
        if size > LONGEST_ANSWER:
            raise ModelError(f"the answer of Ollama is longer than {LONGEST_ANSWER >> 20} MiB")
        for line in whole:
            count += 1
            if count % LINES_AT_ONCE == 0:
                await asyncio.sleep(0)
            if line.strip():
                yield await _parsed(line)
    if (rest := lines.rest()).strip():
        yield await _parsed(rest)


async def _parsed(line: bytes) -> dict[str, Json]:
    why = "it is not an object"
    try:
        found = parse_json(line) if len(line) <= AT_ONCE else await asyncio.to_thread(parse_json, line)
        if isinstance(found, dict):
            return found
    except BadJson as error:
        why = str(error)
    raise ModelError(f"a line of Ollama's answer cannot be read: {why}; check `baseUrl`")


async def _beginning(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the beginning of an error's body, as much as may hold its text."""
    found = bytearray()
    async for chunk in chunks:
        found += chunk
        if len(found) >= LONGEST_ERROR:
            break
    return bytes(found[:LONGEST_ERROR])


def _wanted(raw: Json) -> WantedCall:
    """A call; Ollama gives its arguments as an object, some that speak its language as JSON text."""
    call = raw if isinstance(raw, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    call_id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
    broken = None
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except BadJson as error:
            broken = f"the arguments cannot be read: {error}"
    if not isinstance(arguments, dict):
        broken = broken or "the arguments are not a JSON object"
    return WantedCall(
        call_id=call_id
        if isinstance(call_id, str) and 0 < len(call_id) <= LONGEST_ID
        else f"call_{secrets.token_hex(8)}",
        tool=as_title(name) if isinstance(name, str) else "",
        arguments=arguments if isinstance(arguments, dict) and broken is None else {},
        broken=broken,
    )


def _as_wire(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "content": text}
        case AssistantMessage():
            said: dict[str, Any] = {"role": "assistant", "content": message.text}
            if message.thinking:
                said["thinking"] = message.thinking
            if message.calls:
                said["tool_calls"] = [
                    {"id": call.call_id, "function": {"name": call.tool, "arguments": dict(call.arguments)}}
                    for call in message.calls
                ]
            return said
        case ToolMessage(call_id=call_id, tool=tool, output=output):
            return {"role": "tool", "content": output, "tool_name": tool, "tool_call_id": call_id}
        case _:
            assert_never(message)


def _tool_as_wire(tool: ToolSchema) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _base_url(text: str) -> str | None:
    """An address as Ollama's own programs take it: ``host``, ``host:port`` or a URL; "every address" means this one.

    None for what is no address. A name and a password in it are left out.
    """
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        port = parts.port or (11434 if "://" not in text else None)
    except ValueError:
        return None  # said when it is used
    if parts.scheme not in ("http", "https"):
        return None
    host = "127.0.0.1" if parts.hostname in (None, "", "0.0.0.0", "::") else parts.hostname
    shown = f"[{host}]" if ":" in str(host) else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Return true if the URL names this machine: by address or as ``localhost``, never by a name that looks so."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown_url(url: str) -> str:
    """Return the URL for a message: without a name, a password or a query, visible, and of bounded length."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    path_start = next((index for index, character in enumerate(rest) if character in "/?#"), len(rest))
    host = rest[:path_start].rpartition("@")[2]
    path = re.split(r"[?#]", rest[path_start:], maxsplit=1)[0].rpartition("@")[2]
    return as_title(f"{scheme}{separator}{host}{path}")


def _error_text(body: bytes) -> str | None:
    try:
        found = parse_json(body)
    except BadJson:
        return None
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, str) else None


def _count(value: Json) -> int | None:
    """Return a count of tokens; None for what is none."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < MOST_TOKENS else None  # type: ignore[operator]


def _text_of(error: Json) -> str:
    return error if isinstance(error, str) else json.dumps(error)[:LONGEST_ERROR]
