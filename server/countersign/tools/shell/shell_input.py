"""``shell_input``: type into a command that runs in the background."""

from __future__ import annotations

from pydantic import Field

from countersign.gate import BadArguments, Effect, Outcome, Permit, RunCommand
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.errors import PersonError
from countersign.wire.verdicts import Category

MOST_INPUT = 64 << 10


class ShellInputArguments(Arguments):
    shell_id: str = Field(description="As the shell tool told it.")
    text: str = Field(max_length=MOST_INPUT, description="Exactly what is typed; end a line with a line feed.")


class ShellInput:
    """Gives text to a command of the same chat, exactly as it stands.

    The command may be a shell, so the text counts as a command, and as one that is not understood: what is running
    there, and what it makes of the text, is not known here. It always asks where commands ask.
    """

    name = "shell_input"
    kind: ToolKind = "execute"
    category: Category = "execute"
    description = "Type text into a command that runs in the background."
    arguments = ShellInputArguments

    def effects(self, arguments: ShellInputArguments, policy: Policy) -> tuple[Effect, ...]:
        return (RunCommand(arguments.text, policy.workspace, understood=False),)

    def prepare(self, arguments: ShellInputArguments, policy: Policy) -> Prepared[ShellInputArguments]:
        if not arguments.text:
            raise BadArguments("the text is empty")
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"Type into {arguments.shell_id}: {arguments.text}"),
            cwd=policy.workspace,
            payload=arguments,
        )

    async def run(self, permit: Permit, prepared: Prepared[ShellInputArguments], bench: ToolContext) -> Outcome:
        call = spend(permit, prepared)
        asked = prepared.payload
        desk: ShellRegistry = bench.services[SHELLS_SERVICE]
        try:
            shell = desk.find(asked.shell_id, call.thread_id)
            await desk.write(shell.shell_id, asked.text)
        except PersonError as error:
            return Outcome(False, str(error))
        record = {"shellId": shell.shell_id, "bytes": len(asked.text.encode("utf-8", "replace"))}
        return Outcome(
            True, f"typed into {shell.shell_id}; read on with shell_output from {shell.kept.total}", record=record
        )
