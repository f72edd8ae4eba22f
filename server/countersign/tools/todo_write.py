"""``todo_write``: the model's list of what is to be done, shown in the chat. Touches nothing outside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, UseTool
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.threads import TodoItem
from countersign.wire.verdicts import Category

MOST_ITEMS = 200
TODO_SERVICE = "todo"
"""Name in ``ToolContext.services`` of a ``Callable[[list[TodoItem]], None]`` that puts the list into the chat."""


class Item(Arguments):
    text: str = Field(max_length=1000)
    status: Literal["pending", "in_progress", "completed"] = "pending"


class TodoWriteArguments(Arguments):
    items: list[Item] = Field(max_length=MOST_ITEMS, description="The whole list; it replaces the one before.")


class TodoWrite:
    """Replaces the chat's list."""

    name = "todo_write"
    kind: ToolKind = "think"
    category: Category = "read"
    description = "Write your list of what is to be done, whole each time. The person sees it."
    arguments = TodoWriteArguments

    def effects(self, arguments: TodoWriteArguments, policy: Policy) -> tuple[Effect, ...]:
        return (UseTool(self.name),)

    def prepare(self, arguments: TodoWriteArguments, policy: Policy) -> Prepared[list[TodoItem]]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input=arguments.model_dump()),
            title="Update the list of what is to be done",
            cwd=policy.workspace,
            payload=[TodoItem(text=item.text, status=item.status) for item in arguments.items],
        )

    async def run(self, permit: Permit, prepared: Prepared[list[TodoItem]], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        items = prepared.payload
        show: Callable[[list[TodoItem]], None] | None = bench.services.get(TODO_SERVICE)
        if show is not None:
            show(items)
        done = sum(item.status == "completed" for item in items)
        return Outcome(True, f"the list has {len(items)} items, {done} completed", record={"items": len(items)})
