"""An ACP agent's shapes, translated: raw JSON in, our own values out.

This file owns the dialect: which field means what, that ids may be strings, that a kind may be one we never heard of.
It works on raw messages and not on the SDK's models, because those drop what they do not know and let ``_meta``
overwrite what they do. What a call would touch is ``effects.py``'s to say; nothing here decides anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast, get_args

from countersign.agents.acp.inputs import join_inputs
from countersign.agents.limits import MOST_SHOWN, MOST_VALUES
from countersign.agents.pace import parts
from countersign.tools.clip import MOST_OUTPUT
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind
from countersign.wire.base import Json
from countersign.wire.sizes import Size, size_of, size_of_few, text_memory
from countersign.wire.threads import StopReason, TextEvent, ThinkingEvent, ThreadEvent, TodoEvent, TodoItem, UsageEvent

Raw = Mapping[str, Json]
LONGEST_TITLE = 16 << 10
"""Characters of a call's title that are kept; some agents put a whole command there."""
LONGEST_NAME = 256
"""Characters of an id or a kind that are kept."""
MOST_NAMES = 16
"""Names of one tool that are kept."""
MOST_OPTIONS = 64
"""Options of a session that are read."""
MOST_PLACES = 256
"""Files of one call that are kept, of diffs and of locations each; of a call that names more nothing is understood."""
MOST_BLOCKS = 1000
"""Blocks of one call's content that are read; of a call that has more nothing is understood."""
MOST_TODO = 500
"""Entries of a plan that are shown."""
LONGEST_TODO = 2000
"""Characters of one of them."""
MOST_COUNT = 1 << 53
"""A number from which on a client reads another one."""
MOST_INPUTS = 8
"""Inputs of one call, none of which repeats another, that are kept; a call with more is refused."""
OUTPUT_KEYS = ("formatted_output", "output", "stdout", "stderr")
"""Where agents put what a command put out; the first that is there and what differs from it."""
ReportStatus = Literal["pending", "in_progress", "completed", "failed"]


class BadMessage(Exception):
    """The agent sent something that is not what the method takes; told to it as invalid params."""


@dataclass(frozen=True, slots=True)
class Diff:
    """One file change as an agent describes it. ``old_text`` None says nothing about whether the file is there."""

    path: str
    old_text: str | None
    new_text: str | None


@dataclass(frozen=True, slots=True)
class ToolReport:
    """All that an agent has said of one of its tool calls so far. Every field is its claim, none is checked.

    ``raw_input`` is the last one, None: it said nothing; ``inputs`` are all that say something of their own. ``names``
    are all the names it gave the tool, ``terminals`` the terminals that stand in its content, ``parent`` the call that
    started the sub-agent which makes this one. ``output`` is what it said last of what came out, as content or as raw
    output, None: nothing; ``streamed`` what it sent of it piece by piece.
    ``more``: it named more files than are kept, so nobody can say what the
    call would touch. ``title_cut``: its title is longer than what is kept of it. ``too_large``: inputs and changes were
    too large or too many to be kept, so that the call cannot be shown or allowed.
    """

    call_id: str
    title: str = ""
    kind: str | None = None
    names: tuple[str, ...] = ()
    status: ReportStatus = "pending"
    raw_input: Json = None
    inputs: tuple[Json, ...] = ()
    raw_output: Json = None
    diffs: tuple[Diff, ...] = ()
    text: str = ""
    output: str | None = None
    streamed: str = ""
    terminals: tuple[str, ...] = ()
    locations: tuple[Location, ...] = ()
    parent: str | None = None
    more: bool = False
    too_large: bool = False
    title_cut: bool = False

    @property
    def size(self) -> Size:
        """The size of all that a card shows of the call."""
        given = [size_of(raw) for raw in (self.inputs or (self.raw_input,))]
        texts = [text for diff in self.diffs for text in (diff.path, diff.old_text, diff.new_text) if text is not None]
        texts += [location.path for location in self.locations]
        return Size(
            sum(size.values for size in given) + len(texts),
            sum(size.characters for size in given) + sum(map(len, texts)),
            sum(size.memory for size in given) + sum(map(text_memory, texts)),
        )

    def without_input(self) -> ToolReport:
        """Return the report of a call that is too large to be kept."""
        return replace(self, raw_input=None, inputs=(), diffs=(), locations=(), more=True, too_large=True)

    @property
    def ended(self) -> bool:
        """Whether the agent says that the call is over."""
        return self.status in ("completed", "failed")

    @property
    def tool_kind(self) -> ToolKind:
        """The claimed kind, as far as it is one of ours; for display, never for deciding."""
        return self.kind if self.kind in get_args(ToolKind) else "other"  # type: ignore[return-value]

    def merged(self, raw: Raw) -> ToolReport:
        """The report after an update: fields that it carries replace earlier ones.

        Earlier diffs of files that the update does not mention stay, and so do earlier inputs that the update does not
        repeat: some agents ask with a bare "Edit files", or with an input of another shape, after they sent the true
        one, and forgetting what a call may change would make the call look smaller than it is.
        """
        changes = _report_fields(raw)
        diffs = changes.pop("diffs", None)
        if "raw_input" in changes:
            given = changes["raw_input"]
            few = size_of_few(given, MOST_VALUES) is not None
            changes["inputs"] = join_inputs(self.inputs, given) if few else (given,)
            changes["too_large"] = self.too_large or not few or len(changes["inputs"]) > MOST_INPUTS
        if diffs is not None:
            mentioned = {diff.path for diff in diffs}
            every = (*diffs, *(diff for diff in self.diffs if diff.path not in mentioned))
            changes["diffs"] = every[:MOST_PLACES]
            changes["more"] = changes.get("more", False) or len(every) > MOST_PLACES
        if piece := _streamed(raw):
            changes["streamed"] = _cut(self.streamed + piece)
        if "names" in changes:
            changes["names"] = tuple(dict.fromkeys((*self.names, *changes["names"])))[:MOST_NAMES]
        changes["more"] = self.more or changes.get("more", False)
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class ToolNews:
    """A tool call appeared or changed."""

    call_id: str
    raw: Raw


@dataclass(frozen=True, slots=True)
class ModeNews:
    """The agent says that its session is in another mode now."""

    mode: str


@dataclass(frozen=True, slots=True)
class OptionNews:
    """The agent says which options its session has now; ``listed`` is its list."""

    listed: Json


@dataclass(frozen=True, slots=True)
class CommandNews:
    """The agent says which slash commands its session has now; ``listed`` is its list."""

    listed: Json


@dataclass(frozen=True, slots=True)
class TitleNews:
    """The agent gives its session a title; an empty one takes it back."""

    title: str


@dataclass(frozen=True, slots=True)
class ContextNews:
    """How much of the model's context is used, of how many tokens; ``cost`` of the whole session, in US dollars."""

    used: int | None
    size: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class ChatNews:
    """Something for the transcript."""

    events: tuple[ThreadEvent, ...] = field(default=())


SettingNews = ModeNews | OptionNews | CommandNews
News = ToolNews | SettingNews | TitleNews | ContextNews | ChatNews


def read_update(raw: Json) -> News:
    """What a ``session/update`` says; an update that we do not know says nothing."""
    update = as_object(raw)
    match update.get("sessionUpdate"):
        case "tool_call" | "tool_call_update":
            return ToolNews(read_text(update, "toolCallId"), update)
        case "agent_message_chunk":
            return ChatNews(tuple(TextEvent(text=text) for text in _said(update)))
        case "agent_thought_chunk":
            return ChatNews(tuple(ThinkingEvent(text=text) for text in _said(update)))
        case "plan":
            return ChatNews((TodoEvent(items=_todo_items(update.get("entries"))),))
        case "plan_update":
            return ChatNews((TodoEvent(items=_todo_items(as_object(update.get("plan")).get("entries"))),))
        case "current_mode_update":
            return ModeNews(read_text(update, "currentModeId"))
        case "config_option_update":
            return OptionNews(update.get("configOptions"))
        case "available_commands_update":
            return CommandNews(update.get("availableCommands"))
        case "session_info_update" if isinstance(title := update.get("title"), str):
            return TitleNews(as_title(" ".join(title[:LONGEST_TITLE].split())))
        case "usage_update":
            return _context_news(update)
        case _:
            return ChatNews()


def read_stop(raw: Json) -> tuple[StopReason, tuple[ThreadEvent, ...]]:
    """The end of a prompt: why it stopped, and the usage if the agent gave it. An unknown reason is an error."""
    result = as_object(raw)
    reason = result.get("stopReason")
    stop = cast(StopReason, reason) if reason in get_args(StopReason) else "error"
    usage = as_object(result.get("usage"))
    spent, made = _count(usage.get("inputTokens")), _count(usage.get("outputTokens"))
    return stop, () if spent is made is None else (UsageEvent(input_tokens=spent, output_tokens=made),)


def as_object(raw: Json) -> Raw:
    """The value if it is a JSON object, else an empty one."""
    return raw if isinstance(raw, dict) else {}


def read_text(raw: Raw, key: str) -> str:
    """A string that must be there.

    Raises:
        BadMessage: it is missing or no string.
    """
    value = raw.get(key)
    if not isinstance(value, str):
        raise BadMessage(f"`{key}` must be a string")
    return value


def _count(value: Json) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < MOST_COUNT else None  # type: ignore[operator]


def _context_news(update: Raw) -> News:
    used, size, cost = _count(update.get("used")), _count(update.get("size")), as_object(update.get("cost"))
    amount = cost.get("amount")
    known = cost.get("currency") == "USD" and isinstance(amount, int | float) and not isinstance(amount, bool)
    told = float(amount) if known and 0 <= amount < MOST_COUNT else None  # type: ignore[operator,arg-type]
    if used is None or not size:
        used = size = None
    return ChatNews() if used is told is None else ContextNews(used, size, told)


def _report_fields(raw: Raw) -> dict:
    """The fields of a tool call or of its update that are there and make sense; the others stay as they were."""
    fields: dict = {}
    if isinstance(title := raw.get("title"), str) and title:
        fields["title"] = title[:LONGEST_TITLE]
        fields["title_cut"] = len(title) > LONGEST_TITLE
    if isinstance(kind := raw.get("kind"), str):
        fields["kind"] = kind[:LONGEST_NAME]
    if raw.get("status") in get_args(ReportStatus):
        fields["status"] = raw["status"]
    if raw.get("rawInput") not in (None, {}):
        fields["raw_input"] = raw["rawInput"]
    if raw.get("rawOutput") is not None:
        fields["raw_output"] = _kept_output(raw["rawOutput"])
        if not _only_ends(raw["rawOutput"]):
            fields["output"] = output_text(fields["raw_output"])
    if names := _names(raw):
        fields["names"] = names
    if parent := next((text for meta in _metas(raw) if (text := _text_at(meta, "parentToolUseId"))), None):
        fields["parent"] = parent[:LONGEST_NAME]
    if isinstance(locations := raw.get("locations"), list) and locations:
        fields["locations"] = tuple(_locations(locations[:MOST_PLACES]))
        fields["more"] = len(locations) > MOST_PLACES
    if isinstance(content := raw.get("content"), list) and content:
        blocks = [block for block in content[:MOST_BLOCKS] if isinstance(block, dict)]
        fields["more"] = fields.get("more", False) or len(content) > MOST_BLOCKS
        fields["diffs"] = tuple(_diffs(blocks))
        ids = [block.get("terminalId") for block in blocks if block.get("type") == "terminal"]
        fields["terminals"] = tuple(str(each)[:LONGEST_NAME] for each in ids)
        fields["text"] = _cut("\n".join(text for block in blocks for text in _block_text(block.get("content"))))
        fields["output"] = fields["text"] or fields.get("output")
    elif content == [] and "rawOutput" not in raw:
        # What stood there is taken back; the words stay in ``text``, because a command may stand in them.
        fields["output"] = ""
    return fields


def _only_ends(raw: Json) -> bool:
    """Whether a raw output only says how a command ended, so that what it put out is what was streamed before."""
    return isinstance(raw, dict) and set(raw) <= {"exit_code", "exitCode", "signal"}


def output_text(raw: Json) -> str:
    """Return a raw output as text; that of a command, where only that is in it, as it came out."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, dict):
        texts = [value for key in OUTPUT_KEYS if isinstance(value := raw.get(key), str)]
        if texts:
            return "\n".join(text for text in dict.fromkeys(texts) if text)
    return json.dumps(raw, ensure_ascii=False) if raw else ""


def _streamed(raw: Raw) -> str:
    """The piece of a terminal's output that an update carries in ``_meta``."""
    found = [value for key, value in as_object(raw.get("_meta")).items() if key.startswith("terminal_output")]
    return "".join(_text_at(as_object(value), "data") for value in found)


def _kept_output(raw: Json) -> Json:
    """Return an output as it is kept: text to its limit, values only where they are few."""
    if isinstance(raw, str):
        return _cut(raw)
    size = size_of(raw)
    if size.values > MOST_VALUES or size.characters > MOST_SHOWN:
        return f"[an output of about {size.characters} characters]"
    return raw if size.characters <= MOST_OUTPUT else _cut(json.dumps(raw, ensure_ascii=False))


def _cut(text: str) -> str:
    """Return as much of a text as ``reports.output_of`` shows, and a character more, so that it sees the cut."""
    return text[: MOST_OUTPUT + 1]


def _names(raw: Raw) -> tuple[str, ...]:
    """Every name that the agent gives the tool: the protocol's own field, and what adapters put into ``_meta``."""
    claimed = [raw.get("name"), *(meta.get("toolName") for meta in _metas(raw))]
    return tuple(dict.fromkeys(as_title(name) for name in claimed[:MOST_NAMES] if isinstance(name, str) and name))


def _metas(raw: Raw) -> list[Raw]:
    meta = as_object(raw.get("_meta"))
    return [meta, *(as_object(value) for value in meta.values() if isinstance(value, dict))]


def _text_at(raw: Raw, key: str) -> str:
    return value if isinstance(value := raw.get(key), str) else ""


def _locations(raw: list[Json]) -> list[Location]:
    found = []
    for entry in raw:
        if isinstance(entry, dict) and isinstance(path := entry.get("path"), str):
            found.append(Location(path=path, line=_count(entry.get("line"))))
    return found


def _diffs(blocks: list[dict[str, Json]]) -> list[Diff]:
    found = []
    for block in blocks:
        if block.get("type") == "diff" and isinstance(path := block.get("path"), str):
            old, new = block.get("oldText"), block.get("newText")
            found.append(Diff(path, old if isinstance(old, str) else None, new if isinstance(new, str) else None))
    return found


def _block_text(raw: Json) -> tuple[str, ...]:
    """The words of one content block; what is no text is named, so that nothing said goes unseen."""
    block = as_object(raw)
    match block.get("type"):
        case "text":
            text = block.get("text")
            return (text,) if isinstance(text, str) and text else ()
        case "resource_link":
            uri = block.get("uri")
            return (f"[{as_title(uri if isinstance(uri, str) else 'a link')}]",)
        case "image" | "audio" | "resource" as kind:
            return (f"[{kind}]",)
        case _:
            return ()


def _said(update: Raw) -> list[str]:
    return [part for text in _block_text(update.get("content")) for part in parts(text)]


def _todo_items(raw: Json) -> list[TodoItem]:
    items = []
    for entry in raw[:MOST_TODO] if isinstance(raw, list) else ():
        if isinstance(entry, dict) and isinstance(text := entry.get("content"), str):
            status = entry.get("status")
            known = status if status in ("pending", "in_progress", "completed") else "pending"
            items.append(TodoItem(text=text[:LONGEST_TODO], status=known))  # type: ignore[arg-type]
    return items
