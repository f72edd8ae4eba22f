"""Our agent's loop, without IO: it is told what happened and says what to do next.

Ask a model; start every call as soon as its block is complete; when the model's message has ended and every call has
its reply, ask again; end when a message calls nothing. Running, streaming and cancelling are left to ``drive.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
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
    UsagePiece,
    WaitPiece,
    WantedCall,
)
from countersign.wire.threads import StopReason


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model with the messages as they stand."""


@dataclass(frozen=True, slots=True)
class StartCall:
    """Start this call now, beside whatever else runs."""

    call: WantedCall


@dataclass(frozen=True, slots=True)
class Keep:
    """These messages are part of the conversation now; keep them."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The turn is over."""

    reason: StopReason


Action = AskModel | StartCall | Keep | Finish


class Loop:
    """The state of one turn: what was said, what is being said, and which calls are out.

    ``most_steps`` bounds how often the model is asked. A resumed turn begins with an assistant message whose calls
    have not all been answered.
    """

    def __init__(self, messages: Sequence[Message], *, most_steps: int) -> None:
        self.messages: list[Message] = list(messages)
        self._most_steps = most_steps
        self._steps = 0
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[WantedCall] = []
        self._replay: Replay | None = None
        self._replies: dict[str, ToolMessage] = {}
        self._speaking = False
        self._stop: ModelStop | None = None

    def start(self) -> list[Action]:
        """Begin, or take up an assistant message whose calls are still open."""
        open_calls = unanswered(self.messages)
        if not open_calls:
            return self._ask()
        self._calls = list(open_calls)
        self._stop = "tool_use"
        return [StartCall(call) for call in open_calls]

    def heard(self, piece: Piece) -> list[Action]:
        """A piece of the model's stream came."""
        match piece:
            case TextPiece(text):
                self._text.append(text)
                return []
            case ThinkingPiece(text):
                self._thinking.append(text)
                return []
            case CallPiece(call):
                self._calls.append(call)
                return [StartCall(call)]
            case ReplayPiece(replay):
                self._replay = replay
                return []
            case UsagePiece() | NoticePiece() | WaitPiece():
                return []
            case StopPiece(reason):
                self._speaking = False
                self._stop = reason
                said = AssistantMessage("".join(self._text), tuple(self._calls), "".join(self._thinking), self._replay)
                early = tuple(self._replies.values())
                self.messages += [said, *early]
                return [Keep((said, *early)), *self._go_on()]

    def replied(self, reply: ToolMessage) -> list[Action]:
        """A call has its result (or its refusal). It is kept at once, so that a restart never runs the call again;
        one that came before the message ended is kept with it."""
        self._replies[reply.call_id] = reply
        if self._speaking:
            return []
        self.messages.append(reply)
        return [Keep((reply,)), *self._go_on()]

    def cut_off(self) -> tuple[Message, ...]:
        """What must still be kept when the turn is stopped in the middle of the model's message."""
        if not self._speaking or not (self._text or self._calls):
            return ()
        said = AssistantMessage("".join(self._text), tuple(self._calls), "".join(self._thinking))
        return (said, *self._replies.values())

    def _ask(self) -> list[Action]:
        if self._steps >= self._most_steps:
            return [Finish("max_turn_requests")]
        self._steps += 1
        self._text, self._thinking, self._calls, self._replies = [], [], [], {}
        self._replay = None
        self._speaking, self._stop = True, None
        return [AskModel()]

    def _go_on(self) -> list[Action]:
        if self._speaking or len(self._replies) < len(self._calls):
            return []
        if self._calls:
            _in_order(self.messages)
            return self._ask()
        match self._stop:
            case "max_tokens" | "refusal":
                return [Finish(self._stop)]
            case "end_turn" | "tool_use" | None:
                return [Finish("end_turn")]


def unanswered(messages: Sequence[Message]) -> tuple[WantedCall, ...]:
    """The calls of the last assistant message that no reply follows."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.call_id)
        elif isinstance(message, AssistantMessage):
            return tuple(call for call in message.calls if call.call_id not in answered)
        else:
            return ()
    return ()


def _in_order(messages: list[Message]) -> None:
    """Put the replies at the end into the order of their calls: a model reads the same, whoever was quicker."""
    start = max(index for index, message in enumerate(messages) if isinstance(message, AssistantMessage))
    said = messages[start]
    assert isinstance(said, AssistantMessage)
    order = {call.call_id: number for number, call in enumerate(said.calls)}
    replies = [message for message in messages[start + 1 :] if isinstance(message, ToolMessage)]
    replies.sort(key=lambda reply: order[reply.call_id])
    messages[start + 1 :] = replies
