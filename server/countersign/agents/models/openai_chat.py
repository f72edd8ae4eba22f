"""OpenAI's Chat Completions, as compatible servers speak it: OpenRouter, vLLM, LM Studio, llama.cpp, Mistral, DeepSeek.

Such servers differ in where they put thinking, whether calls have an index, and whether they say ``[DONE]``; all of it
is read. A call starts when its arguments close, since most servers say that it is complete only at the end.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, assert_never

from countersign.agents.models.answer_reader import event_objects
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Image,
    Message,
    ModelStop,
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
from countersign.agents.models.conversation import as_word, completed, count, merged, own_options
from countersign.agents.models.endpoint import OWN_URLS, Endpoint, endpoint
from countersign.agents.models.failures import broke_off, told_in_stream
from countersign.agents.models.http_answer import Access, key_of, post
from countersign.settings.policy import ModelConfig
from countersign.wire.base import Json

_OURS = frozenset({"model", "messages", "tools", "stream"})
_STOPS: dict[str | None, ModelStop] = {"length": "max_tokens", "content_filter": "refusal"}
_THINKING = ("reasoning_content", "reasoning")
"""Where servers put the model's thinking; the first that is there counts."""


class OpenAIChatModel:
    """One model of a server that speaks Chat Completions."""

    def __init__(self, config: ModelConfig, access: Access) -> None:
        self._config = config
        self._access = access
        vendor = "OpenAI" if config.base_url is None else "the model server"
        self._at = endpoint(vendor, config.name, config.model, config.base_url or OWN_URLS["openai"])

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        key = await key_of(self._at, self._config, self._access, needed=self._config.base_url is None)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body = self._body(system, messages, tools)
        async with (
            post(self._at, "/chat/completions", body, headers, self._access.network()) as chunks,
            aclosing(_pieces(event_objects(chunks, self._at.vendor), self._at)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    def _body(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": [
                *([{"role": "system", "content": system}] if system else []),
                *_as_wire(messages, self._config.model),
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in tools
            ]
        return merged(body, own_options(self._config.options, _OURS))


class _Calls:
    """The calls of one answer, by index, else by id, else one after the other. A class because pieces add to them."""

    def __init__(self) -> None:
        self._buffers: dict[int | str | None, CallBuffer] = {}
        self._last: int | str | None = None

    def feed(self, piece: dict[str, Json]) -> list[CallPiece]:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        index, call_id, name = piece.get("index"), piece.get("id") or None, function.get("name")
        place: int | str | None = (
            index if isinstance(index, int) else call_id if isinstance(call_id, str) else self._last
        )
        done: list[CallPiece] = []
        if place is None or (place not in self._buffers and (call_id is not None or name)):
            # A new call ends the one before it, whether its arguments closed or not.
            done += self._finished(self._last)
            place = place if place is not None else len(self._buffers)
            self._buffers[place] = CallBuffer(call_id, name)
        buffer = self._buffers.get(place)
        self._last = place
        if buffer is None:
            return done
        match function.get("arguments"):
            case str(text):
                call = buffer.feed(text)
            case dict(whole):
                call = buffer.finish(json.dumps(whole))
            case _:
                call = None
        return [*done, *([CallPiece(call)] if call is not None else [])]

    def finish(self) -> list[CallPiece]:
        return [piece for place in self._buffers for piece in self._finished(place)]

    def _finished(self, place: int | str | None) -> list[CallPiece]:
        buffer = self._buffers.get(place)
        call = buffer.finish() if buffer is not None else None
        return [CallPiece(call)] if call is not None else []


async def _pieces(events: AsyncIterator[dict[str, Json]], at: Endpoint) -> AsyncGenerator[Piece, None]:
    """The chunks of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    calls = _Calls()
    finish: str | None = None
    usage: Json = None
    called, refused = False, False
    field: str | None = None
    details: list[Json] = []
    async for chunk in events:
        if (error := chunk.get("error")) is not None:
            raise told_in_stream(at, error)
        usage = chunk.get("usage") or usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            continue
        finish = as_word(choice.get("finish_reason")) or finish
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        thinking = next((key for key in _THINKING if isinstance(delta.get(key), str) and delta[key]), None)
        if thinking is not None:
            field = thinking
            yield ThinkingPiece(str(delta[thinking]))
        if isinstance(more := delta.get("reasoning_details"), list):
            details += more
        for piece in _content(delta.get("content")):
            yield piece
        if isinstance(text := delta.get("refusal"), str) and text:
            refused = True
            yield TextPiece(text)
        wanted = delta.get("tool_calls")
        for raw in wanted if isinstance(wanted, list) else ():
            for call in calls.feed(raw if isinstance(raw, dict) else {}):
                called = True
                yield call
    if finish is None:
        raise broke_off(at)
    for call in calls.finish():
        called = True
        yield call
    if details or field is not None:
        block: dict[str, Json] = {"details": details} if details else {"field": field}
        yield ReplayPiece(Replay("chat", at.model, (block,)))
    yield _usage(usage)
    ended: ModelStop = "refusal" if refused and not called else _STOPS.get(finish, "end_turn")
    yield StopPiece("tool_use" if called and ended == "end_turn" else ended)


def _content(content: Json) -> Iterator[Piece]:
    """Text is a string; some servers send a list of parts, thinking among them."""
    if isinstance(content, str) and content:
        yield TextPiece(content)
    for part in content if isinstance(content, list) else ():
        match part:
            case {"type": "text", "text": str(text)} if text:
                yield TextPiece(text)
            case {"type": "thinking", "thinking": list(parts)}:
                for inner in parts:
                    if isinstance(inner, dict) and isinstance(text := inner.get("text"), str) and text:
                        yield ThinkingPiece(text)


def _usage(usage: Json) -> UsagePiece:
    if not isinstance(usage, dict):
        return UsagePiece()
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached = details.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))
    return UsagePiece(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")), count(cached))


def _as_wire(messages: Sequence[Message], model: str) -> Iterator[dict[str, Any]]:
    pictures: list[Image] = []
    for message in completed(messages):
        if pictures and not isinstance(message, ToolMessage):
            # A tool message takes text alone, so its pictures follow the results.
            yield {"role": "user", "content": list(map(_image, pictures))}
            pictures = []
        match message:
            case UserMessage(text=text, images=()):
                yield {"role": "user", "content": text}
            case UserMessage(text=text, images=images):
                words = [{"type": "text", "text": text}] if text.strip() else []
                yield {"role": "user", "content": [*words, *map(_image, images)]}
            case AssistantMessage():
                yield _assistant(message, model)
            case ToolMessage(call_id=call_id, output=output, images=images):
                yield {"role": "tool", "tool_call_id": call_id, "content": output}
                pictures += images
            case _:
                assert_never(message)
    if pictures:
        yield {"role": "user", "content": list(map(_image, pictures))}


def _assistant(message: AssistantMessage, model: str) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {
                    "name": call.tool or "unknown",
                    "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
                },
            }
            for call in message.calls
        ]
    match message.replay:
        case Replay(provider="chat", model=by, blocks=({"details": list(details)},)) if by == model:
            said["reasoning_details"] = details
        case Replay(provider="chat", model=by, blocks=({"field": str(field)},)) if by == model and message.thinking:
            said[field] = message.thinking
        case _:
            pass
    return said


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"}}
