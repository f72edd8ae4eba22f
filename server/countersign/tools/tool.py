"""What a tool is: its arguments, what it would touch, and how it acts with a Permit.

A tool never decides. ``prepare`` looks at the arguments and the disk and says exactly what would happen; ``run`` does
exactly that, and only with a Permit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from countersign.gate import BadArguments, Effect, FileState, Outcome, Permit, ToolCall, Turn
from countersign.settings.policy import Policy
from countersign.wire.approvals import Location, Preview, ToolKind
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

__all__ = ["BadArguments", "Outcome", "Prepared", "Tool", "ToolContext"]

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)
PayloadT = TypeVar("PayloadT")
PayloadT_co = TypeVar("PayloadT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Generic[PayloadT_co]):
    """What a call would do, worked out before anybody is asked. Holds no open files.

    ``payload`` is what the tool's ``run`` needs to do exactly that.
    """

    effects: tuple[Effect, ...]
    preview: Preview
    title: str
    cwd: str
    bound: tuple[FileState, ...] = ()
    locations: tuple[Location, ...] = ()
    payload: PayloadT_co

    def call(
        self,
        turn: Turn,
        *,
        tool_call_id: str,
        tool: str,
        kind: ToolKind,
        category: Category,
        arguments: Mapping[str, Json],
        repeated: int = 0,
    ) -> ToolCall:
        """Return this as a call of the turn's agent, as the gate takes it."""
        return ToolCall(
            tool_call_id=tool_call_id,
            thread_id=turn.thread_id,
            turn_id=turn.turn_id,
            agent=turn.agent,
            subagent=turn.subagent,
            tool=tool,
            arguments=arguments,
            kind=kind,
            category=category,
            effects=self.effects,
            preview=self.preview,
            cwd=self.cwd,
            title=self.title,
            locations=self.locations,
            bound=self.bound,
            repeated=repeated,
        )


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is given beside its permit. ``emit`` streams output to the chat; ``policy`` is the live one.
    ``may_reach`` says whether a command in the sandbox may reach a host at this moment; called in threads."""

    policy: Callable[[], Policy]
    emit: Callable[[str], None]
    services: Mapping[str, Any] = field(default_factory=dict)
    may_reach: Callable[[str], bool] = lambda _host: False


class Tool(Protocol[ArgumentsT, PayloadT]):
    """One tool. ``prepare`` may read the disk but changes nothing and starts nothing."""

    name: str
    kind: ToolKind
    category: Category
    description: str
    arguments: type[ArgumentsT]

    def effects(self, arguments: ArgumentsT, policy: Policy) -> tuple[Effect, ...]:
        """Tell what a call touches, by its arguments and by where links lead; opens nothing.

        Only arguments that say what is touched need be there, so that a supposed call can leave out the others.

        Raises:
            BadArguments: no such call can be made.
        """
        ...

    def prepare(self, arguments: ArgumentsT, policy: Policy) -> Prepared[PayloadT]:
        """Work out what would happen.

        Raises:
            BadArguments: it cannot be done as asked; the message goes to the model.
        """
        ...

    def run(self, permit: Permit, prepared: Prepared[PayloadT], bench: ToolContext) -> Awaitable[Outcome]:
        """Do ``permit.call``. Cancelled: stop what was started and raise on.

        Raises:
            Stale: what the permit is bound to has changed; nothing was done.
        """
        ...
