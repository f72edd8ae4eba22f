"""``edit_file``: replace exact pieces of a text file, each of which occurs exactly once."""

from __future__ import annotations

from pydantic import Field

from countersign.gate import BadArguments, Effect, Outcome, Permit
from countersign.settings.policy import Policy
from countersign.tools.access import CannotSucceed, guarded
from countersign.tools.arguments import Arguments
from countersign.tools.editor.new_problems import with_new_problems
from countersign.tools.files.change import MOST_BYTES, blocking_before
from countersign.tools.files.diff_preview import preview
from countersign.tools.files.prepare_change import make_change, prepare_change
from countersign.tools.files.text import Replacing, decode, edited
from countersign.tools.files.write_file import NewContent, blocking_put
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind
from countersign.wire.verdicts import Category


class Edit(Arguments):
    old_text: str = Field(description="Text that occurs exactly once in the file, copied exactly.")
    new_text: str = Field(description="What stands there instead.")


class EditFileArguments(Arguments):
    path: str = Field(description="The file, relative to the workspace or absolute.")
    edits: list[Edit] = Field(min_length=1, description="Applied in order, each to what the one before left.")


class EditFile:
    """Edits a UTF-8 file; line ends and byte order mark stay as they are."""

    name = "edit_file"
    kind: ToolKind = "edit"
    category: Category = "write"
    description = (
        "Change parts of an existing text file. Each old_text must occur exactly once; add surrounding lines to make "
        "it unique. Line ends are kept, so write plain line feeds."
    )
    arguments = EditFileArguments

    def effects(self, arguments: EditFileArguments, policy: Policy) -> tuple[Effect, ...]:
        return _effects(locate(arguments.path, policy), policy)

    def prepare(self, arguments: EditFileArguments, policy: Policy) -> Prepared[NewContent | CannotSucceed]:
        place = locate(arguments.path, policy)
        effects = _effects(place, policy)
        count = len(arguments.edits)
        title = as_title(f"Edit {place.shown}" + (f" ({count} places)" if count > 1 else ""))

        def prepared(change: NewContent) -> Prepared[NewContent]:
            return Prepared(
                effects=effects,
                preview=preview(place, "edit", change.old_text, change.data.decode()),
                title=title,
                cwd=policy.workspace,
                bound=(change.before,),
                locations=(Location(path=place.resolved, line=_first_changed_line(change)),),
                payload=change,
            )

        return prepare_change(
            lambda: _edited_content(place, arguments.edits),
            prepared,
            arguments=arguments,
            policy=policy,
            places=(place,),
            effects=effects,
            title=title,
        )

    async def run(self, permit: Permit, prepared: Prepared[NewContent | CannotSucceed], bench: ToolContext) -> Outcome:
        if isinstance(prepared.payload, CannotSucceed):
            return await make_change(permit, prepared, blocking_put)
        return await with_new_problems(
            prepared.payload.place, bench, lambda: make_change(permit, prepared, blocking_put)
        )


def _effects(place: Place, policy: Policy) -> tuple[Effect, ...]:
    """An edit reads a guarded file as well: whether its old text occurs tells what the file holds."""
    return (*place.reads(), *place.writes("edit")) if guarded(place, policy) else place.writes("edit")


def _edited_content(place: Place, edits: list[Edit]) -> NewContent:
    before = blocking_before(place)
    if before.seen is None:
        raise BadArguments(f"`{place.shown}` does not exist; create it with write_file")
    if before.seen.data is None:
        raise BadArguments(f"`{place.shown}` is longer than {MOST_BYTES} bytes, too long to edit")
    old = decode(before.seen.data, place.shown)
    new = edited(old, [Replacing(edit.old_text, edit.new_text) for edit in edits])
    try:
        data = new.encode()
    except UnicodeEncodeError:
        raise BadArguments("new_text holds half a character (a lone surrogate) and cannot be written") from None
    if len(data) > MOST_BYTES:
        raise BadArguments(f"the file would become longer than {MOST_BYTES} bytes")
    return NewContent(place, before.state, old, data)


def _first_changed_line(change: NewContent) -> int:
    old, new = (change.old_text or "").splitlines(), change.data.decode().splitlines()
    for number, (before, after) in enumerate(zip(old, new, strict=False), start=1):
        if before != after:
            return number
    return min(len(old), len(new)) or 1
