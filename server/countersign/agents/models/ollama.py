"""Ollama by its native ``/api/chat``: newline-delimited JSON with text, thinking and whole tool calls.

Translates our messages to its wire and its lines to our pieces, and its failures to a ModelError that says what to do.
Ollama gives a call's arguments whole, so each call is announced with the line that brings it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, assert_never
from urllib.parse import urlsplit

from countersign.agents.models.answer_reader import LONGEST_LINE, json_lines
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
from countersign.agents.models.call_buffer import wanted_call
from countersign.agents.models.conversation import completed, count, own_options
from countersign.agents.models.endpoint import Endpoint, base_url, shown_url
from countersign.agents.models.http_answer import LONGEST_ERROR, Access, environment_access, key_of, post
from countersign.settings.policy import ModelConfig
from countersign.tools.visible import as_message
from countersign.wire.base import Json
from countersign.wire.errors import ModelBusy, ModelError
from countersign.wire.strict_json import BadJson, parse_json

DEFAULT_URL = "http://127.0.0.1:11434"
DEFAULT_CONTEXT = 16_384
"""Tokens of context that are asked for where nobody says how many: the server's own default cuts off most chats."""
SHOW_SECONDS = 10.0
_OURS = frozenset({"model", "messages", "tools", "stream"})
_TOP_LEVEL = frozenset({"think", "keep_alive", "format"})
"""Fields of ``options`` in the settings that stand in the request itself; the others are Ollama's own ``options``."""


class OllamaModel:
    """One model on one Ollama server."""

    def __init__(self, config: ModelConfig, environment: Mapping[str, str] = os.environ, access: Access | None = None):
        self._config = config
        self._access = access or environment_access(environment)
        given = config.base_url or environment.get("OLLAMA_HOST") or DEFAULT_URL
        url = _base_url(given)
        self._at = Endpoint("Ollama", config.name, config.model, url, shown_url(url or given))
        self._context: int | None = None
        self._shown: dict[str, Json] | None = None

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        key = await key_of(self._at, self._config, self._access, needed=False)
        # What is packed can grow a thousandfold while it is unpacked, so it is not asked for, and not taken.
        headers = {"authorization": f"Bearer {key}"} if key else {}
        options = own_options(self._config.options, _OURS)
        body = {
            "model": self._config.model,
            "messages": [{"role": "system", "content": system}, *map(_as_wire, completed(messages))],
            "tools": [_tool_as_wire(tool) for tool in tools],
            "stream": True,
            "options": {
                "num_ctx": await self.context_tokens(headers),
                **{name: value for name, value in options.items() if name not in _TOP_LEVEL and value is not None},
            },
            **{name: value for name, value in options.items() if name in _TOP_LEVEL and value is not None},
        }
        async with (
            post(self._at, "/api/chat", body, headers, self._access.network()) as chunks,
            aclosing(_pieces(json_lines(chunks, self._at.vendor))) as pieces,
        ):
            async for piece in pieces:
                yield piece

    async def most_context(self) -> int:
        """As ``base.Bounded``."""
        key = await key_of(self._at, self._config, self._access, needed=False)
        return await self.context_tokens({"authorization": f"Bearer {key}"} if key else {})

    async def takes_images(self) -> bool | None:
        """As ``base.Sighted``, by the capabilities that the server lists."""
        key = await key_of(self._at, self._config, self._access, needed=False)
        shown = await self._show({"authorization": f"Bearer {key}"} if key else {})
        listed = shown.get("capabilities")
        return "vision" in listed if isinstance(listed, list) else None

    async def context_tokens(self, headers: Mapping[str, str]) -> int:
        """Return the tokens of context to ask for: what the settings say, within what the model takes."""
        if self._context is None:
            limit = await self._limit(headers)
            wanted = self._config.context_tokens or DEFAULT_CONTEXT
            self._context = min(wanted, limit) if limit else wanted
        return self._context

    async def _limit(self, headers: Mapping[str, str]) -> int | None:
        """Return what the server says of the model's context; None where it does not say."""
        info = (await self._show(headers)).get("model_info")
        for name, value in info.items() if isinstance(info, dict) else ():
            if name.endswith(".context_length") and (limit := count(value)):
                return limit
        return None

    async def _show(self, headers: Mapping[str, str]) -> dict[str, Json]:
        """Return what ``/api/show`` says of the model, asked once; an empty object where the server does not answer."""
        if self._shown is None:
            try:
                async with asyncio.timeout(SHOW_SECONDS):
                    body = {"model": self._config.model}
                    async with post(self._at, "/api/show", body, headers, self._access.network()) as chunks:
                        shown = parse_json(await _whole(chunks))
            except (ModelError, BadJson, TimeoutError):
                return {}  # going on is safe: the request itself says what is wrong
            self._shown = shown if isinstance(shown, dict) else {}
        return self._shown


async def _whole(chunks: AsyncIterator[bytes]) -> bytes:
    found = bytearray()
    async for chunk in chunks:
        found += chunk
        if len(found) > LONGEST_LINE:
            raise ModelError("the description of a model is too long")
    return bytes(found)


async def _pieces(lines: AsyncIterator[dict[str, Json]]) -> AsyncGenerator[Piece, None]:
    """The lines of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    called = False
    async for line in lines:
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
            yield UsagePiece(count(line.get("prompt_eval_count")), count(line.get("eval_count")))
            ended = "max_tokens" if line.get("done_reason") == "length" else "end_turn"
            yield StopPiece("tool_use" if called else ended)
            return
    raise ModelBusy("the answer of Ollama broke off; try again")


def _wanted(raw: Json) -> WantedCall:
    """A call; Ollama gives its arguments as an object, some that speak its language as JSON text."""
    call = raw if isinstance(raw, dict) else {}
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return wanted_call(call.get("id"), function.get("name"), function.get("arguments"))


def _as_wire(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage(text=text, images=images):
            pictures = {"images": [image.data for image in images]} if images else {}
            return {"role": "user", "content": text, **pictures}
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
        case ToolMessage(call_id=call_id, tool=tool, output=output, images=images):
            pictures = {"images": [image.data for image in images]} if images else {}
            return {"role": "tool", "content": output, "tool_name": tool, "tool_call_id": call_id, **pictures}
        case _:
            assert_never(message)


def _tool_as_wire(tool: ToolSchema) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _base_url(text: str) -> str | None:
    """An address as Ollama's own programs take it: ``host``, ``host:port`` or a URL; "every address" means this one.

    None for what is no address. A name and a password in it are left out.
    """
    try:
        host = text or "127.0.0.1:11434"
        port = "" if "://" in host or urlsplit(f"http://{host}").port else ":11434"
        parts = urlsplit(host if "://" in host else f"http://{host}{port}")
        everywhere = parts.hostname in (None, "", "0.0.0.0", "::")
    except ValueError:
        return None  # the request reports it
    if everywhere:
        parts = parts._replace(netloc=f"127.0.0.1{f':{parts.port}' if parts.port else ''}")
    return base_url(parts.geturl())


def _text_of(error: Json) -> str:
    return error if isinstance(error, str) else json.dumps(error)[:LONGEST_ERROR]
