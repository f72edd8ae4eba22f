"""``shell_kill``: end a command that runs in the background."""

from __future__ import annotations

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, UseTool
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.tools.shell.shell import ended_outcome
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.errors import UnknownShell
from countersign.wire.verdicts import Category


class ShellKillArguments(Arguments):
    shell_id: str = Field(description="As the shell tool told it.")


class ShellKill:
    """Ends a command of the same chat, with everything it started, and waits until it has gone."""

    name = "shell_kill"
    kind: ToolKind = "execute"
    category: Category = "execute"
    description = "End a command that runs in the background, with everything it started."
    arguments = ShellKillArguments

    def effects(self, arguments: ShellKillArguments, policy: Policy) -> tuple[Effect, ...]:
        return (UseTool(self.name),)

    def prepare(self, arguments: ShellKillArguments, policy: Policy) -> Prepared[ShellKillArguments]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"End {arguments.shell_id}"),
            cwd=policy.workspace,
            payload=arguments,
        )

    async def run(self, permit: Permit, prepared: Prepared[ShellKillArguments], bench: ToolContext) -> Outcome:
        call = spend(permit, prepared)
        asked = prepared.payload
        desk: ShellRegistry = bench.services[SHELLS_SERVICE]
        try:
            shell = desk.find(asked.shell_id, call.thread_id)
        except UnknownShell as error:
            return Outcome(False, str(error))
        if shell.state != "running":
            return Outcome(False, f"{shell.shell_id} had ended already, with exit code {shell.exit_code}")
        await desk.kill(shell.shell_id)
        ended = ended_outcome(shell, None)
        return Outcome(True, f"ended {shell.shell_id}", record=ended.record)
