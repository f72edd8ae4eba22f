"""``find_references``: where a symbol is used."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from countersign.gate import Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.screened import blocking_screened, listed, position, words
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.editor import EditorReference, EditorReferencesParams, EditorReferencesResult
from countersign.wire.verdicts import Category

HIGHEST_LINE = 10_000_000


class SymbolAt(Arguments):
    """A symbol by a place where it stands."""

    path: str = Field(description="The file, relative to the workspace or absolute.")
    line: int = Field(ge=1, le=HIGHEST_LINE, description="A line in which the name stands, counted from 1.")
    name: str = Field(min_length=1, max_length=200, description="The name as it stands in that line.")


class FindReferencesArguments(SymbolAt):
    pass


@dataclass(frozen=True, slots=True)
class Sought:
    place: Place
    line: int
    name: str


class FindReferences:
    """Counts as a read of the file that it names; references in files that may not be read freely are left out."""

    name = "find_references"
    kind: ToolKind = "search"
    category: Category = "read"
    description = (
        "Find where a symbol is used, by the editor's language support; name a line in which it stands. Results are "
        "lines of path:line:character."
    )
    arguments = FindReferencesArguments

    def effects(self, arguments: FindReferencesArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).reads()

    def prepare(self, arguments: FindReferencesArguments, policy: Policy) -> Prepared[Sought]:
        place = locate(arguments.path, policy)
        return Prepared(
            effects=place.reads(),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"Find uses of {arguments.name} from {place.shown}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved, line=arguments.line),),
            payload=Sought(place, arguments.line, arguments.name),
        )

    async def run(self, permit: Permit, prepared: Prepared[Sought], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        sought = prepared.payload
        sought.place.same_or_stale()
        params = EditorReferencesParams(path=sought.place.resolved, line=sought.line, name=sought.name)
        try:
            answer = await ask_editor(bench, "editor/references", params, EditorReferencesResult)
        except NoAnswer as error:
            return Outcome(False, str(error))
        if answer.reason is not None:
            return Outcome(False, f"the editor says: {words(answer.reason)}")
        screened = await in_worker(
            blocking_screened, answer.references, bench.policy(), named=sought.place, left_out=answer.left_out
        )
        return listed(screened, _line, nothing="the editor knows no use of it")


def _line(place: Place, reference: EditorReference) -> str:
    return position(place, reference.line, reference.character)
