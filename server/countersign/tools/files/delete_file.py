"""``delete_file``: delete one regular file."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace

from pydantic import Field

from countersign.gate import BadArguments, Effect, FileState, Outcome, Permit
from countersign.settings.policy import Policy
from countersign.tools.access import CannotSucceed
from countersign.tools.arguments import Arguments
from countersign.tools.files.change import blocking_before, blocking_delete
from countersign.tools.files.diff_preview import outcome_of_change, preview
from countersign.tools.files.prepare_change import make_change, prepare_change
from countersign.tools.files.safe_open import complaint
from countersign.tools.files.text import decode
from countersign.tools.places import Place, locate
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.visible import as_title
from countersign.wire.approvals import Location, ToolKind
from countersign.wire.verdicts import Category


@dataclass(frozen=True, slots=True)
class Deletion:
    """Which file goes; ``text`` is None for one that is binary or too long to show. ``mode`` is kept for undo."""

    place: Place
    before: FileState
    text: str | None
    mode: int


class DeleteFileArguments(Arguments):
    path: str = Field(description="The file, relative to the workspace or absolute. Not a folder, not a link.")


class DeleteFile:
    """Deletes a file, never a folder and never through a link."""

    name = "delete_file"
    kind: ToolKind = "delete"
    category: Category = "write"
    description = "Delete one file. Folders and links are refused."
    arguments = DeleteFileArguments

    def effects(self, arguments: DeleteFileArguments, policy: Policy) -> tuple[Effect, ...]:
        return locate(arguments.path, policy).writes("delete")

    def prepare(self, arguments: DeleteFileArguments, policy: Policy) -> Prepared[Deletion | CannotSucceed]:
        place = locate(arguments.path, policy)
        title = as_title(f"Delete {place.shown}")

        def prepared(deletion: Deletion) -> Prepared[Deletion]:
            return Prepared(
                effects=place.writes("delete"),
                preview=preview(place, "delete", deletion.text, ""),
                title=title,
                cwd=policy.workspace,
                bound=(deletion.before,),
                locations=(Location(path=place.resolved),),
                payload=deletion,
            )

        return prepare_change(
            lambda: _deletion(place),
            prepared,
            arguments=arguments,
            policy=policy,
            places=(place,),
            effects=place.writes("delete"),
            title=title,
        )

    async def run(self, permit: Permit, prepared: Prepared[Deletion | CannotSucceed], bench: ToolContext) -> Outcome:
        return await make_change(permit, prepared, _blocking_delete)


def _blocking_delete(deletion: Deletion) -> Outcome:
    place = deletion.place
    try:
        before = blocking_delete(place, deletion.before)
    except OSError as error:
        return Outcome(False, f"{complaint(error, place.shown)}; nothing was deleted", path=place.resolved)
    outcome = outcome_of_change(
        place,
        "delete",
        deletion.text,
        None,
        before=before,
        after=None,
        before_sha256=deletion.before.sha256,
    )
    return replace(outcome, record={**outcome.record, "mode": deletion.mode})


def _deletion(place: Place) -> Deletion:
    refuse_link(place)
    before = blocking_before(place)
    if before.seen is None:
        raise BadArguments(f"`{place.shown}` does not exist")
    mode = stat.S_IMODE(before.seen.status.st_mode)
    if before.seen.data is None:
        return Deletion(place, before.state, None, mode)
    try:
        text = decode(before.seen.data, place.shown)
    except BadArguments:
        text = None
    return Deletion(place, before.state, text, mode)


def refuse_link(place: Place) -> None:
    """Deleting or moving by a link's name could mean the link or what it leads to; neither is guessed.

    Raises:
        BadArguments: the last part of the asked path is a link.
    """
    if place.is_link():
        raise BadArguments(f"the path is a link to `{place.shown}`; name that file itself")
