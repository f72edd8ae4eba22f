"""Models as a client lists them, the keys that it keeps for model servers, and the models that its editor offers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from countersign.wire.base import Json, WireModel


class SecretReadParams(WireModel):
    """``secret/read``: the server asks for a key, for one request or one start of an agent. ``origin`` is where the key
    will be sent: the origin of a URL, or an agent's command line.

    A client gives a key only to the origin that the person saw when they entered it. Neither side logs or traces it.
    """

    name: str
    origin: str | None = None


class SecretReadResult(WireModel):
    """``value`` is absent where there is none, or none for this origin; ``reason`` then says so in one sentence."""

    value: str | None = None
    reason: str | None = None


class ModelView(WireModel):
    """One entry of ``models``. ``origin`` is where its key is sent, ``secret`` the name under which a client keeps
    it; absent where the settings name a variable or the provider has no keys."""

    name: str
    provider: str
    model: str
    origin: str | None = None
    secret: str | None = None


class ModelListResult(WireModel):
    models: list[ModelView]


class LmText(WireModel):
    type: Literal["text"] = "text"
    text: str


class LmImage(WireModel):
    """``data`` is base64."""

    type: Literal["image"] = "image"
    mime_type: str
    data: str


class LmToolCall(WireModel):
    """``input`` is JSON text: a model's values are not ours."""

    type: Literal["toolCall"] = "toolCall"
    call_id: str
    name: str
    input: str


class LmToolResult(WireModel):
    type: Literal["toolResult"] = "toolResult"
    call_id: str
    text: str


LmContent = Annotated[LmText | LmImage | LmToolCall | LmToolResult, Field(discriminator="type")]


class LmMessage(WireModel):
    role: Literal["user", "assistant"]
    content: list[LmContent]


class LmTool(WireModel):
    """``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Json]


class LmChatParams(WireModel):
    """``lm/chat``: ask a model of the editor. What it says comes as ``lm/part`` with this ``requestId``."""

    request_id: str
    model: str
    messages: list[LmMessage]
    tools: list[LmTool]


class LmChatResult(WireModel):
    """The answer is whole, in so many ``parts``; or it failed, for the ``reason`` of one sentence."""

    parts: int
    reason: str | None = None


class LmPart(WireModel):
    """``lm/part``: the next piece of an answer."""

    request_id: str
    content: Annotated[LmText | LmToolCall, Field(discriminator="type")]


class LmModel(WireModel):
    """A model that the editor offers. ``max_input_tokens`` is what one request may have."""

    id: str
    vendor: str
    family: str
    name: str
    max_input_tokens: int


class LmListResult(WireModel):
    models: list[LmModel]
