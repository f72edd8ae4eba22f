"""What a model is to the loop: messages in, a stream of pieces out.

A provider translates its own wire into these values and nothing more. It announces a tool call as soon as the call's
arguments are complete, while text may still stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from countersign.wire.base import Json

ModelStop = Literal["end_turn", "max_tokens", "refusal", "tool_use"]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: ``data`` is base64."""

    mime_type: str
    data: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What a provider wants back unchanged with a message of its own: signed or encrypted thinking, and its order.

    ``blocks`` are the provider's own values; only the provider and model that wrote them read them. ``{"call": N}`` and
    ``{"text": …}`` stand for the message's N-th call and for a part of its text.
    """

    provider: str
    model: str
    blocks: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool call of the model. ``broken`` says why it cannot be read; its arguments are then empty."""

    call_id: str
    tool: str
    arguments: Mapping[str, Json]
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    calls: tuple[WantedCall, ...] = ()
    thinking: str = ""
    replay: Replay | None = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call. ``refused`` where it did not run."""

    call_id: str
    tool: str
    output: str
    success: bool
    refused: bool = False
    images: tuple[Image, ...] = ()


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A complete call."""

    call: WantedCall


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """Tokens of one request. ``input_tokens`` is the whole prompt, with the ``cached_tokens`` read from a cache and the
    ``cache_write_tokens`` written to one."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class NoticePiece:
    """Something for the person: the server asks to wait, or the model refused and says why."""

    level: Literal["info", "warning"]
    message: str


@dataclass(frozen=True, slots=True)
class WaitPiece:
    """The request is sent again after this many seconds. Cancelling the turn ends the wait."""

    seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class ReplayPiece:
    replay: Replay


@dataclass(frozen=True, slots=True)
class StopPiece:
    """The last piece of every stream."""

    reason: ModelStop


Piece = TextPiece | ThinkingPiece | CallPiece | UsagePiece | NoticePiece | WaitPiece | ReplayPiece | StopPiece


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool's description for a model. ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Bounded(Protocol):
    """A model that can say how much context it has."""

    async def most_context(self) -> int | None:
        """Return the tokens that one request may have, or None where nobody knows."""
        ...


@runtime_checkable
class Sighted(Protocol):
    """A model that can say whether it takes images."""

    async def takes_images(self) -> bool | None:
        """Return whether it does, or None where nobody knows."""
        ...


class Model(Protocol):
    """One model of one provider."""

    def stream(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> AsyncIterator[Piece]:
        """Ask, and yield pieces as they come; ends with exactly one StopPiece.

        Cancelled or closed: the connection is closed and nothing more is spent.

        Raises:
            ModelError: the model failed, refused the key or could not be reached; the message says what to do.
        """
        ...
