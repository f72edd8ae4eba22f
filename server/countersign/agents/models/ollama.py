"""Ollama by its native ``/api/chat``: newline-delimited JSON with text, thinking and whole tool calls.

Translates our messages to its wire and its lines to our pieces, and its failures to a ModelError that says what to do.
Ollama gives a call's arguments whole, so each call is announced with the line that brings it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, assert_never
from urllib.parse import urlsplit

from countersign.settings.policy import ModelConfig
from countersign.wire.base import Json
from countersign.wire.errors import ModelError

from .base import (
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

DEFAULT_URL = "http://127.0.0.1:11434"
CONNECT_SECONDS = 10.0
SILENT_SECONDS = 600.0
"""Between two pieces: a large model is loaded from disk before its first word."""
LONGEST_LINE = 32 << 20
"""Bytes of one line of an answer."""


class OllamaModel:
    """One model on one Ollama server."""

    def __init__(self, config: ModelConfig, environment: Mapping[str, str] = os.environ) -> None:
        self._model = config.model
        self._url = _base_url(config.base_url or environment.get("OLLAMA_HOST") or DEFAULT_URL)
        self._key_name = config.api_key_env
        self._key = environment.get(config.api_key_env) if config.api_key_env else None

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        import httpx  # noqa: PLC0415 - a tenth of a second that a start without Ollama need not pay

        if self._key_name and not self._key and not _is_loopback(self._url):
            raise ModelError(f"the key of `{self._model}` is missing; set `{self._key_name}` and restart the server")
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, *(_as_wire(message) for message in messages)],
            "tools": [_tool_as_wire(tool) for tool in tools],
            "stream": True,
        }
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS)
        # A proxy of the environment is not asked for what is on this machine.
        outside = not _is_loopback(self._url)
        try:
            async with (
                httpx.AsyncClient(timeout=timeout, trust_env=outside) as client,
                client.stream("POST", f"{self._url}/api/chat", json=body, headers=headers) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise self._failure(response.status_code, await response.aread())
                async with aclosing(_pieces(response.aiter_bytes())) as pieces:
                    async for piece in pieces:
                        yield piece
        except httpx.ConnectError:
            raise ModelError(f"no Ollama answers at `{self._url}`; start it with `ollama serve`") from None
        except httpx.TimeoutException:
            raise ModelError(f"Ollama at `{self._url}` does not answer; look at its log") from None
        except httpx.HTTPError as error:
            raise ModelError(f"the connection to Ollama failed ({type(error).__name__}); try again") from None
        except httpx.InvalidURL:
            raise ModelError(f"`{self._url}` is no address; correct `baseUrl` of `{self._model}`") from None

    def _failure(self, status: int, body: bytes) -> ModelError:
        told = _error_text(body) or f"status {status}"
        if status == 404 and "not found" in told:
            return ModelError(f"Ollama has no model `{self._model}`; get it with `ollama pull {self._model}`")
        if "does not support tools" in told:
            return ModelError(f"the model `{self._model}` cannot use tools; choose one that can")
        if status in (401, 403):
            return ModelError(f"Ollama refused the key of `{self._model}`; check `{self._key_name or 'apiKeyEnv'}`")
        return ModelError(f"Ollama failed: `{told[:300]}`; its log says more")


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Piece, None]:
    """The lines of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    called = False
    async for line in _lines(chunks):
        if (error := line.get("error")) is not None:
            raise ModelError(f"Ollama failed: `{str(error)[:300]}`; its log says more")
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
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise ModelError("the answer of Ollama is too long to be one")
        for line in lines:
            if line.strip():
                yield _parsed(line)
    if rest.strip():
        yield _parsed(rest)


def _parsed(line: bytes) -> dict[str, Json]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ModelError("what answers is not Ollama; check `baseUrl`")
    return found


def _wanted(raw: Json) -> WantedCall:
    """A call; Ollama gives its arguments as an object, some that speak its language as JSON text."""
    call = raw if isinstance(raw, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    call_id, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
    broken = None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as error:
            broken = f"the arguments are not JSON ({error})"
    if not isinstance(arguments, dict):
        broken = broken or "the arguments are no JSON object"
    return WantedCall(
        call_id=call_id if isinstance(call_id, str) and call_id else f"call_{secrets.token_hex(8)}",
        tool=name if isinstance(name, str) else "",
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


def _base_url(text: str) -> str:
    """An address as Ollama's own programs take it: ``host``, ``host:port`` or a URL; "every address" means this one."""
    url = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(url)
        port = parts.port or (11434 if "://" not in text else None)
    except ValueError:
        return url  # said when it is used
    host = "127.0.0.1" if parts.hostname in (None, "", "0.0.0.0", "::") else parts.hostname
    shown = f"[{host}]" if ":" in str(host) else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _error_text(body: bytes) -> str | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, str) else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
