"""Chats (threads), their prompts, and the events that a turn streams."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from countersign.wire.approvals import ApprovalRequest, ToolKind
from countersign.wire.base import Json, WireModel
from countersign.wire.elicitation import QuestionState
from countersign.wire.verdicts import Category, DecidedBy, Mode, RefusalKind

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]
CallStatus = Literal["pending", "waiting", "running"]
WeakTracking = Literal["subReaper", "processGroup"]
"""What finds the processes of a command, where it is neither a control group nor the PID namespace of a sandbox."""


class AttachedPlace(WireModel):
    """Where an attachment of a prompt is from, without its content. An image has a name in place of a path."""

    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    image: bool = False


class PromptEvent(WireModel):
    """What the person said; kept in the transcript so that ``thread/open`` is whole."""

    type: Literal["prompt"] = "prompt"
    text: str
    attachments: list[AttachedPlace] | None = None


class TextEvent(WireModel):
    type: Literal["text"] = "text"
    text: str


class ThinkingEvent(WireModel):
    type: Literal["thinking"] = "thinking"
    text: str


class ToolCallEvent(WireModel):
    """A call that the gate sees. A later one with the same id replaces it."""

    type: Literal["toolCall"] = "toolCall"
    tool_call_id: str
    agent_name: str
    subagent: str | None = None
    tool: str
    title: str
    kind: ToolKind
    category: Category
    raw_input: Json = None
    status: CallStatus


class ToolOutputEvent(WireModel):
    type: Literal["toolOutput"] = "toolOutput"
    tool_call_id: str
    text: str


class FileDiff(WireModel):
    """What a file tool changed: whole texts where both are small, and always the line counts."""

    path: str
    added: int
    removed: int
    old_text: str | None = None
    new_text: str | None = None


class CallRefusal(WireModel):
    """Why the gate did not let a call run: one sentence, and one that tells the model how to go on."""

    kind: RefusalKind
    reason: str
    hint: str


class ToolResultEvent(WireModel):
    """Exactly one for each call. ``refusal`` is present if, and only if, the gate refused the call; ``output`` is then
    the same as JSON text for the model. An output alone proves no refusal, since a tool can print any text.
    ``withheld`` are names of variables that the command or its output mentions and that it did not get. ``sandbox`` is
    that which a command ran in; ``process_tracking`` is absent where no process can outlive its command."""

    type: Literal["toolResult"] = "toolResult"
    tool_call_id: str
    tool: str
    success: bool
    output: str
    refusal: CallRefusal | None = None
    path: str | None = None
    diff: FileDiff | None = None
    decided_by: DecidedBy
    receipt_id: str | None = None
    withheld: list[str] | None = None
    sandbox: Literal["readOnly", "writable"] | None = None
    process_tracking: WeakTracking | None = None
    duration_ms: int


class TodoItem(WireModel):
    text: str
    status: Literal["pending", "in_progress", "completed"]


class TodoEvent(WireModel):
    type: Literal["todo"] = "todo"
    items: list[TodoItem]


class UsageEvent(WireModel):
    """What one request to a model took. ``cost`` is in US dollars, by a table of prices or by ``options.prices`` of the
    model; absent where neither knows it. ``context_used`` of ``context_tokens`` were sent."""

    type: Literal["usage"] = "usage"
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    context_used: int | None = None
    context_tokens: int | None = None
    model: str | None = None


class CompactedEvent(WireModel):
    """The model reads a summary in the place of older messages; ``dropped`` says of how many. ``context_used`` is an
    estimate of what the next request takes of ``context_tokens``."""

    type: Literal["compacted"] = "compacted"
    summary: str
    dropped: int
    context_used: int | None = None
    context_tokens: int | None = None


class NoticeEvent(WireModel):
    """Something the person should read in the chat: an agent acted unasked, a limit was met."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    message: str


class UnpermittedEvent(WireModel):
    """Something happened that no permit covers: files changed, or an agent reported a call that it had not asked for.

    ``certain``: nobody but the agent can have done it. ``paths`` are at most 20, ``more`` counts the others.
    """

    type: Literal["unpermitted"] = "unpermitted"
    message: str
    certain: bool
    paths: list[str] | None = None
    more: int | None = None
    tool_call: str | None = None


class QuestionEvent(WireModel):
    """A question of the agent, in its words, and what became of it; never an answer. A later one with the same id
    replaces it."""

    type: Literal["question"] = "question"
    elicitation_id: str
    agent_name: str
    message: str
    url: str | None = None
    fields: list[str] | None = None
    state: QuestionState


class DoneEvent(WireModel):
    type: Literal["done"] = "done"
    stop_reason: StopReason


class ErrorEvent(WireModel):
    type: Literal["error"] = "error"
    message: str
    data: dict[str, Json] = {}


ThreadEvent = Annotated[
    PromptEvent
    | TextEvent
    | ThinkingEvent
    | ToolCallEvent
    | ToolOutputEvent
    | ToolResultEvent
    | TodoEvent
    | UsageEvent
    | CompactedEvent
    | NoticeEvent
    | UnpermittedEvent
    | QuestionEvent
    | DoneEvent
    | ErrorEvent,
    Field(discriminator="type"),
]


class ThreadUpdate(WireModel):
    """``thread/update``: events in order, several to a frame; ``seq`` per chat, from 1, without gaps."""

    thread_id: str
    seq: int
    events: list[ThreadEvent]


class ThreadCreateParams(WireModel):
    """``session_id``: a session of a hosted agent (``agent/sessions``) that the chat takes up and shows."""

    agent_name: str | None = None
    mode: Mode | None = None
    session_id: str | None = None


class ThreadCreateResult(WireModel):
    thread_id: str
    agent_name: str
    mode: Mode


class ThreadForkParams(WireModel):
    """``thread/fork``: a second chat goes on from what this one has said so far; answered as ``thread/create``."""

    thread_id: str


class ThreadBeginParams(WireModel):
    """``thread/begin``: the hosted agent of a chat opens its session ahead of the next prompt. What it offers then is
    told by ``thread/session``. A new chat is listed and searched from its first message on, or once it is renamed. With
    the built-in agent it does nothing."""

    thread_id: str


ThreadState = Literal["new", "working", "waiting", "done", "stopped", "failed"]
"""What a chat does: ``waiting`` for a person, or how its last turn ended."""


class ThreadSummary(WireModel):
    thread_id: str
    title: str
    agent_name: str
    mode: Mode
    updated_at: str
    waiting: int
    state: ThreadState | None = None


class ThreadListResult(WireModel):
    threads: list[ThreadSummary]


class ThreadOpenParams(WireModel):
    thread_id: str


ThreadMemory = Literal["kept", "lost"]
"""Whether the agent of a chat remembers all that stands in it, as far as is known before its next turn."""


class OptionChoice(WireModel):
    """One value of an agent's option, in the agent's words. ``refused``: why it cannot be chosen here."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None
    refused: str | None = None


class ThreadOption(WireModel):
    """A model, a mode or another option that the agent of a chat lets a person choose, in the agent's words. The
    built-in agent has ``model``: an entry of the settings.

    ``category`` is the agent's, such as ``mode``, ``model`` or ``thought_level``. A ``select`` has ``choices``, and its
    ``value`` is a text; a ``boolean`` has neither choices nor groups. ``refused``: why it cannot be changed here."""

    option_id: str
    name: str
    description: str | None = None
    category: str | None = None
    type: Literal["select", "boolean"]
    value: str | bool
    choices: list[OptionChoice] | None = None
    refused: str | None = None


class AgentCommand(WireModel):
    """A slash command that the agent of a chat offers; ``hint`` says what may follow it."""

    name: str
    description: str
    hint: str | None = None


class ThreadSession(WireModel):
    """``thread/session``: what the agent of a chat offers now. Empty lists: nothing, or its session has ended."""

    thread_id: str
    options: list[ThreadOption]
    commands: list[AgentCommand]


class ThreadTitled(WireModel):
    """``thread/titled``: a chat has another title, because its agent gave it one."""

    thread_id: str
    title: str


class ThreadSetOptionParams(WireModel):
    """``value`` has the type that the option has: a text of its choices, or true or false."""

    thread_id: str
    option: str
    value: str | bool


class ThreadSetOptionResult(WireModel):
    """The options after the change; one may bring others along."""

    options: list[ThreadOption]


class ThreadOpenResult(WireModel):
    """The whole transcript; ``seq`` is the last one sent, so the next update continues it."""

    thread_id: str
    agent_name: str
    mode: Mode
    seq: int
    events: list[ThreadEvent]
    approvals: list[ApprovalRequest]
    running: bool
    memory: ThreadMemory | None = None
    options: list[ThreadOption] | None = None
    commands: list[AgentCommand] | None = None


class ThreadDeleteParams(WireModel):
    thread_id: str


class ThreadRenameParams(WireModel):
    thread_id: str
    title: str


class ThreadSearchParams(WireModel):
    text: str


class ThreadMatch(WireModel):
    """A chat in which a text was found, and what stands around it."""

    thread_id: str
    excerpt: str


class ThreadSearchResult(WireModel):
    """At most 50 chats, the latest first."""

    matches: list[ThreadMatch]


class ThreadExportParams(WireModel):
    thread_id: str


class ThreadExportResult(WireModel):
    """``path`` is a Markdown file in the storage folder."""

    path: str


class ThreadSetModeParams(WireModel):
    thread_id: str
    mode: Mode


class ThreadSetModeResult(WireModel):
    mode: Mode


AttachmentKind = Literal["file", "selection", "image", "resource"]


class Attachment(WireModel):
    """A file, a selection or an image that the person hands to the agent with the prompt.

    Without ``kind`` it is a file or a selection. A ``resource`` is a text with the path that it is from. An image has
    ``data``, its bytes in base64, and ``mime_type``; its ``path`` is a name to show, of a file that need not exist."""

    kind: AttachmentKind | None = None
    path: str | None = None
    text: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    mime_type: str | None = None
    data: str | None = None


class ThreadPromptParams(WireModel):
    """``mode`` becomes the chat's mode. ``shown_mode`` is the one that the client shows: where another window has set
    another since, the turn runs with the stricter of the two in each cell, and the chat keeps its own.
    """

    thread_id: str
    text: str
    mode: Mode | None = None
    shown_mode: Mode | None = None
    attachments: list[Attachment] | None = None


class ThreadCompactParams(WireModel):
    thread_id: str


class ThreadCompactResult(WireModel):
    """``dropped`` messages are summarized now; 0 where there was nothing to summarize."""

    dropped: int


class ThreadPromptResult(WireModel):
    stop_reason: StopReason


class ThreadCancelParams(WireModel):
    thread_id: str
