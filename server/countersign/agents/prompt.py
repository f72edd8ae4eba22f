"""The system prompt of the built-in agent: who it is, its tools, its mode and what that means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from countersign.tools.tool import Tool
from countersign.wire.threads import Attachment
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
    parts = [text]
    for item in attachments or ():
        place = item.path or "selection"
        lines = f" lines {item.start_line}-{item.end_line}" if item.start_line and item.end_line else ""
        parts.append(
            f"<attachment from={place!r}{lines!r}>\n{item.text}\n</attachment>" if item.text else f"(see {place})"
        )
    return "\n\n".join(parts)
