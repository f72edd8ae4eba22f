"""``find_symbols``: the symbols of a file, or those of the workspace by name."""

from __future__ import annotations

from pydantic import Field

from countersign.gate import BadArguments, Effect, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.screened import blocking_screened, listed, position, words
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.editor import EditorSymbol, EditorSymbolsParams, EditorSymbolsResult
from countersign.wire.verdicts import Category


class FindSymbolsArguments(Arguments):
    query: str | None = Field(default=None, max_length=200, description="A name, or a part of one.")
    path: str | None = Field(default=None, description="A file; without it the whole workspace is searched.")


class FindSymbols:
    """With a path it counts as a read of that file, else of the workspace's folder."""

    name = "find_symbols"
    kind: ToolKind = "search"
    category: Category = "read"
    description = (
        "Find classes, functions and other symbols by the editor's language support: those of a file, or those of the "
        "workspace by name. Results are lines of path:line:character. Give a query, a path or both."
    )
    arguments = FindSymbolsArguments

    def effects(self, arguments: FindSymbolsArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path or ".", policy).reads()

    def prepare(self, arguments: FindSymbolsArguments, policy: Policy) -> Prepared[tuple[Place | None, str]]:
        if arguments.path is None and not arguments.query:
            raise BadArguments("give a query, a path or both")
        place = locate(arguments.path, policy) if arguments.path is not None else None
        wanted = f" {arguments.query}" if arguments.query else "s"
        return Prepared(
            effects=(place or locate(".", policy)).reads(),
            preview=ToolPreview(input=arguments.model_dump(exclude_none=True)),
            title=as_title(f"Find symbol{wanted} in {place.shown if place else 'the workspace'}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved),) if place else (),
            payload=(place, arguments.query or ""),
        )

    async def run(self, permit: Permit, prepared: Prepared[tuple[Place | None, str]], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        place, query = prepared.payload
        if place is not None:
            place.same_or_stale()
        params = EditorSymbolsParams(path=place.resolved if place else None, query=query or None)
        try:
            answer = await ask_editor(bench, "editor/symbols", params, EditorSymbolsResult)
        except NoAnswer as error:
            return Outcome(False, str(error))
        if answer.reason is not None:
            return Outcome(False, f"the editor says: {words(answer.reason)}")
        part = query.lower() if place else ""
        found = [symbol for symbol in answer.symbols if part in symbol.name.lower()]
        screened = await in_worker(blocking_screened, found, bench.policy(), named=place, left_out=answer.left_out)
        return listed(screened, _line, nothing="the editor knows no such symbol")


def _line(place: Place, symbol: EditorSymbol) -> str:
    inside = f" in {words(symbol.container)}" if symbol.container else ""
    where = position(place, symbol.line, symbol.character)
    return f"{where}: {words(symbol.kind)} {words(symbol.name)}{inside}"
