"""``shell_output``: read on in the output of a command."""

from __future__ import annotations

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, UseTool
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.clip import MOST_OUTPUT, head
from countersign.tools.sandbox.host_tool import host_offers
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.errors import UnknownShell
from countersign.wire.verdicts import Category

_MOST = MOST_OUTPUT - 1024


class ShellOutputArguments(Arguments):
    shell_id: str = Field(description="As the shell tool told it.")
    from_: int = Field(default=0, ge=0, alias="from", description="Byte offset to read from; next of the last reading.")


class ShellOutput:
    """Reads a piece of what a command of the same chat put out. Does not wait for more."""

    name = "shell_output"
    kind: ToolKind = "read"
    category: Category = "read"
    description = (
        "Read the output of a command from a byte offset on. The last line says where to read on, and its state."
    )
    arguments = ShellOutputArguments

    def effects(self, arguments: ShellOutputArguments, policy: Policy) -> tuple[Effect, ...]:
        return (UseTool(self.name),)

    def prepare(self, arguments: ShellOutputArguments, policy: Policy) -> Prepared[ShellOutputArguments]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input=arguments.model_dump(by_alias=True)),
            title=as_title(f"Read the output of {arguments.shell_id}"),
            cwd=policy.workspace,
            payload=arguments,
        )

    async def run(self, permit: Permit, prepared: Prepared[ShellOutputArguments], bench: ToolContext) -> Outcome:
        call = spend(permit, prepared)
        asked = prepared.payload
        desk: ShellRegistry = bench.services[SHELLS_SERVICE]
        try:
            shell = desk.find(asked.shell_id, call.thread_id)
        except UnknownShell as error:
            return Outcome(False, str(error))
        read = shell.read(asked.from_, _MOST)
        # What is no UTF-8 grows when it is shown; the rest of it is still told by its offset.
        shown = head(read.text, _MOST)
        more = ", more is there" if read.next < shell.kept.total else ""
        state = f"exited with code {shell.exit_code}" if shell.state == "exited" else shell.state
        joint = "\n" if shown and not shown.endswith("\n") else ""
        # A foreground command tells of them at its end; one in the background may never end.
        refused = shell.newly_refused() if shell.background else ()
        marks = "".join(f"[{each.sentence()}]" for each in refused)
        return Outcome(
            True,
            f"{shown}{joint}{marks}[next {read.next}{more}; {state}]",
            record={"shellId": shell.shell_id},
            offers=host_offers(refused, shell.line.shown),
        )
