"""Anthropic's Messages API, and servers that speak it.

Thinking blocks are signed and go back unchanged with the message that they began. The prefix that stays the same
(tools, system prompt, conversation so far) is marked for the provider's cache.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, assert_never

from countersign.agents.models.answer_reader import event_objects
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Image,
    Message,
    ModelStop,
    NoticePiece,
    Piece,
    Replay,
    ReplayPiece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
)
from countersign.agents.models.call_buffer import CallBuffer
from countersign.agents.models.conversation import as_word, completed, count, merged, own_options, replayed
from countersign.agents.models.endpoint import OWN_URLS, Endpoint, endpoint
from countersign.agents.models.failures import broke_off, told_in_stream
from countersign.agents.models.http_answer import Access, key_of, post
from countersign.settings.policy import ModelConfig
from countersign.tools.visible import as_message
from countersign.wire.base import Json

VERSION = "2023-06-01"
MOST_OUTPUT = 32_000
"""Tokens of one answer where ``options.max_tokens`` says nothing; every current model takes so many."""
_MARK = {"type": "ephemeral"}
_OURS = frozenset({"model", "messages", "system", "tools", "stream"})
_STOPS: dict[str | None, ModelStop] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "tool_use": "tool_use",
}


class AnthropicModel:
    """One model of Anthropic."""

    def __init__(self, config: ModelConfig, access: Access) -> None:
        self._config = config
        self._access = access
        self._at = endpoint("Anthropic", config.name, config.model, config.base_url or OWN_URLS["anthropic"])

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        key = await key_of(self._at, self._config, self._access, needed=True)
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        body = self._body(system, messages, tools)
        async with (
            post(self._at, "/v1/messages", body, headers, self._access.network()) as chunks,
            aclosing(_pieces(event_objects(chunks, self._at.vendor), self._at)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    def _body(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        config = self._config
        output = MOST_OUTPUT if config.context_tokens is None else min(MOST_OUTPUT, max(1, config.context_tokens // 4))
        body: dict[str, Any] = {
            "model": config.model,
            "max_tokens": output,
            "stream": True,
            "messages": _marked(_as_wire(messages, config.model)),
        }
        if system:
            body["system"] = [{"type": "text", "text": system, "cache_control": _MARK}]
        if tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in tools
            ]
        return merged(body, own_options(config.options, _OURS))


async def _pieces(events: AsyncIterator[dict[str, Json]], at: Endpoint) -> AsyncGenerator[Piece, None]:
    """The events of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    blocks: list[dict[str, Json]] = []
    calls: dict[int, CallBuffer] = {}
    opened: dict[int, dict[str, Any]] = {}
    called = 0
    usage: dict[str, Json] = {}
    stop: str | None = None
    async for event in events:
        match event:
            case {"type": "message_start", "message": {"usage": dict(given)}}:
                usage.update(given)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                match block.get("type"):
                    case "tool_use":
                        calls[index] = CallBuffer(block.get("id"), block.get("name"))
                        if block.get("input"):
                            calls[index].feed(json.dumps(block["input"]))
                    case "text" | "thinking" | "redacted_thinking":
                        opened[index] = {key: value for key, value in block.items() if key != "citations"}
                        blocks.append(opened[index])
                        if text := block.get("text"):
                            yield TextPiece(str(text))
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                match delta:
                    case {"type": "text_delta", "text": str(text)} if text:
                        _extend(opened.get(index), "text", text)
                        yield TextPiece(text)
                    case {"type": "thinking_delta", "thinking": str(text)} if text:
                        _extend(opened.get(index), "thinking", text)
                        yield ThinkingPiece(text)
                    case {"type": "signature_delta", "signature": str(signature)}:
                        _extend(opened.get(index), "signature", signature)
                    case {"type": "input_json_delta", "partial_json": str(text)} if index in calls:
                        if (call := calls[index].feed(text)) is not None:
                            blocks.append({"call": called})
                            called += 1
                            yield CallPiece(call)
            case {"type": "content_block_stop", "index": int(index)} if index in calls:
                if (call := calls[index].finish()) is not None:
                    blocks.append({"call": called})
                    called += 1
                    yield CallPiece(call)
            case {"type": "message_delta", "delta": dict(delta)}:
                stop = as_word(delta.get("stop_reason")) or stop
                if isinstance(given := event.get("usage"), dict):
                    usage.update({key: value for key, value in given.items() if value is not None})
                match delta.get("stop_details"):
                    case {"explanation": str(reason)} if reason:
                        yield NoticePiece("warning", f"Anthropic stopped the answer: {as_message(reason)}")
            case {"type": "message_stop"}:
                if any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
                    yield ReplayPiece(Replay("anthropic", at.model, tuple(_closed(blocks))))
                yield _usage(usage)
                ended = _STOPS.get(stop, "end_turn")
                yield StopPiece("tool_use" if called and ended == "end_turn" else ended)
                return
            case {"type": "error", "error": error}:
                raise told_in_stream(at, error)
    raise broke_off(at)


def _extend(block: dict[str, Any] | None, key: str, text: str) -> None:
    if block is not None:
        block.setdefault("_" + key, []).append(text)


def _closed(blocks: list[dict[str, Any]]) -> list[Json]:
    """Join what came in pieces. A text goes back as the message's own, so that what was redacted there stays so."""
    closed: list[Json] = []
    for block in blocks:
        whole = {key: value for key, value in block.items() if not key.startswith("_")}
        for key in ("text", "thinking", "signature"):
            if "_" + key in block:
                whole[key] = str(whole.get(key) or "") + "".join(block["_" + key])
        if whole.get("type") != "text" or whole.get("text"):
            closed.append({"text": whole["text"]} if whole.get("type") == "text" else whole)
    return closed


def _usage(usage: dict[str, Json]) -> UsagePiece:
    fresh, read = count(usage.get("input_tokens")), count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    whole = None if fresh is None else fresh + (read or 0) + (written or 0)
    return UsagePiece(whole, count(usage.get("output_tokens")), read, written)


def _as_wire(messages: Sequence[Message], model: str) -> list[dict[str, Any]]:
    """Messages with one role after the other: results and what the person says next stand in one message."""
    said: list[dict[str, Any]] = []

    def add(role: str, content: list[dict[str, Any]]) -> None:
        if said and said[-1]["role"] == role:
            said[-1]["content"] += content
        else:
            said.append({"role": role, "content": content})

    for message in completed(messages):
        match message:
            case UserMessage(text=text, images=images):
                add("user", [*map(_image, images), *([{"type": "text", "text": text}] if text.strip() else [])])
            case AssistantMessage():
                add("assistant", _assistant(message, model))
            case ToolMessage(call_id=call_id, output=output, success=success, images=images):
                content: Any = output or "[no output]"
                if images:
                    content = [{"type": "text", "text": content}, *map(_image, images)]
                result = {"type": "tool_result", "tool_use_id": call_id, "content": content}
                add("user", [result if success else {**result, "is_error": True}])
            case _:
                assert_never(message)
    return said


def _assistant(message: AssistantMessage, model: str) -> list[dict[str, Any]]:
    uses: list[dict[str, Any]] = [
        {"type": "tool_use", "id": call.call_id, "name": call.tool or "unknown", "input": dict(call.arguments)}
        for call in message.calls
    ]
    blocks = replayed(message, "anthropic", model)
    if blocks is None:
        text = message.text.rstrip()
        return [*([{"type": "text", "text": text}] if text else []), *uses]
    content: list[dict[str, Any]] = []
    for block in blocks:
        match block:
            case {"call": int(index)}:
                content.append(uses[index])
            case {"text": str(text)}:
                content.append({"type": "text", "text": text})
            case dict():
                content.append(block)
    return content


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": image.data}}


def _marked(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark the last two messages of the person's side for the cache: the end of this request, and of the one before."""
    places = [index for index, message in enumerate(said) if message["role"] == "user"][-2:]
    for index in places:
        last = said[index]["content"][-1]
        said[index]["content"][-1] = {**last, "cache_control": _MARK}
    return said
