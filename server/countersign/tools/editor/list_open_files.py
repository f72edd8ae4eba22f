"""``list_open_files``: which files the person has open in editors."""

from __future__ import annotations

from countersign.gate import Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.screened import blocking_screened, listed
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.base import Empty
from countersign.wire.editor import EditorFile, EditorOpenFilesResult
from countersign.wire.verdicts import Category


class ListOpenFilesArguments(Arguments):
    pass


class ListOpenFiles:
    """Counts as a read of the workspace's folder; files that may not be read freely are not named."""

    name = "list_open_files"
    kind: ToolKind = "read"
    category: Category = "read"
    description = "List the files that the person has open in the editor: which one is active, which are not saved."
    arguments = ListOpenFilesArguments

    def effects(self, arguments: ListOpenFilesArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(".", policy).reads()

    def prepare(self, arguments: ListOpenFilesArguments, policy: Policy) -> Prepared[None]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input={}),
            title="List the open files",
            cwd=policy.workspace,
            payload=None,
        )

    async def run(self, permit: Permit, prepared: Prepared[None], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        try:
            answer = await ask_editor(bench, "editor/openFiles", Empty(), EditorOpenFilesResult)
        except NoAnswer as error:
            return Outcome(False, str(error))
        screened = await in_worker(blocking_screened, answer.files, bench.policy(), left_out=answer.left_out)
        return listed(screened, _line, nothing="no file is open")


def _line(place: Place, file: EditorFile) -> str:
    said = [*(["active"] if file.active else []), *(["not saved"] if file.dirty else [])]
    return place.shown + (f" ({', '.join(said)})" if said else "")
