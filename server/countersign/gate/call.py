"""A ToolCall and its Effects: what an agent wants, and what that would touch.

Effects are named by the tool (or by the translator of a foreign call) and judged by ``policy.decide``. A call also
carries the preview that its card is drawn from and the states of the files it is bound to, so that what was shown is
what is hashed is what runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from countersign.wire.approvals import AgentOption, Location, Preview, ToolKind
from countersign.wire.base import Json, as_json
from countersign.wire.verdicts import Category


class BadArguments(Exception):
    """A call's arguments cannot be carried out (missing, wrong, no such text to replace); told to the model."""


@dataclass(frozen=True, slots=True)
class ReadPath:
    """Read a file, or list or search a folder (``below``: everything under it). ``mentioned``: a tool of another server
    is given the path and may read or change it; only rules for files, secrets and protected places count. ``loose``: it
    only may be given it, so that a rule that denies asks."""

    path: str
    below: bool = False
    mentioned: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class WritePath:
    """Create, change, delete a file, or move one (a move is a WritePath of both ends)."""

    path: str
    operation: Literal["create", "edit", "delete", "move"] = "edit"


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a text as ``bash -c TEXT`` in ``cwd``. ``understood`` is False where a foreign call only hints at one.
    ``own_text``: the agent that asks runs the text itself, as it wrote it. ``outside`` is the reason for which the
    model asks to run it outside the sandbox."""

    command: str
    cwd: str
    understood: bool = True
    own_text: bool = False
    outside: str | None = None


@dataclass(frozen=True, slots=True)
class FetchUrl:
    url: str
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class ReachHost:
    """Let commands in the sandbox reach a host through its proxy, from now on."""

    host: str


@dataclass(frozen=True, slots=True)
class UseTool:
    """Anything else. ``name`` is the tool's name in rules, e.g. ``mcp__server__tool`` or ``Agent``."""

    name: str
    server: str | None = None


@dataclass(frozen=True, slots=True)
class ProposePlan:
    """Show a person a plan and wait for their word. It touches nothing, and allows nothing that the plan names."""


Effect = ReadPath | WritePath | RunCommand | FetchUrl | ReachHost | UseTool | ProposePlan


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was when the card was drawn: its resolved path and the SHA-256 of its bytes, or None if absent."""

    path: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What an agent wants. Immutable; a changed call is another call with another digest.

    ``tool`` is the canonical name (ours, ``mcp__server__tool`` or ``acp:<kind>``), ``agent`` the settings key of the
    agent it is for, ``subagent`` the path of the sub-agent that asks. ``arguments`` is the input as parsed JSON.
    ``cwd`` is absolute. ``repeated`` is how often this turn made the same call with one result, up to now.
    """

    tool_call_id: str
    thread_id: str
    turn_id: str
    agent: str
    tool: str
    arguments: Mapping[str, Json]
    kind: ToolKind
    category: Category
    effects: tuple[Effect, ...]
    preview: Preview
    cwd: str
    title: str = ""
    subagent: str | None = None
    agent_tool_call_id: str | None = None
    agent_options: tuple[AgentOption, ...] | None = None
    locations: tuple[Location, ...] = ()
    bound: tuple[FileState, ...] = ()
    repeated: int = 0

    def rebound(self, states: tuple[FileState, ...]) -> ToolCall:
        """The same call bound to these file states as well."""
        return replace(self, bound=self.bound + states)

    @property
    def only_reads(self) -> bool:
        """Whether it is of the category read and no effect of it is more than that."""
        return self.category == "read" and all(isinstance(effect, ReadPath) for effect in self.effects)

    def digest(self) -> str:
        """SHA-256 in hex over everything that was shown and everything that will run.

        INVARIANT (same bytes): two calls with one digest show the same card and do the same thing. The agent's own
        title is left out, because it is not the subject of a card.
        """
        shown = as_json(self.preview)
        # The verdicts of a command's parts are drawn from rules, not from the call: they may change beneath it.
        shown.pop("parts", None)
        body = {
            "agent": self.agent,
            "subagent": self.subagent,
            "thread": self.thread_id,
            "tool": self.tool,
            "input": dict(self.arguments),
            "cwd": self.cwd,
            "preview": shown,
            "bound": sorted([state.path, state.sha256] for state in self.bound),
        }
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()
