"""``get_diagnostics``: what the editor shows under Problems."""

from __future__ import annotations

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
from countersign.wire.editor import EditorDiagnostic, EditorDiagnosticsParams, EditorDiagnosticsResult
from countersign.wire.verdicts import Category


class GetDiagnosticsArguments(Arguments):
    path: str | None = Field(default=None, description="A file; without it, those of the whole workspace.")


class GetDiagnostics:
    """With a path it counts as a read of that file, else of the workspace's folder."""

    name = "get_diagnostics"
    kind: ToolKind = "read"
    category: Category = "read"
    description = (
        "Get the errors and warnings that the editor shows, of one file or of the workspace, as path:line:character. "
        "Editors check open files; of others they may know nothing."
    )
    arguments = GetDiagnosticsArguments

    def effects(self, arguments: GetDiagnosticsArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path or ".", policy).reads()

    def prepare(self, arguments: GetDiagnosticsArguments, policy: Policy) -> Prepared[Place | None]:
        place = locate(arguments.path, policy) if arguments.path is not None else None
        return Prepared(
            effects=(place or locate(".", policy)).reads(),
            preview=ToolPreview(input=arguments.model_dump(exclude_none=True)),
            title=as_title(f"Get problems of {place.shown if place else 'the workspace'}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved),) if place else (),
            payload=place,
        )

    async def run(self, permit: Permit, prepared: Prepared[Place | None], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        place = prepared.payload
        if place is not None:
            place.same_or_stale()
        params = EditorDiagnosticsParams(path=place.resolved if place else None)
        try:
            answer = await ask_editor(bench, "editor/diagnostics", params, EditorDiagnosticsResult)
        except NoAnswer as error:
            return Outcome(False, str(error))
        if answer.reason is not None:
            return Outcome(False, f"the editor says: {words(answer.reason)}")
        screened = await in_worker(
            blocking_screened, answer.diagnostics, bench.policy(), named=place, left_out=answer.left_out
        )
        return listed(screened, diagnostic_line, nothing="the editor shows no problems")


def diagnostic_line(place: Place, diagnostic: EditorDiagnostic) -> str:
    """Return a diagnostic as a model reads it."""
    checker = " ".join(words(part) for part in (diagnostic.source, diagnostic.code) if part)
    where = position(place, diagnostic.line, diagnostic.character)
    return f"{where}: {diagnostic.severity}: {words(diagnostic.message)}" + (f" [{checker}]" if checker else "")
