"""``rename_symbol``: what the editor would change to rename a symbol, made by a call of ``edit_file`` for each file.

The call itself only reads. Each change of a file goes through the gate as an edit of its own, with its card, its
receipt and its undo; so what a rule or mode says of a file holds for its part of the rename.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from countersign.gate import BadArguments, Effect, Offer, Outcome, Permit, in_worker
from countersign.settings.policy import Policy
from countersign.tools.access import freely_read
from countersign.tools.editor.asking import NoAnswer, ask_editor
from countersign.tools.editor.find_references import Sought, SymbolAt
from countersign.tools.editor.rename_edits import as_replacements
from countersign.tools.editor.screened import words
from countersign.tools.files.change import blocking_before
from countersign.tools.files.text import decode
from countersign.tools.places import Place, inside_workspace, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind, ToolPreview
from countersign.wire.base import Json
from countersign.wire.editor import EditorFileEdits, EditorRenameParams, EditorRenameResult
from countersign.wire.verdicts import Category

MOST_FILES = 100
"""Files that one rename changes; each has an approval of its own."""
MOST_TEXT = 8 << 20
"""Characters of all the edits together."""
EDIT_TOOL = "edit_file"


class RenameSymbolArguments(SymbolAt):
    new_name: str = Field(min_length=1, max_length=200, description="Its new name.")


@dataclass(frozen=True, slots=True)
class Renaming:
    sought: Sought
    new_name: str


class RenameSymbol:
    """Counts as a read of the file that it names. All files can be edited, or nothing is offered."""

    name = "rename_symbol"
    kind: ToolKind = "search"
    category: Category = "read"
    description = (
        "Rename a symbol everywhere it is used, by the editor's language support; name a line in which it stands. "
        "Each file is then changed by an edit_file call that is made for you and decided like any other; the result "
        "says which were made."
    )
    arguments = RenameSymbolArguments

    def effects(self, arguments: RenameSymbolArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).reads()

    def prepare(self, arguments: RenameSymbolArguments, policy: Policy) -> Prepared[Renaming]:
        place = locate(arguments.path, policy)
        return Prepared(
            effects=place.reads(),
            preview=ToolPreview(input=arguments.model_dump()),
            title=as_title(f"Ask the editor to rename {arguments.name} to {arguments.new_name} from {place.shown}"),
            cwd=policy.workspace,
            locations=(Location(path=place.resolved, line=arguments.line),),
            payload=Renaming(Sought(place, arguments.line, arguments.name), arguments.new_name),
        )

    async def run(self, permit: Permit, prepared: Prepared[Renaming], bench: ToolContext) -> Outcome:
        spend(permit, prepared)
        sought, new_name = prepared.payload.sought, prepared.payload.new_name
        sought.place.same_or_stale()
        params = EditorRenameParams(path=sought.place.resolved, line=sought.line, name=sought.name, new_name=new_name)
        try:
            answer = await ask_editor(bench, "editor/rename", params, EditorRenameResult)
        except NoAnswer as error:
            return Outcome(False, str(error))
        if answer.reason is not None:
            return Outcome(False, f"the editor says: {words(answer.reason)}; nothing was changed")
        try:
            offers = await in_worker(_blocking_offers, answer, bench.policy(), sought.place)
        except BadArguments as unfit:
            return Outcome(False, f"{unfit}; nothing was changed")
        places = sum(len(file.edits) for file in answer.files)
        told = f"the editor would change {places} places in {len(offers)} files; each file is an edit of its own"
        return Outcome(True, told, record={"files": len(offers), "places": places}, offers=offers)


def _blocking_offers(answer: EditorRenameResult, policy: Policy, named: Place) -> tuple[Offer, ...]:
    """Return the edit of each file.

    Raises:
        BadArguments: there is nothing to change, or a file that may not or cannot be edited so.
    """
    if answer.left_out > 0 or len(answer.files) > MOST_FILES:
        raise BadArguments(
            f"the rename would change more than {MOST_FILES} files, or some that are no files of this machine"
        )
    if not answer.files:
        raise BadArguments("the editor would change nothing; its language support may not know the symbol")
    if len({file.path for file in answer.files}) < len(answer.files):
        raise BadArguments("the editor's answer names a file twice")
    if sum(len(edit.old_text) + len(edit.new_text) for file in answer.files for edit in file.edits) > MOST_TEXT:
        raise BadArguments("the changes are too long")
    # Language support may list files in any order; the cards come in the same order each time.
    files = sorted(answer.files, key=lambda file: file.path)
    return tuple(_blocking_offer(file, policy, named) for file in files)


def _blocking_offer(file: EditorFileEdits, policy: Policy, named: Place) -> Offer:
    if not file.path.startswith("/"):
        raise BadArguments("the editor's answer names a file without its whole path")
    place = locate(file.path, policy)
    if not inside_workspace(place.resolved, policy):
        raise BadArguments("the rename would change a file outside the workspace")
    if place.resolved != named.resolved and not freely_read(place, policy):
        raise BadArguments("the rename would change a file that is secret or held back by a rule")
    if file.dirty:
        raise BadArguments(f"`{place.shown}` has changes in the editor that are not saved; save it first")
    before = blocking_before(place)
    if before.seen is None or before.seen.data is None:
        raise BadArguments(f"`{place.shown}` is not there or too long to edit")
    pairs = as_replacements(decode(before.seen.data, place.shown), file.edits, place.shown)
    edits: list[Json] = [{"old_text": old, "new_text": new} for old, new in pairs]
    return Offer(EDIT_TOOL, {"path": place.resolved, "edits": edits}, "", wanted=True)
