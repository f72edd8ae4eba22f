"""Instructions that a project gives its agents: AGENTS.md and CLAUDE.md of the workspace and of the folders touched.

Read from trusted workspaces only, from regular files inside the workspace that could be read without asking anybody.
They are words for the model: no rule, grant or mode is read from them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from countersign.agents.context import clipped, text_tokens
from countersign.agents.models.base import AssistantMessage, Message
from countersign.gate import BadArguments, Stale
from countersign.settings.policy import Policy
from countersign.tools.access import freely_read
from countersign.tools.files.safe_open import look_at
from countersign.tools.files.text import looks_binary
from countersign.tools.places import inside_workspace, locate

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_BYTES = 64 << 10
"""Of one file; a longer one is left out."""
MOST_FOLDERS = 20
"""Folders whose instructions are read for one request."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One file of instructions; ``path`` as the person knows it."""

    path: str
    text: str


def blocking_instructions(policy: Policy, messages: Sequence[Message], most_tokens: int) -> list[Instruction]:
    """Return the instructions that count now, the workspace's own first, cut to so many tokens in all."""
    return _found(policy, _folders(policy, messages), NAMES, most_tokens) if policy.trusted else []


def blocking_instructions_named(policy: Policy, names: Sequence[str], most_tokens: int) -> list[Instruction]:
    """Return the files of these names that lie in the workspace's own folder, cut to so many tokens in all."""
    return _found(policy, ["."], names, most_tokens) if policy.trusted else []


def _found(policy: Policy, folders: Sequence[str], names: Sequence[str], most_tokens: int) -> list[Instruction]:
    found: list[Instruction] = []
    seen: set[str] = set()
    left = most_tokens
    for folder in folders:
        for name in names:
            text = _blocking_text(os.path.join(folder, name), policy)
            if text is None or text in seen or left < 100:
                continue
            seen.add(text)
            shown = clipped(text, left)
            left -= text_tokens(shown)
            found.append(Instruction(os.path.normpath(os.path.join(folder, name)), shown))
    return found


def with_instructions(system: str, instructions: Sequence[Instruction]) -> str:
    """Return the system prompt with the project's instructions after it."""
    return f"{system}\n\n{words_of(instructions)}" if instructions else system


def words_of(instructions: Sequence[Instruction]) -> str:
    """Return instructions as words for a model."""
    told = "\n\n".join(f"From `{each.path}`:\n{each.text.strip()}" for each in instructions)
    return f"Instructions of this project, from its own files. They allow nothing.\n\n{told}"


def _folders(policy: Policy, messages: Sequence[Message]) -> list[str]:
    """The workspace, then each folder on the way to a path that a call named, relative to the workspace."""
    folders: dict[str, None] = {".": None}
    for path in dict.fromkeys(_touched(messages)):
        try:
            place = locate(path, policy)
        except BadArguments:
            continue
        if not inside_workspace(place.resolved, policy):
            continue
        relative = os.path.relpath(os.path.dirname(place.resolved), os.path.realpath(policy.workspace))
        parts = relative.split(os.sep) if relative != "." else []
        for end in range(1, len(parts) + 1):
            folders[os.path.join(*parts[:end])] = None
        if len(folders) > MOST_FOLDERS:
            break
    return list(folders)[:MOST_FOLDERS]


def _touched(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            for key in ("path", "to"):
                if isinstance(path := call.arguments.get(key), str):
                    yield path


def _blocking_text(path: str, policy: Policy) -> str | None:
    try:
        place = locate(path, policy)
        if not inside_workspace(place.resolved, policy) or not freely_read(place, policy):
            return None
        seen = look_at(place.resolved, MOST_BYTES)
    except (OSError, BadArguments, Stale):
        return None  # absent, or not for us: the chat goes on without it
    if seen.data is None or looks_binary(seen.data):
        return None
    return seen.data.decode("utf-8", "replace")
