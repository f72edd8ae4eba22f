"""The system prompt of the built-in agent: who it is, its tools, its mode and what that means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from countersign.tools.tool import Tool
from countersign.wire.threads import AttachedPlace, Attachment
from countersign.wire.verdicts import Mode

MODE_WORDS: Mapping[Mode, str] = {
    "plan": "Plan: you may only read. Everything else is refused; propose what you would do instead.",
    "ask": "Ask every time: a person is asked before every call, reading too.",
    "default": "Default: reading inside the workspace is free; a person is asked before anything else.",
    "acceptEdits": "Accept edits: reading and editing inside the workspace is free; commands are asked for.",
    "auto": "Auto: most calls are allowed without asking; some things still ask.",
    "dontAsk": "Don't ask: nobody is asked; what no rule allows is refused.",
}


def system_prompt(workspace: str, modes: Iterable[Mode], tools: Mapping[str, Tool]) -> str:
    """What the model is told before the chat begins."""
    belt = "\n".join(f"- {tool.name} ({tool.category}): {tool.description}" for tool in tools.values())
    rules = "\n".join(f"- {MODE_WORDS[mode]}" for mode in dict.fromkeys(modes))
    return (
        "You are Countersign's coding agent, working in a person's editor.\n"
        f"The workspace is `{workspace}`; relative paths are relative to it.\n\n"
        f"Your tools:\n{belt}\n\n"
        f"The mode of this chat, in the order it was tightened:\n{rules}\n\n"
        "Every call is countersigned by a rule or by the person before it runs. A result of the form "
        '{"refused": …} means that it did not run: read its reason and hint, do not try the same again, and go on '
        "without it or ask. Calls of one message run side by side."
    )


def with_attachments(text: str, attachments: Sequence[Attachment] | None) -> str:
    """The prompt with what the person handed along, each marked with where it is from."""
    return "\n\n".join([text, *(_attached(item) for item in attachments or ())])


def attached_places(attachments: Sequence[Attachment] | None) -> list[AttachedPlace] | None:
    """What the chat shows of the attachments; None where there are none."""
    return [
        AttachedPlace(path=item.path, start_line=item.start_line, end_line=item.end_line, image=item.kind == "image")
        for item in attachments or ()
    ] or None


def _attached(item: Attachment) -> str:
    """One attachment as text: what it is and where from, then its lines inside a fence longer than any in them."""
    lines = ""
    if item.start_line is not None and item.end_line is not None:
        several = item.end_line != item.start_line
        lines = f", lines {item.start_line} to {item.end_line}" if several else f", line {item.start_line}"
    # A path is one line of text, whatever characters a file's name has.
    if item.kind == "image":
        return f"Attached: the image {_one_line(item.path)}" if item.path else "Attached: an image"
    place = f"{_one_line(item.path)}{lines}" if item.path else f"the selection{lines}"
    if item.text is None:
        return f"Attached: {place}"
    longest = max((len(run) for run in re.findall(r"`{3,}", item.text)), default=2)
    fence = "`" * (longest + 1)
    return f"Attached: {place}\n{fence}\n{item.text.removesuffix(chr(10))}\n{fence}"


def _one_line(path: str) -> str:
    return json.dumps(path, ensure_ascii=False) if any(not letter.isprintable() for letter in path) else path
