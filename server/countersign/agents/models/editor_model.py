"""Models that the person's editor offers, asked through the client.

The client sends each piece as it comes; the answer to the request says how many there were. What the editor's models
say is bounded and read as strictly as what comes over a network.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from typing import Protocol, assert_never

from countersign.agents.models.answer_reader import LONGEST_ANSWER
from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Image,
    Message,
    Piece,
    StopPiece,
    TextPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
)
from countersign.agents.models.call_buffer import wanted_call
from countersign.agents.models.conversation import completed
from countersign.settings.policy import ModelConfig
from countersign.tools.visible import as_message
from countersign.wire.errors import ClientError, ContextTooLong, ModelError
from countersign.wire.providers import (
    LmChatParams,
    LmChatResult,
    LmContent,
    LmImage,
    LmListResult,
    LmMessage,
    LmPart,
    LmText,
    LmTool,
    LmToolCall,
    LmToolResult,
)
from countersign.wire.strict_json import safe_text


class Parts:
    """The pieces of one answer that have come. A class because they wait until they are read, within a bound."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[LmPart | None] = asyncio.Queue()
        self._size = 0

    def add(self, part: LmPart) -> None:
        """Take a piece; what is over the bound is left out, and the answer then fails."""
        content = part.content
        self._size += len(content.text if isinstance(content, LmText) else content.input)
        if self._size <= LONGEST_ANSWER:
            self._queue.put_nowait(part)

    def answered(self) -> None:
        """Wake the reader: the request has its answer."""
        self._queue.put_nowait(None)

    async def next(self) -> LmPart | None:
        """Return the next piece, or None once when the request was answered."""
        return await self._queue.get()


class Editor(Protocol):
    """The client, as far as its models go."""

    def offers_models(self) -> bool: ...

    def open(self, request_id: str) -> Parts:
        """Begin to collect the pieces of a request."""
        ...

    def close(self, request_id: str) -> None: ...

    async def chat(self, params: LmChatParams) -> LmChatResult:
        """Ask. Cancelled: the editor's request is, too. Raises ClientError."""
        ...

    async def models(self) -> LmListResult:
        """Raises ClientError."""
        ...


class EditorModel:
    """One model of the editor, named by its id, its family or ``vendor/family``."""

    def __init__(self, config: ModelConfig, editor: Editor | None) -> None:
        self._config = config
        self._editor = editor

    async def most_context(self) -> int | None:
        """As ``base.Bounded``."""
        editor = self._available()
        try:
            models = (await editor.models()).models
        except ClientError:
            return None  # the request itself says what is wrong
        wanted = self._config.model
        names = ((model.id, model.family, f"{model.vendor}/{model.family}") for model in models)
        found = next((model for model, known in zip(models, names, strict=True) if wanted in known), None)
        return found.max_input_tokens if found is not None and found.max_input_tokens > 0 else None

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        """As ``base.Model.stream``. The editor has no system prompts, so ours is the first message."""
        editor = self._available()
        request_id = secrets.token_hex(8)
        instructed = LmMessage(role="user", content=[LmText(text=system)])
        params = LmChatParams(
            request_id=request_id,
            model=self._config.model,
            messages=[*([instructed] if system else []), *map(_as_wire, completed(messages))],
            tools=[
                LmTool(name=tool.name, description=tool.description, parameters=dict(tool.parameters)) for tool in tools
            ],
        )
        parts = editor.open(request_id)
        asking = asyncio.ensure_future(editor.chat(params))
        asking.add_done_callback(lambda _: parts.answered())
        heard, called, answered = 0, False, False
        try:
            while not answered or heard < _promised(asking):
                part = await parts.next()
                if part is None:
                    answered = True  # the answer may overtake its last pieces
                    continue
                heard += 1
                match part.content:
                    case LmText(text=text):
                        if text:
                            yield TextPiece(safe_text(text))
                    case LmToolCall(call_id=call_id, name=name, input=given):
                        called = True
                        yield CallPiece(wanted_call(call_id, name, given))
            self._check(asking)
        finally:
            editor.close(request_id)
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
        yield UsagePiece()
        yield StopPiece("tool_use" if called else "end_turn")

    def _available(self) -> Editor:
        if self._editor is None or not self._editor.offers_models():
            raise ModelError(f"this editor offers no models; choose another provider for `{self._config.name}`")
        return self._editor

    def _check(self, asking: asyncio.Future[LmChatResult]) -> None:
        try:
            reason = asking.result().reason
        except ClientError as error:
            raise ModelError(
                f"the editor could not ask the model `{self._config.model}`: {as_message(str(error))}"
            ) from None
        if reason is not None:
            told = f"the editor's model `{self._config.model}` failed: {as_message(reason)}"
            raise ContextTooLong(told) if "token limit" in reason.lower() else ModelError(told)


def _promised(asking: asyncio.Future[LmChatResult]) -> int:
    return 0 if asking.cancelled() or asking.exception() is not None else asking.result().parts


def _as_wire(message: Message) -> LmMessage:
    content: list[LmContent]
    match message:
        case UserMessage(text=text, images=images):
            content = [*([LmText(text=text)] if text.strip() else []), *map(_image, images)]
            return LmMessage(role="user", content=content)
        case AssistantMessage(text=text, calls=calls):
            content = [LmText(text=text)] if text.strip() else []
            content += [
                LmToolCall(
                    call_id=call.call_id,
                    name=call.tool or "unknown",
                    input=json.dumps(dict(call.arguments), ensure_ascii=False),
                )
                for call in calls
            ]
            return LmMessage(role="assistant", content=content)
        case ToolMessage(call_id=call_id, output=output, images=images):
            content = [LmToolResult(call_id=call_id, text=output), *map(_image, images)]
            return LmMessage(role="user", content=content)
        case _:
            assert_never(message)


def _image(image: Image) -> LmImage:
    return LmImage(mime_type=image.mime_type, data=image.data)
