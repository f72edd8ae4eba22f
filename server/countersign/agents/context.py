"""What a model reads of a long chat: messages made to fit a number of tokens, without IO.

The whole conversation is kept elsewhere and never changed. A request shows it in three steps, each taken only where the
one before is not enough: old tool results and long arguments are cut, older messages are replaced by a summary, and
what is left is cut to its share. Tokens are estimated, rather too high: three bytes are one token.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from countersign.agents.models.base import AssistantMessage, Message, ToolMessage, ToolSchema, UserMessage, WantedCall
from countersign.wire.base import Json

BYTES_PER_TOKEN = 3
IMAGE_TOKENS = 1600
MESSAGE_TOKENS = 8
"""Around each message and call."""
FRESH_MESSAGES = 6
"""Messages at the end whose tool results are not cut in the first step."""
OLD_RESULT = 300
"""Characters that are left of an old tool result or a long argument."""
OUTPUT_SHARE = 4
"""One part in so many of the window is left for the answer."""
MOST_OUTPUT = 32_000
TODO_TOOL = "todo_write"


@dataclass(frozen=True, slots=True)
class ContextState:
    """What a chat's context has come to. ``summarized`` messages are replaced by ``summary``; results and arguments of
    the first ``trimmed`` messages are cut. ``shown`` are the instruction files that the chat named."""

    summary: str = ""
    summarized: int = 0
    trimmed: int = 0
    shown: tuple[str, ...] = ()


def text_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def message_tokens(message: Message) -> int:
    """Return an estimate of the tokens of a message as a provider counts it."""
    match message:
        case UserMessage(text=text, images=images):
            return MESSAGE_TOKENS + text_tokens(text) + IMAGE_TOKENS * len(images)
        case ToolMessage(output=output, images=images):
            return 2 * MESSAGE_TOKENS + text_tokens(output) + IMAGE_TOKENS * len(images)
        case AssistantMessage():
            calls = sum(
                2 * MESSAGE_TOKENS + text_tokens(call.tool) + _size(dict(call.arguments)) for call in message.calls
            )
            blocks = _size(list(message.replay.blocks)) if message.replay is not None else 0
            return MESSAGE_TOKENS + max(text_tokens(message.text), blocks) + calls


def fixed_tokens(system: str, tools: Sequence[ToolSchema]) -> int:
    """Return an estimate of the tokens that every request has beside its messages."""
    schemas = sum(
        MESSAGE_TOKENS + text_tokens(tool.name) + text_tokens(tool.description) + _size(dict(tool.parameters))
        for tool in tools
    )
    return MESSAGE_TOKENS + text_tokens(system) + schemas


def room(window: int, fixed: int) -> int:
    """Return the tokens that messages may have in a window: what is left beside the answer and the fixed part."""
    return max(window // 8, window - min(window // OUTPUT_SHARE, MOST_OUTPUT) - fixed)


def view(messages: Sequence[Message], state: ContextState) -> list[Message]:
    """Return the messages as the state shows them to a model."""
    shown = [
        trimmed(message) if number < state.trimmed else message
        for number, message in enumerate(messages[state.summarized :], state.summarized)
    ]
    return [summary_message(messages, state), *shown] if state.summarized else shown


def summary_message(messages: Sequence[Message], state: ContextState) -> UserMessage:
    """Return the message that stands for the summarized ones, with the request under way and the latest to-do list."""
    parts = [
        f"[Summary of the {state.summarized} earlier messages of this chat. It was written by a model from what was "
        f"said, and allows nothing.]\n{state.summary}"
    ]
    rest = messages[state.summarized :]
    if not any(isinstance(message, UserMessage) for message in rest):
        prompts = [message.text for message in messages[: state.summarized] if isinstance(message, UserMessage)]
        if prompts:
            parts.append(f"[The person's request that is under way:]\n{clipped(prompts[-1], 500)}")
    todo = latest_todo(messages[: state.summarized])
    if todo is not None and latest_todo(rest) is None:
        parts.append(f"[The to-do list as you last wrote it:]\n{clipped(todo, 800)}")
    return UserMessage("\n\n".join(parts))


def latest_todo(messages: Sequence[Message]) -> str | None:
    """Return the latest to-do list as lines, or None."""
    for message in reversed(messages):
        for call in reversed(message.calls) if isinstance(message, AssistantMessage) else ():
            items = call.arguments.get("items")
            if call.tool == TODO_TOOL and isinstance(items, list):
                return "\n".join(_todo_line(item) for item in items)
    return None


def next_trim(messages: Sequence[Message], state: ContextState) -> ContextState:
    """Return the state in which old results are cut; the same one where there are none."""
    return replace(state, trimmed=max(state.trimmed, len(messages) - FRESH_MESSAGES))


def next_cut(messages: Sequence[Message], state: ContextState, most_tokens: int) -> int:
    """Return how many messages to summarize so that the others take at most so many tokens.

    The rest begins with a prompt or a model's message, so that no result stands without its call; the last of these
    always stays.
    """
    starts = [
        number
        for number, message in enumerate(messages)
        if number > state.summarized and not isinstance(message, ToolMessage)
    ]
    if not starts:
        return state.summarized
    size, cut = 0, len(messages)
    for number in range(len(messages) - 1, state.summarized, -1):
        size += message_tokens(trimmed(messages[number]) if number < state.trimmed else messages[number])
        if size > most_tokens:
            break
        if not isinstance(messages[number], ToolMessage):
            cut = number
    return min(cut, starts[-1])


def fitted(messages: Sequence[Message], most_tokens: int) -> list[Message]:
    """Return the messages, the longest of them cut until all together take at most so many tokens."""
    fit = list(messages)
    sizes = [message_tokens(message) for message in fit]
    if sum(sizes) <= most_tokens:
        return fit
    # Whoever is below the share keeps all; the share grows by what they leave.
    share, left, waiting = 0, most_tokens, sorted(sizes)
    for done, size in enumerate(waiting):
        share = left // (len(waiting) - done)
        if size > share:
            break
        left -= size
    while True:
        cut = [cut_to(message, share) if size > share else message for message, size in zip(fit, sizes, strict=True)]
        excess = sum(map(message_tokens, cut)) - most_tokens
        if excess <= 0 or share == 0:
            return cut
        # Some do not get as short as the share: a call keeps its name. The others give way.
        share = max(0, share - -(-excess // len(fit)))


def cut_to(message: Message, most_tokens: int) -> Message:
    """Return a message with its texts cut so that it takes at most so many tokens."""
    match message:
        case UserMessage(text=text, images=images):
            kept = images if len(images) * IMAGE_TOKENS < most_tokens // 2 else ()
            return replace(
                message, text=clipped(text, most_tokens - MESSAGE_TOKENS - IMAGE_TOKENS * len(kept)), images=kept
            )
        case ToolMessage(output=output):
            return replace(message, output=clipped(output, most_tokens - 2 * MESSAGE_TOKENS), images=())
        case AssistantMessage(calls=calls):
            short = trimmed(message)
            assert isinstance(short, AssistantMessage)
            others = message_tokens(replace(short, text=""))
            if others <= most_tokens:
                return replace(short, text=clipped(message.text, most_tokens - others))
            share = most_tokens // (len(calls) + 1)
            bare = tuple(_bare(call, share) for call in calls)
            return replace(short, text=clipped(message.text, share - MESSAGE_TOKENS), calls=bare)


def trimmed(message: Message) -> Message:
    """Return an old message: the results of tools and long arguments cut, thinking and pictures left out."""
    match message:
        case ToolMessage(output=output):
            return replace(message, output=_shortened(output), images=())
        case AssistantMessage(calls=calls):
            short = tuple(
                call if call.tool == TODO_TOOL else replace(call, arguments=_short_values(dict(call.arguments)))
                for call in calls
            )
            return replace(message, calls=short, thinking="", replay=None)
        case UserMessage():
            return replace(message, images=())


def clipped(text: str, most_tokens: int) -> str:
    """Return a text of at most so many tokens: its beginning, its end, and a mark that says what is missing."""
    most = max(0, most_tokens) * BYTES_PER_TOKEN
    data = text.encode(errors="replace")
    if len(data) <= most:
        return text
    mark = f"\n[… {len(data)} bytes in all, cut here because the context is full; read it in parts …]\n"
    left = most - len(mark.encode())
    if left < 40:
        return mark.strip()[: most // 4] if most >= 40 else ""
    head, tail = data[: left * 2 // 3], data[len(data) - left // 3 :]
    return head.decode(errors="ignore") + mark + tail.decode(errors="ignore")


def _shortened(text: str) -> str:
    if len(text) <= OLD_RESULT * 2:
        return text
    return f"{text[:OLD_RESULT]}\n[… old result of {len(text)} characters, cut; read it again if you need it]"


def _short_values(value: Json) -> Json:
    match value:
        case str() if len(value) > OLD_RESULT * 2:
            return f"{value[:OLD_RESULT]} [… {len(value)} characters, cut in this copy of the chat]"
        case list():
            return [_short_values(each) for each in value]
        case dict():
            return {key: _short_values(each) for key, each in value.items()}
        case _:
            return value


def _bare(call: WantedCall, most_tokens: int) -> WantedCall:
    return call if _call_tokens(call) <= most_tokens else replace(call, arguments={})


def _call_tokens(call: WantedCall) -> int:
    return 2 * MESSAGE_TOKENS + text_tokens(call.tool) + _size(dict(call.arguments))


def _size(value: Json) -> int:
    return text_tokens(json.dumps(value, ensure_ascii=False))


def _todo_line(item: Json) -> str:
    if not isinstance(item, dict):
        return ""
    return f"- [{item.get('status', 'pending')}] {item.get('text', '')}"
