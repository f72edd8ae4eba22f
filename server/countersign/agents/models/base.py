"""What a model is to the loop: messages in, a stream of pieces out.

A provider translates its own wire into these values and nothing more. It announces a tool call as soon as the call's
arguments are complete, while text may still stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from countersign.wire.base import Json

ModelStop = Literal["end_turn", "max_tokens", "refusal", "tool_use"]


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool call of the model. ``broken`` says why its arguments are not a JSON object; they are then empty."""

    call_id: str
    tool: str
    arguments: Mapping[str, Json]
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    calls: tuple[WantedCall, ...] = ()
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call. ``refused`` where it did not run."""

    call_id: str
    tool: str
    output: str
    success: bool
    refused: bool = False


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
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class StopPiece:
    """The last piece of every stream."""

    reason: ModelStop


Piece = TextPiece | ThinkingPiece | CallPiece | UsagePiece | StopPiece


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as a model is told of it. ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """One model of one provider."""

    def stream(self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> AsyncIterator[Piece]:
        """Ask, and yield pieces as they come; ends with exactly one StopPiece.

        Cancelled or closed: the connection is closed and nothing more is spent.

        Raises:
            ModelError: the model failed, refused the key or could not be reached; the message says what to do.
        """
        ...
