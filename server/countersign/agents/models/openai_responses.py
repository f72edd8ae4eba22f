"""OpenAI's Responses API. Nothing is stored at the provider: reasoning goes back encrypted, with the conversation."""

from __future__ import annotations

import hashlib
import json
import re
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
from countersign.agents.models.conversation import completed, count, merged, own_options, replayed
from countersign.agents.models.endpoint import OWN_URLS, Endpoint, endpoint
from countersign.agents.models.failures import broke_off, told_in_stream
from countersign.agents.models.http_answer import Access, key_of, post
from countersign.settings.policy import ModelConfig
from countersign.wire.base import Json

REASONING = re.compile(r"(o\d|gpt-[5-9]|codex)(?!.*-chat)")
"""Models that reason; others refuse a request for a summary of it."""
_OURS = frozenset({"model", "input", "instructions", "tools", "stream", "previous_response_id", "conversation"})


class OpenAIResponsesModel:
    """One model of OpenAI."""

    def __init__(self, config: ModelConfig, access: Access) -> None:
        self._config = config
        self._access = access
        self._at = endpoint("OpenAI", config.name, config.model, config.base_url or OWN_URLS["openai"])

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        key = await key_of(self._at, self._config, self._access, needed=True)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        body = self._body(system, messages, tools)
        async with (
            post(self._at, "/responses", body, headers, self._access.network()) as chunks,
            aclosing(_pieces(event_objects(chunks, self._at.vendor), self._at)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    def _body(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._config.model,
            "instructions": system,
            "input": list(_as_wire(messages, self._config.model)),
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                    "strict": False,
                }
                for tool in tools
            ],
            "stream": True,
            "store": False,
            "parallel_tool_calls": True,
            "prompt_cache_key": cache_key(system, messages),
        }
        if REASONING.match(self._config.model):
            body["reasoning"] = {"summary": "auto"}
            body["include"] = ["reasoning.encrypted_content"]
        return merged(body, own_options(self._config.options, _OURS))


def cache_key(system: str, messages: Sequence[Message]) -> str:
    """Return a key that requests of one chat share, so that they reach the machine that has their prefix cached."""
    first = next((message.text for message in messages if isinstance(message, UserMessage)), "")
    return hashlib.sha256(f"{system}\0{first}".encode(errors="replace")).hexdigest()[:32]


async def _pieces(events: AsyncIterator[dict[str, Json]], at: Endpoint) -> AsyncGenerator[Piece, None]:
    """The events of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    calls: dict[int, CallBuffer] = {}
    blocks: list[Json] = []
    called, refused, heard = 0, False, False
    async for event in events:
        call = None
        match event:
            case {"type": "response.output_text.delta", "delta": str(text)} if text:
                heard = True
                yield TextPiece(text)
            case {"type": "response.refusal.delta", "delta": str(text)} if text:
                refused = True
                yield TextPiece(text)
            case {
                "type": "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
                "delta": str(text),
            }:
                if text:
                    yield ThinkingPiece(text)
            case {"type": "response.reasoning_summary_part.done"}:
                yield ThinkingPiece("\n\n")
            case {
                "type": "response.output_item.added",
                "output_index": int(index),
                "item": {"type": "function_call"} as item,
            }:
                calls[index] = CallBuffer(item.get("call_id"), item.get("name"))
            case {"type": "response.function_call_arguments.delta", "output_index": int(index), "delta": str(text)}:
                call = calls[index].feed(text) if index in calls else None
            case {"type": "response.function_call_arguments.done", "output_index": int(index)}:
                call = calls[index].finish(event.get("arguments")) if index in calls else None
            case {"type": "response.output_item.done", "output_index": int(index), "item": dict(item)}:
                match item:
                    case {"type": "function_call"}:
                        buffer = calls.setdefault(index, CallBuffer(item.get("call_id"), item.get("name")))
                        call = buffer.finish(item.get("arguments"))
                    case {"type": "reasoning"}:
                        blocks.append({key: item[key] for key in _REASONING_KEYS if key in item})
                    case {"type": "message", "content": list(content)}:
                        text = "".join(_text_of(part) for part in content)
                        if text and not heard and not refused:
                            yield TextPiece(text)  # a server that sends no pieces
                        heard = False
                        if text:
                            blocks.append({"text": text})
            case {"type": "response.completed" | "response.incomplete" as kind, "response": dict(response)}:
                if any(isinstance(block, dict) and block.get("type") == "reasoning" for block in blocks):
                    yield ReplayPiece(Replay("openai", at.model, tuple(blocks)))
                yield _usage(response.get("usage"))
                yield StopPiece(_stop(kind, response, called=called > 0, refused=refused))
                return
            case {"type": "response.failed", "response": {"error": error}}:
                raise told_in_stream(at, error)
            case {"type": "error"}:
                raise told_in_stream(at, event.get("error") or event)
        if call is not None:
            blocks.append({"call": called})
            called += 1
            yield CallPiece(call)
    raise broke_off(at)


_REASONING_KEYS = ("type", "id", "summary", "encrypted_content")


def _stop(kind: Json, response: dict[str, Json], *, called: bool, refused: bool) -> ModelStop:
    if kind == "response.incomplete":
        match response.get("incomplete_details"):
            case {"reason": "content_filter"}:
                return "refusal"
            case _:
                return "max_tokens"
    if refused and not called:
        return "refusal"
    return "tool_use" if called else "end_turn"


def _usage(usage: Json) -> UsagePiece:
    match usage:
        case dict():
            details = usage.get("input_tokens_details")
            details = details if isinstance(details, dict) else {}
            return UsagePiece(
                count(usage.get("input_tokens")),
                count(usage.get("output_tokens")),
                count(details.get("cached_tokens")),
                count(details.get("cache_write_tokens")),
            )
        case _:
            return UsagePiece()


def _text_of(part: Json) -> str:
    match part:
        case {"type": "output_text", "text": str(text)} | {"type": "refusal", "refusal": str(text)}:
            return text
        case _:
            return ""


def _as_wire(messages: Sequence[Message], model: str) -> Iterator[Any]:
    for message in completed(messages):
        match message:
            case UserMessage(text=text, images=images):
                words = [{"type": "input_text", "text": text}] if text.strip() else []
                yield {"type": "message", "role": "user", "content": [*words, *map(_image, images)]}
            case AssistantMessage():
                yield from _assistant(message, model)
            case ToolMessage(call_id=call_id, output=output, images=images):
                result: Any = output
                if images:
                    result = [{"type": "input_text", "text": output}, *map(_image, images)]
                yield {"type": "function_call_output", "call_id": call_id, "output": result}
            case _:
                assert_never(message)


def _assistant(message: AssistantMessage, model: str) -> list[Any]:
    uses: list[Any] = [
        {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.tool or "unknown",
            "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
        }
        for call in message.calls
    ]
    blocks = replayed(message, "openai", model)
    if blocks is None:
        return [*([_said(message.text)] if message.text.strip() else []), *uses]
    items: list[Any] = []
    for block in blocks:
        match block:
            case {"call": int(index)}:
                items.append(uses[index])
            case {"text": str(text)}:
                items.append(_said(text))
            case _:
                items.append(block)
    return items


def _said(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:{image.mime_type};base64,{image.data}", "detail": "auto"}
