"""``get_selection``: what the person has selected in the active editor."""

from __future__ import annotations

from countersign.gate import Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.clip import head
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.screened import blocking_screened, number
from countersign.tools.files.text import for_reading
from countersign.tools.places import locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.wire.approvals import ToolKind, ToolPreview
from countersign.wire.base import Empty
from countersign.wire.editor import EditorSelectionResult
from countersign.wire.verdicts import Category


class GetSelectionArguments(Arguments):
    pass


class GetSelection:
    """Counts as a read of the workspace's folder; a file that may not be read freely is not named."""

    name = "get_selection"
    kind: ToolKind = "read"
    category: Category = "read"
    description = "Get the file, the place and the text that the person has selected in the editor."
    arguments = GetSelectionArguments

    def effects(self, arguments: GetSelectionArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(".", policy).reads()

    def prepare(self, arguments: GetSelectionArguments, policy: Policy) -> Prepared[None]:
        return Prepared(
            effects=self.effects(arguments, policy),
            preview=ToolPreview(input={}),
            title="Get the selection",
            cwd=policy.workspace,
            payload=None,
        )

    async def run(self, permit: Permit, prepared: Prepared[None], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        try:
            selection = (await ask_editor(bench, "editor/selection", Empty(), EditorSelectionResult)).selection
        except NoAnswer as error:
            return Outcome(False, str(error))
        if selection is None:
            return Outcome(True, "[no file is open in the active editor]")
        screened = await in_worker(blocking_screened, [selection], bench.policy())
        if not screened.kept:
            return Outcome(True, f"[the selection: {'; '.join(screened.marks())}]")
        ((place, _),) = screened.kept
        first, last = number(selection.line), number(selection.end_line)
        marks = [f"`{place.shown}`, " + (f"line {first}" if first == last else f"lines {first} to {last}")]
        if selection.dirty:
            marks.append("the file has changes that are not saved")
        text = for_reading(selection.text)
        shown = head(text)
        if selection.cut or len(shown) < len(text):
            marks.append("the beginning of the selection")
        if not text:
            marks.append(f"nothing is selected; the cursor is at character {number(selection.character)}")
        return Outcome(True, f"[{'; '.join(marks)}]" + (f"\n{shown}" if shown else ""), path=place.resolved)
