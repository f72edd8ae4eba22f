"""Google's Gemini API. Calls come whole; the signatures of thoughts go back with the parts that they belong to."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, assert_never
from urllib.parse import quote

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
    WantedCall,
)
from countersign.agents.models.call_buffer import wanted_call
from countersign.agents.models.conversation import as_word, completed, count, merged, own_options, replayed
from countersign.agents.models.endpoint import OWN_URLS, Endpoint, endpoint
from countersign.agents.models.failures import broke_off, told_in_stream
from countersign.agents.models.http_answer import Access, key_of, post
from countersign.settings.policy import ModelConfig
from countersign.tools.visible import as_message
from countersign.wire.base import Json
from countersign.wire.errors import ModelBusy

THINKS = re.compile(r"gemini-(2\.5|[3-9])")
"""Models that take a thinking configuration."""
SIGNED = re.compile(r"gemini-[3-9]")
"""Models that refuse a call of this turn without the signature that they gave with it."""
FOREIGN_SIGNATURE = "skip_thought_signature_validator"
"""What Google documents for calls that another model made."""
UNNAMED = "unknown"
"""The name of a call whose own is not known."""
_OURS = frozenset({"contents", "systemInstruction", "tools"})
_REFUSED = frozenset(
    "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT "
    "IMAGE_RECITATION ESCALATION MODEL_ARMOR".split()
)
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})


class GeminiModel:
    """One model of Google."""

    def __init__(self, config: ModelConfig, access: Access) -> None:
        self._config = config
        self._access = access
        self._at = endpoint("Google", config.name, config.model, config.base_url or OWN_URLS["google"])

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``."""
        key = await key_of(self._at, self._config, self._access, needed=True)
        headers = {"x-goog-api-key": key} if key else {}
        path = f"/v1beta/models/{quote(self._config.model, safe='')}:streamGenerateContent?alt=sse"
        body = self._body(system, messages, tools)
        async with (
            post(self._at, path, body, headers, self._access.network()) as chunks,
            aclosing(_pieces(event_objects(chunks, self._at.vendor), self._at)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    def _body(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> dict[str, Any]:
        body: dict[str, Any] = {"contents": _as_wire(messages, self._config.model)}
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        if tools:
            declared = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.parameters)}
                for tool in tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
        if THINKS.match(self._config.model):
            body["generationConfig"] = {"thinkingConfig": {"includeThoughts": True}}
        return merged(body, own_options(self._config.options, _OURS))


async def _pieces(events: AsyncIterator[dict[str, Json]], at: Endpoint) -> AsyncGenerator[Piece, None]:
    """The responses of an answer as pieces.

    Raises:
        ModelError: an error came in the middle, or the answer broke off.
    """
    blocks: list[Json] = []
    called, signed = 0, False
    finish: str | None = None
    told: Json = None
    usage: Json = None
    async for response in events:
        if (error := response.get("error")) is not None:
            raise told_in_stream(at, error)
        usage = response.get("usageMetadata") or usage
        match response.get("promptFeedback"):
            case {"blockReason": str(reason)} if reason != "BLOCK_REASON_UNSPECIFIED":
                yield NoticePiece("warning", f"Google blocked the prompt: `{as_message(reason)}`")
                finish = "SAFETY"
        candidates = response.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict):
            continue
        finish = as_word(candidate.get("finishReason")) or finish
        told = candidate.get("finishMessage") or told
        match candidate.get("content"):
            case {"parts": list(parts)}:
                pass
            case _:
                parts = []
        for part in parts:
            if not isinstance(part, dict):
                continue
            signature = part.get("thoughtSignature")
            marked: dict[str, Json] = {"thoughtSignature": signature} if isinstance(signature, str) else {}
            signed = signed or bool(marked)
            match part:
                case {"functionCall": dict(call)}:
                    blocks.append({"call": called, **marked})
                    called += 1
                    yield CallPiece(wanted_call(call.get("id"), call.get("name"), call.get("args") or {}))
                case {"text": str(text), "thought": True}:
                    if text:
                        yield ThinkingPiece(text)
                case {"text": str(text)}:
                    _add_text(blocks, text, marked)
                    if text:
                        yield TextPiece(text)
    if finish is None:
        raise broke_off(at)
    if finish in _UNREADABLE:
        if not called:
            raise ModelBusy(f"`{at.model}` wrote a call that Google could not read; try again")
        # Google leaves the call out. The others may have run already, so the answer stands; the model gets an error
        # for this one.
        blocks.append({"call": called})
        yield CallPiece(_unread(told if isinstance(told, str) else finish))
    if signed:
        yield ReplayPiece(Replay("google", at.model, tuple(blocks)))
    yield _usage(usage)
    yield StopPiece(_stop(finish, called=called > 0))


def _unread(told: str) -> WantedCall:
    broken = f"Google could not read this call ({as_message(told)}); make it again"
    return WantedCall(f"call_{secrets.token_hex(8)}", UNNAMED, {}, broken)


def _add_text(blocks: list[Json], text: str, marked: dict[str, Json]) -> None:
    last = blocks[-1] if blocks else None
    if not marked and isinstance(last, dict) and "text" in last and "thoughtSignature" not in last:
        last["text"] = f"{last['text']}{text}"
    elif text or marked:
        blocks.append({"text": text, **marked})


def _stop(finish: str | None, *, called: bool) -> ModelStop:
    if called:
        return "tool_use"
    if finish == "MAX_TOKENS":
        return "max_tokens"
    return "refusal" if finish in _REFUSED else "end_turn"


def _usage(usage: Json) -> UsagePiece:
    if not isinstance(usage, dict):
        return UsagePiece()
    said, thought = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
    made = None if said is None and thought is None else (said or 0) + (thought or 0)
    return UsagePiece(count(usage.get("promptTokenCount")), made, count(usage.get("cachedContentTokenCount")))


def _as_wire(messages: Sequence[Message], model: str) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []

    def add(role: str, parts: list[dict[str, Any]]) -> None:
        if said and said[-1]["role"] == role:
            said[-1]["parts"] += parts
        else:
            said.append({"role": role, "parts": parts})

    for message in completed(messages):
        match message:
            case UserMessage(text=text, images=images):
                add("user", [*([{"text": text}] if text.strip() else []), *map(_image, images)])
            case AssistantMessage():
                add("model", _assistant(message, model))
            case ToolMessage(call_id=call_id, tool=tool, output=output, success=success, images=images):
                response = {"output" if success else "error": output}
                result = {"id": call_id, "name": tool or UNNAMED, "response": response}
                add("user", [{"functionResponse": result}, *map(_image, images)])
            case _:
                assert_never(message)
    return said


def _assistant(message: AssistantMessage, model: str) -> list[dict[str, Any]]:
    uses: list[dict[str, Any]] = [
        {"functionCall": {"id": call.call_id, "name": call.tool or UNNAMED, "args": dict(call.arguments)}}
        for call in message.calls
    ]
    blocks = replayed(message, "google", model)
    if blocks is None:
        if uses and SIGNED.match(model):
            uses[0]["thoughtSignature"] = FOREIGN_SIGNATURE
        return [*([{"text": message.text}] if message.text else []), *uses]
    parts: list[dict[str, Any]] = []
    for block in blocks:
        match block:
            case {"call": int(index), **marked}:
                parts.append({**uses[index], **marked})
            case dict():
                parts.append(dict(block))
    return parts


def _image(image: Image) -> dict[str, Any]:
    return {"inlineData": {"mimeType": image.mime_type, "data": image.data}}
