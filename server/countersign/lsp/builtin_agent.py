"""Carries out the built-in agent's turns: model, context, instructions and tools put together for its drive.

Loaded after the start, since it brings every tool: the first turn needs it, not the answer to ``initialize``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from countersign.agents.attached_images import takes_none
from countersign.agents.compaction import Context
from countersign.agents.drive import Drive, usage_event
from countersign.agents.instructions import blocking_instructions, with_instructions
from countersign.agents.model_option import model_entry
from countersign.agents.models.base import Image, Message, Model, UsagePiece, UserMessage
from countersign.agents.models.demo import DemoModel
from countersign.agents.models.http_answer import Access
from countersign.agents.models.known_models import cost_of, model_takes_images, window_of
from countersign.agents.models.retrying import RetryingModel
from countersign.agents.prompt import system_prompt, with_attachments
from countersign.agents.transcript import Transcripts
from countersign.gate import Gate, StoredRequest, Turn, Workers, in_worker, sharing
from countersign.lsp.supposed_calls import problems_told
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, RuleText
from countersign.tools.editor.new_problems import MAY_DIAGNOSE_SERVICE
from countersign.tools.sandbox.host_tool import reachable
from countersign.tools.todo_write import TODO_SERVICE
from countersign.tools.tool import Tool, ToolContext
from countersign.tools.visible import as_title
from countersign.wire.threads import (
    CompactedEvent,
    NoticeEvent,
    StopReason,
    ThreadPromptParams,
    TodoEvent,
    TodoItem,
    ToolOutputEvent,
    UsageEvent,
)

INSTRUCTIONS_SHARE = 4
"""Instructions of a project take at most one part in so many of the window."""

if TYPE_CHECKING:
    from countersign.agents.models.editor_model import Editor


class BuiltinAgent:
    """The built-in agent of one server. A class because its turns share what they work with."""

    def __init__(
        self,
        *,
        gate: Gate,
        policy: Callable[[], Policy],
        transcripts: Transcripts,
        tools: Callable[[], Mapping[str, Tool]],
        services: Mapping[str, Any],
        access: Access,
        editor_models: Editor | None = None,
    ) -> None:
        """``tools`` are those that a model is offered now; ``services`` are what they work with."""
        self._gate = gate
        self._policy = policy
        self._transcripts = transcripts
        self._tools = tools
        self._services = services
        self._access = access
        self._editor_models = editor_models

    async def prompt(
        self, config: AgentConfig, turn: Turn, prompt: ThreadPromptParams, images: tuple[Image, ...]
    ) -> StopReason:
        """Carry out one prompt. Cancelled: see ``Drive.run``.

        Raises:
            ModelError: the turn broke off.
            InvalidAnswer: what was attached cannot be sent.
        """
        if images:
            entry = model_entry(config, self._policy())
            if not await model_takes_images(entry, model_for(entry, self._access, self._editor_models)):
                raise takes_none(f"the model `{entry.name}`")
        said = UserMessage(with_attachments(prompt.text, prompt.attachments), images)
        self._transcripts.add_messages(turn.thread_id, [said])
        return await self.resume(config, turn, {})

    async def resume(self, config: AgentConfig, turn: Turn, waiting: Mapping[str, StoredRequest]) -> StopReason:
        """Carry out a turn on the messages there are, in threads of its own: a model may send as much as any agent.

        ``waiting`` are the requests of a turn that another server began.
        """
        turn.workers = Workers(turn.agent)
        try:
            with sharing(turn.workers):
                messages = await in_worker(self._transcripts.messages, turn.thread_id)
                return await self._drive(config, turn, waiting).run(messages)
        finally:
            turn.workers.finish()

    async def compact(self, config: AgentConfig, turn: Turn) -> StopReason:
        """Summarize the older messages of a chat."""
        dropped = await self._drive(config, turn, {}).compact(self._transcripts.messages(turn.thread_id))
        if not dropped:
            turn.emit(NoticeEvent(level="info", message="there is nothing to summarize yet"))
        return "end_turn"

    def _drive(self, config: AgentConfig, turn: Turn, waiting: Mapping[str, StoredRequest]) -> Drive:
        policy = self._policy()
        tools = self._tools()

        def keep(messages: Sequence[Message]) -> None:
            self._transcripts.add_messages(turn.thread_id, messages)

        def show_todo(items: list[TodoItem]) -> None:
            turn.emit(TodoEvent(items=items))

        def grants() -> Sequence[RuleText]:
            return self._gate.grants.live(agent=turn.agent, thread_id=turn.thread_id, turn_id=turn.turn_id)

        may_reach = reachable(self._policy, grants, turn.agent)

        def may_diagnose(path: str) -> bool:
            return "get_diagnostics" in tools and problems_told(turn, path, self._policy(), grants())

        def bench(tool_call_id: str) -> ToolContext:
            def emit(text: str) -> None:
                turn.emit(ToolOutputEvent(tool_call_id=tool_call_id, text=text))

            return ToolContext(
                policy=self._policy,
                emit=emit,
                services={**self._services, TODO_SERVICE: show_todo, MAY_DIAGNOSE_SERVICE: may_diagnose},
                may_reach=may_reach,
            )

        entry = model_entry(config, policy)
        model = model_for(entry, self._access, self._editor_models)

        turn.model = entry.name

        def priced(piece: UsagePiece) -> UsageEvent:
            return usage_event(piece).model_copy(update={"cost": cost_of(entry, piece), "model": entry.name})

        def compacted(summary: str, dropped: int, used: int) -> None:
            turn.emit(
                CompactedEvent(summary=summary, dropped=dropped, context_used=used, context_tokens=shown_window())
            )

        def shown_window() -> int | None:
            return None if entry.provider == "demo" else context.window

        context = Context(
            model=model,
            window=window_of(entry),
            state=self._transcripts.context(turn.thread_id),
            keep=lambda state: self._transcripts.save_context(turn.thread_id, state),
            tell=compacted,
            used=lambda piece: turn.emit(priced(piece)),
            waits=lambda piece: turn.emit(NoticeEvent(level="info", message=piece.message)),
        )
        system = system_prompt(policy.workspace, [*turn.modes, *policy.tightening], tools)

        async def instructed(messages: Sequence[Message]) -> str:
            most = context.window // INSTRUCTIONS_SHARE
            found = await asyncio.to_thread(blocking_instructions, self._policy(), messages, most)
            paths = [each.path for each in found]
            if new := [path for path in paths if path not in context.state.shown]:
                context.told_of(new)
                names = ", ".join(f"`{as_title(path)}`" for path in new)
                turn.emit(NoticeEvent(level="info", message=f"The model reads instructions from {names}"))
            return with_instructions(system, found)

        def usage(piece: UsagePiece) -> UsageEvent:
            return priced(piece).model_copy(
                update={"context_tokens": shown_window(), "context_used": piece.input_tokens}
            )

        return Drive(
            model=model,
            takes_images=lambda: model_takes_images(entry, model),
            system=system,
            context=context,
            instructed=instructed,
            usage=usage,
            tools=tools,
            gate=self._gate,
            turn=turn,
            policy=self._policy,
            bench=bench,
            keep=keep,
            waiting=waiting,
        )


def model_for(entry: ModelConfig, access: Access, editor: Editor | None = None) -> Model:
    """The model of an entry; ``editor`` is asked for its own."""
    match entry.provider:
        case "demo":
            return DemoModel()
        case "ollama":
            from countersign.agents.models.ollama import OllamaModel  # noqa: PLC0415 loaded when it is asked

            return RetryingModel(OllamaModel(entry, access=access))
        case "anthropic":
            from countersign.agents.models.anthropic import AnthropicModel  # noqa: PLC0415 likewise

            return RetryingModel(AnthropicModel(entry, access))
        case "openai":
            return RetryingModel(_openai(entry, access))
        case "google":
            from countersign.agents.models.gemini import GeminiModel  # noqa: PLC0415 likewise

            return RetryingModel(GeminiModel(entry, access))
        case "vscode":
            from countersign.agents.models.editor_model import EditorModel  # noqa: PLC0415 likewise

            return EditorModel(entry, editor)


def _openai(entry: ModelConfig, access: Access) -> Model:
    """OpenAI's own server speaks Responses; compatible servers all speak Chat Completions."""
    if (entry.api or ("responses" if entry.base_url is None else "chat")) == "responses":
        from countersign.agents.models.openai_responses import OpenAIResponsesModel  # noqa: PLC0415 likewise

        return OpenAIResponsesModel(entry, access)
    from countersign.agents.models.openai_chat import OpenAIChatModel  # noqa: PLC0415 likewise

    return OpenAIChatModel(entry, access)
