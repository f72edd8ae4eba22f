"""Runs the loop against a model and the gate; owns the tasks of one turn and their cancellation.

The model's stream and every call are tasks of one group; what happens in them comes to the loop through one queue, so
the loop sees one thing at a time. A call that is cancelled tells the gate, which ends its request or its run.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from countersign.agents.compaction import Context
from countersign.agents.limits import Measure, without_excess
from countersign.agents.loop import Action, AskModel, Finish, Keep, Loop, StartCall
from countersign.agents.models.base import (
    CallPiece,
    Image,
    Message,
    Model,
    NoticePiece,
    Piece,
    ReplayPiece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
    WaitPiece,
    WantedCall,
)
from countersign.agents.pace import Pace, parts
from countersign.agents.repeats import Repeats
from countersign.gate import (
    BadArguments,
    Gate,
    Offer,
    Picture,
    Plan,
    Prepare,
    Refused,
    StoredRequest,
    Turn,
)
from countersign.settings.policy import Policy
from countersign.tools.registry import BY_NAME, OFFERED, AnyTool, json_schema, parse_arguments
from countersign.tools.tool import ToolContext
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.errors import ContextTooLong, ModelError
from countersign.wire.shown_input import shown_input
from countersign.wire.threads import (
    NoticeEvent,
    StopReason,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    UsageEvent,
)

MOST_WAITING = 256
"""Pieces of a model's answer that wait to be heard; a quicker stream waits."""
LONGEST_REPLY = 32 * 1024
"""Bytes of one tool result that a model reads."""


def usage_event(piece: UsagePiece) -> UsageEvent:
    """What a request took, as the chat shows it."""
    return UsageEvent(
        input_tokens=piece.input_tokens, output_tokens=piece.output_tokens, cached_tokens=piece.cached_tokens
    )


async def no_images() -> bool:
    """Say that the model takes no images."""
    return False


@dataclass(slots=True)
class Drive:
    """One turn of the built-in agent: everything it needs, handed in.

    ``keep`` is told every message that becomes part of the conversation, as soon as it does. ``waiting`` are the
    requests that waited on disk for calls of this turn, by tool call id; ``said`` are the bytes of the model's messages
    so far. ``context`` keeps what the model reads within its window; ``instructed`` gives the system prompt with the
    project's instructions for the conversation as it stands.
    """

    model: Model
    system: str
    tools: Mapping[str, AnyTool]
    gate: Gate
    turn: Turn
    policy: Callable[[], Policy]
    bench: Callable[[str], ToolContext]
    keep: Callable[[Sequence[Message]], None]
    waiting: Mapping[str, StoredRequest] = field(default_factory=dict)
    said: int = 0
    context: Context | None = None
    instructed: Callable[[Sequence[Message]], Awaitable[str]] | None = None
    usage: Callable[[UsagePiece], UsageEvent] = usage_event
    repeats: Repeats = field(default_factory=Repeats)
    takes_images: Callable[[], Awaitable[bool]] = no_images

    async def run(self, messages: Sequence[Message]) -> StopReason:
        """Carry the turn to its end.

        Cancelled: the model's stream is closed, open requests end as cancelled (or stay parked on disk), running
        calls are stopped; what was said is kept; the cancellation is raised on.

        Raises:
            ModelError: the model failed; calls that were out are cancelled.
        """
        loop = Loop(messages, most_steps=self.policy().steps_per_turn)
        self.repeats.take_up(messages)
        happened: asyncio.Queue[Piece | ToolMessage] = asyncio.Queue(MOST_WAITING)
        try:
            async with asyncio.TaskGroup() as group:
                actions = loop.start()
                while True:
                    for action in actions:
                        if (reason := self._carry_out(action, loop, group, happened)) is not None:
                            return reason
                    event = await happened.get()
                    actions = loop.replied(event) if isinstance(event, ToolMessage) else self._heard(loop, event)
        except BaseExceptionGroup as failed:
            self.keep(loop.cut_off())
            raise _first(failed) from None
        except asyncio.CancelledError:
            self.keep(loop.cut_off())
            raise

    def _carry_out(
        self, action: Action, loop: Loop, group: asyncio.TaskGroup, happened: asyncio.Queue[Piece | ToolMessage]
    ) -> StopReason | None:
        match action:
            case AskModel():
                group.create_task(self._listen(list(loop.messages), happened), name=f"model for {self.turn.thread_id}")
            case StartCall(call):
                group.create_task(self._call(call, happened), name=f"{call.tool} for {self.turn.thread_id}")
            case Keep(messages):
                self.keep(messages)
            case Finish(reason):
                return reason
        return None

    async def _listen(self, messages: list[Message], happened: asyncio.Queue[Piece | ToolMessage]) -> None:
        schemas = [schema_of(tool) for tool in self.tools.values()]
        system = self.system if self.instructed is None else await self.instructed(messages)
        shown = messages if self.context is None else await self.context.shown(system, messages, schemas)
        if any(isinstance(message, UserMessage | ToolMessage) and message.images for message in shown):
            shown = shown if await self.takes_images() else list(map(_without_images, shown))
        before = self.said
        try:
            await self._hear(system, shown, schemas, happened)
        except ContextTooLong:
            if self.context is None or self.said != before:
                raise
            shown = list(map(_without_images, await self.context.shrunk(system, messages, schemas)))
            await self._hear(system, shown, schemas, happened)

    async def compact(self, messages: Sequence[Message]) -> int:
        """Summarize the conversation for the model, because the person asks for it; return of how many messages."""
        if self.context is None:
            return 0
        system = self.system if self.instructed is None else await self.instructed(messages)
        return await self.context.compact(system, messages, [schema_of(tool) for tool in self.tools.values()])

    async def _hear(
        self,
        system: str,
        messages: Sequence[Message],
        schemas: Sequence[ToolSchema],
        happened: asyncio.Queue[Piece | ToolMessage],
    ) -> None:
        measure, pace = Measure(self.policy().calls_per_message, self.said), Pace()
        stream = self.model.stream(system, messages, schemas)
        try:
            async for whole in stream:
                piece = CallPiece(without_excess(whole.call)) if isinstance(whole, CallPiece) else whole
                measure.add(piece)
                self.said = measure.turn
                for part in _parts(piece):
                    await happened.put(part)
                    await pace.said(len(part.text) if isinstance(part, TextPiece | ThinkingPiece) else 0)
                if isinstance(piece, StopPiece):
                    return
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        raise ModelError("the model's stream broke off before its end; try again")

    def _heard(self, loop: Loop, piece: Piece) -> list[Action]:
        match piece:
            case TextPiece(text):
                self.turn.emit(TextEvent(text=text))
            case ThinkingPiece(text):
                self.turn.emit(ThinkingEvent(text=text))
            case UsagePiece():
                self.turn.emit(self.usage(piece))
            case NoticePiece(level, message):
                self.turn.emit(NoticeEvent(level=level, message=message))
            case WaitPiece(_, message):
                self.turn.emit(NoticeEvent(level="info", message=message))
            case CallPiece(call):
                # Models count their calls afresh; ours are unique for this server, on the wire and on disk.
                piece = CallPiece(replace(call, call_id=f"call-{secrets.token_hex(8)}", tool=as_title(call.tool)))
            case ReplayPiece() | StopPiece():
                pass
        return loop.heard(piece)

    async def _call(self, wanted: WantedCall, happened: asyncio.Queue[Piece | ToolMessage]) -> None:
        await happened.put(await self.one_call(wanted))

    async def one_call(self, wanted: WantedCall) -> ToolMessage:
        """Take one call through the gate and say what the model reads of it."""
        tool_call_id = wanted.call_id
        # A request that waited on disk is judged and ended as itself, also where its tool is no longer offered.
        known_tools = BY_NAME if tool_call_id in self.waiting else self.tools
        tool = self.tools.get(wanted.tool) or known_tools.get(wanted.tool)
        if tool is None or wanted.broken is not None:
            known = ", ".join(self.tools)
            place = self.turn.line.join()
            try:
                await place.reached()
                return self._misfit(wanted, tool_call_id, wanted.broken or f"there is no such tool; there are: {known}")
            finally:
                place.leave()
        try:
            settled = await self.gate.submit(
                self._preparing(tool, wanted, tool_call_id),
                self.turn,
                restored=self.waiting.get(tool_call_id),
            )
        except BadArguments as error:
            return self._misfit(wanted, tool_call_id, str(error), tool)
        if isinstance(settled, Refused):
            return ToolMessage(wanted.call_id, wanted.tool, _bounded(settled.output), success=False, refused=True)
        outputs, success = [settled.output], settled.outcome.success
        images: tuple[Image, ...] = ()
        if settled.outcome.pictures:
            if await self.takes_images():
                images = tuple(map(_image, settled.outcome.pictures))
            else:
                outputs.append("[this model takes no images, so it is not shown]")
        for offer, output, done in await self._all_offered(settled.outcome.offers):
            outputs.append(offer.preface + output)
            success = (success and done) if offer.wanted else success or (offer.tool == wanted.tool and done)
        reply = ToolMessage(wanted.call_id, wanted.tool, _bounded("\n".join(outputs)), success, images=images)
        if settled.by == "user":
            self.repeats.forget(wanted)
        self.repeats.add(wanted, reply)
        return reply

    def _may_offer(self) -> bool:
        """Whether a person could answer a further card: else it would only be denied."""
        return self.gate.asking.present() and not {"dontAsk", "plan"} & {*self.turn.modes, *self.policy().tightening}

    async def _all_offered(self, offers: Sequence[Offer]) -> list[tuple[Offer, str, bool]]:
        """Take the calls that a run leads to through the gate, wanted ones side by side and suggestions one after the
        other; return what the model reads of each and whether it was done. No later server takes them up: the run that
        led to them has ended."""
        turn = replace(self.turn, resumable=False)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._offered(offer, turn)) for offer in offers if offer.wanted]
        taken = [task.result() for task in tasks]
        if self._may_offer():
            taken += [await self._offered(offer, turn) for offer in offers if not offer.wanted]
        return [each for each in taken if each is not None]

    async def _offered(self, offer: Offer, turn: Turn) -> tuple[Offer, str, bool] | None:
        """Return None for a suggestion that cannot be made."""
        tool = self.tools.get(offer.tool) or OFFERED[offer.tool]
        tool_call_id = f"call-{secrets.token_hex(8)}"
        wanted = WantedCall(tool_call_id, offer.tool, offer.arguments)
        try:
            settled = await self.gate.submit(self._preparing(tool, wanted, tool_call_id), turn)
        except BadArguments as error:
            return (offer, str(error), False) if offer.wanted else None
        return offer, settled.output, not isinstance(settled, Refused) and settled.outcome.success

    def _preparing(self, tool: AnyTool, wanted: WantedCall, tool_call_id: str) -> Prepare:
        repeated = self.repeats.count(wanted)

        def prepare(arguments: Mapping[str, Json] | None) -> Plan:
            given = wanted.arguments if arguments is None else arguments
            prepared = tool.prepare(parse_arguments(tool, given), self.policy())
            call = prepared.call(
                self.turn,
                tool_call_id=tool_call_id,
                tool=tool.name,
                kind=tool.kind,
                category=tool.category,
                arguments=given,
                repeated=repeated if given == wanted.arguments else 0,
            )
            return Plan(call, lambda permit: tool.run(permit, prepared, self.bench(tool_call_id)))

        return prepare

    def _misfit(self, wanted: WantedCall, tool_call_id: str, reason: str, tool: AnyTool | None = None) -> ToolMessage:
        """A call that never reached the gate because it says nothing that could be done; nothing ran."""
        self.turn.emit(
            ToolCallEvent(
                tool_call_id=tool_call_id,
                agent_name=self.turn.agent,
                subagent=self.turn.subagent,
                tool=wanted.tool,
                title=wanted.tool,
                kind=tool.kind if tool else "other",
                category=tool.category if tool else "external",
                raw_input=shown_input(wanted.arguments),
                status="pending",
            )
        )
        self.turn.emit(
            ToolResultEvent(
                tool_call_id=tool_call_id,
                tool=wanted.tool,
                success=False,
                output=reason,
                decided_by="nobody",
                duration_ms=0,
            )
        )
        return ToolMessage(wanted.call_id, wanted.tool, reason, success=False)


def schema_of(tool: AnyTool) -> ToolSchema:
    """A tool's description for a model."""
    return ToolSchema(tool.name, tool.description, json_schema(tool))


def _image(picture: Picture) -> Image:
    return Image(picture.mime_type, base64.b64encode(picture.data).decode())


def _without_images(message: Message) -> Message:
    """A chat may have been switched to a model that takes none, or have too many of them."""
    return replace(message, images=()) if isinstance(message, UserMessage | ToolMessage) else message


def _bounded(text: str) -> str:
    data = text.encode()
    if len(data) <= LONGEST_REPLY:
        return text
    return data[:LONGEST_REPLY].decode(errors="ignore") + f"\n[cut after {LONGEST_REPLY} of {len(data)} bytes]"


def _parts(piece: Piece) -> Iterator[Piece]:
    """Yield a piece as pieces that are short enough to be stored and sent at once."""
    match piece:
        case TextPiece(text):
            yield from map(TextPiece, parts(text))
        case ThinkingPiece(text):
            yield from map(ThinkingPiece, parts(text))
        case _:
            yield piece


def _first(failed: BaseExceptionGroup) -> BaseException:
    """The cause that matters of a failed group: ours before others."""
    leaves: list[BaseException] = []
    todo: list[BaseException] = [failed]
    while todo:
        error = todo.pop()
        if isinstance(error, BaseExceptionGroup):
            todo.extend(error.exceptions)
        else:
            leaves.append(error)
    return next((error for error in leaves if isinstance(error, ModelError)), leaves[0])
