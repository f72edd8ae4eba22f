"""The offline model: works on a small set of plain requests by streaming text and real tool calls.

It is what a new installation answers with, and what tests and the demonstration run on. It reads only the messages it
is given, so that it can go on after a restart like any other model.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence

from countersign.agents.models.base import (
    AssistantMessage,
    CallPiece,
    Message,
    Piece,
    StopPiece,
    TextPiece,
    ThinkingPiece,
    ToolMessage,
    ToolSchema,
    UsagePiece,
    UserMessage,
    WantedCall,
)
from countersign.wire.base import Json

HINT = (
    "I am the offline demo model and understand a few plain requests: `create hello.txt saying hi`, "
    "`run touch made.txt`, `read README.md`, `list .`, `search for TODO`, `edit a.py: replace x with y`, "
    "`delete old.txt`, `count to 20`, "
    "several of them joined by `and also` (at once) or `and then` (one after the other)."
)
MOST_COUNTED = 100_000

Wanted = tuple[str, dict[str, Json]]

_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:create|write)\s+(?P<path>\S+)\s+saying\s(?P<content>.*)", re.DOTALL), "write_file"),
    (re.compile(r"run in (?:the )?background\s+(?P<command>.+)", re.DOTALL), "background"),
    (re.compile(r"run\s+(?P<command>.+)", re.DOTALL), "shell"),
    (re.compile(r"(?:read|show)\s+(?P<path>\S+)"), "read_file"),
    (re.compile(r"list(?:\s+(?P<path>\S+))?"), "list_dir"),
    (re.compile(r"search for\s+(?P<pattern>.+?)(?:\s+in\s+(?P<path>\S+))?"), "search"),
    (re.compile(r"find\s+(?P<pattern>\S+)"), "glob"),
    (re.compile(r"edit\s+(?P<path>\S+?):\s*replace\s+(?P<old>.+?)\s+with\s(?P<new>.*)", re.DOTALL), "edit_file"),
    (re.compile(r"delete\s+(?P<path>\S+)"), "delete_file"),
    (re.compile(r"move\s+(?P<path>\S+)\s+to\s+(?P<to>\S+)"), "move_file"),
    (re.compile(r"fetch\s+(?P<url>\S+)"), "web_fetch"),
)
_COUNT = re.compile(r"count to\s+(\d{1,6})", re.IGNORECASE)


class DemoModel:
    """Offline, deterministic, without state between calls."""

    async def stream(
        self, system: str, messages: Sequence[Message], tools: Sequence[ToolSchema]
    ) -> AsyncIterator[Piece]:
        prompt, since = _last_prompt(messages)
        steps = _steps(prompt)
        step = sum(isinstance(message, AssistantMessage) and bool(message.calls) for message in since)
        results = [message for message in since if isinstance(message, ToolMessage)]
        offered = {tool.name for tool in tools}
        refusals = [result for result in results if result.refused]
        if refusals:
            async for piece in _say(_about_refusals(refusals)):
                yield piece
        elif (counted := _COUNT.fullmatch(prompt.strip())) is not None:
            for number in range(1, min(int(counted[1]), MOST_COUNTED) + 1):
                yield TextPiece(f"{number} ")
                await asyncio.sleep(0)
        elif steps is None:
            async for piece in _say(HINT):
                yield piece
        elif step < len(steps):
            yield ThinkingPiece("The request is plain; I call what it names.")
            async for piece in _say("On it." if step == 0 else "Next."):
                yield piece
            for number, (tool, arguments) in enumerate(steps[step]):
                if tool in offered:
                    yield CallPiece(WantedCall(f"demo-{len(messages)}-{number}", tool, arguments))
                    await asyncio.sleep(0)
                else:
                    async for piece in _say(f" I have no tool `{tool}` here."):
                        yield piece
        else:
            async for piece in _say(_about_results(results)):
                yield piece
        yield UsagePiece(input_tokens=sum(len(str(message)) for message in messages) // 4, output_tokens=16)
        calls = steps is not None and not refusals and step < len(steps)
        yield StopPiece("tool_use" if calls else "end_turn")


def _last_prompt(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage):
            # It calls what the person wrote; what is attached is for models that read.
            return message.text.partition("\n\nAttached: ")[0], messages[index + 1 :]
    return "", ()


def _steps(prompt: str) -> list[list[Wanted]] | None:
    """Messages of calls; None when any part is not understood (then nothing of it is done)."""
    steps = []
    for message in re.split(r"\s+and then\s+", prompt.strip()):
        wanted = [_wanted(part) for part in re.split(r"\s+and also\s+", message)]
        if not all(wanted):
            return None
        steps.append([call for call in wanted if call is not None])
    return steps


def _wanted(text: str) -> Wanted | None:
    for form, tool in _FORMS:
        found = form.fullmatch(text.strip()) or form.fullmatch(text.strip()[:1].lower() + text.strip()[1:])
        if found is None:
            continue
        fields: dict[str, Json] = {name: value for name, value in found.groupdict().items() if value is not None}
        if tool == "edit_file":
            return tool, {"path": fields["path"], "edits": [{"old_text": fields["old"], "new_text": fields["new"]}]}
        if tool == "background":
            return "shell", {**fields, "background": True}
        if tool == "list_dir":
            return tool, {"path": fields.get("path", ".")}
        return tool, fields
    return None


def _about_refusals(refusals: Sequence[ToolMessage]) -> str:
    parts = []
    for refusal in refusals:
        try:
            told = json.loads(refusal.output)
        except ValueError:
            told = {}
        reason = told.get("reason") or told.get("refused") or "no reason was given"
        parts.append(f"`{refusal.tool}` was refused: {reason}.")
    return " ".join(["This was not allowed, so I stop here.", *parts])


def _about_results(results: Sequence[ToolMessage]) -> str:
    lines = ["Done." if all(result.success for result in results) else "Not all of it worked."]
    for result in results:
        first = result.output.strip().splitlines()[0][:200] if result.output.strip() else ""
        lines.append(f"- `{result.tool}`: {first or 'no output'}")
    return "\n".join(lines)


async def _say(text: str) -> AsyncIterator[Piece]:
    """A few words at a time, as models do."""
    for piece in re.findall(r"\S+\s*|\s+", text):
        yield TextPiece(piece)
        await asyncio.sleep(0)
